"""A live tensor that moved after the addresses were taken is seen, in every way it can move."""

import ctypes
from collections.abc import Callable

import pytest

pytest.importorskip("torch", reason="needs torch: make test-transfer")

import torch

from weightrollout.plugin.transfer import Pair, TargetMoved, Transfer


def reassigned(live: torch.Tensor) -> None:
    live.data = torch.zeros(4, 6)


def same_memory_other_strides(live: torch.Tensor) -> None:
    live.as_strided_((4, 6), (1, 4))


def same_memory_other_shape(live: torch.Tensor) -> None:
    live.data = live.data.view(6, 4)


def same_memory_other_dtype(live: torch.Tensor) -> None:
    live.data = live.data.view(torch.int32)


def same_storage_other_offset(live: torch.Tensor) -> None:
    live.data = live.data.view(-1)[6:].view(3, 6)


def grown(live: torch.Tensor) -> None:
    live.resize_(400, 6)


def storage_freed(live: torch.Tensor) -> None:
    live.untyped_storage().resize_(0)


def storage_replaced(live: torch.Tensor) -> None:
    live.set_(torch.zeros(4, 6))


def another_storage_at_the_same_address(live: torch.Tensor) -> None:
    """As an allocator does that gives a freed address out again."""
    memory = (ctypes.c_char * live.untyped_storage().nbytes()).from_address(live.data_ptr())
    live.set_(torch.frombuffer(memory, dtype=live.dtype).view(4, 6))


MOVES = [
    reassigned,
    same_memory_other_strides,
    same_memory_other_shape,
    same_memory_other_dtype,
    same_storage_other_offset,
    grown,
    storage_freed,
    storage_replaced,
    another_storage_at_the_same_address,
]


@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__)
def test_every_way_to_move_is_seen_and_nothing_is_written(
    move: Callable[[torch.Tensor], None],
) -> None:
    stays, live = torch.zeros(5), torch.zeros(4, 6)
    pairs = [Pair(stays, torch.ones(5)), Pair(live, torch.ones(4, 6), name="q_proj.weight")]
    transfer = Transfer.prepare(pairs)
    assert transfer.moved() is None
    move(live)
    why = transfer.moved()
    assert why is not None
    assert why.startswith("q_proj.weight: ")
    with pytest.raises(TargetMoved, match=r"q_proj\.weight"):
        transfer.run()
    transfer.close()
    assert stays.tolist() == [0] * 5


def test_the_message_says_what_was_and_what_is() -> None:
    live = torch.zeros(4, 6)
    transfer = Transfer.prepare([Pair(live, torch.ones(4, 6), name="norm")])
    same_memory_other_strides(live)
    assert transfer.moved() == "norm: stride was (6, 1) and is (1, 4)"
    transfer.close()


def test_a_part_is_seen_to_move_with_the_tensor_it_was_cut_out_of() -> None:
    live = torch.nn.Parameter(torch.zeros(4, 6), requires_grad=False)
    transfer = Transfer.prepare([Pair(live[:2], torch.ones(2, 6))])
    reassigned(live)
    assert transfer.moved() is not None
    transfer.close()


def test_a_part_of_data_is_seen_to_move_with_its_owner() -> None:
    live = torch.nn.Parameter(torch.zeros(4, 6), requires_grad=False)
    transfer = Transfer.prepare([Pair(live.data[:2], torch.ones(2, 6), owner=live)])
    reassigned(live)
    assert transfer.moved() is not None
    transfer.close()


def test_a_whole_module_that_was_cast_is_seen() -> None:
    layer = torch.nn.Linear(3, 3)
    transfer = Transfer.prepare([Pair(each, torch.ones_like(each)) for each in layer.parameters()])
    layer.to(torch.float64)
    assert transfer.moved() is not None
    transfer.close()


def test_writing_in_place_is_no_move() -> None:
    live = torch.zeros(4, 6)
    transfer = Transfer.prepare([Pair(live[1:3], torch.ones(2, 6))])
    live.fill_(7)
    transfer.run()
    assert transfer.moved() is None
    transfer.close()
