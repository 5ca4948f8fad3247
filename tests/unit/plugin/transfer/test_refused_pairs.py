"""What cannot be copied, or would be written twice, is refused before the pause, by name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs torch: make test-transfer")

import torch

from weightrollout.plugin.transfer import Pair, PairRefused, Transfer
from weightrollout.plugin.transfer.overlap import overlapping


def refused(*pairs: Pair) -> str:
    with pytest.raises(PairRefused) as caught:
        Transfer.prepare(pairs)
    return str(caught.value)


def test_shapes_that_torch_would_broadcast() -> None:
    why = refused(Pair(torch.zeros(4, 3), torch.ones(3), name="layers.0.bias"))
    assert why == "layers.0.bias: target (4, 3), source (3,): shapes must agree"


def test_a_live_tensor_that_is_parked_on_meta() -> None:
    assert "the target is on meta" in refused(Pair(torch.empty(3, device="meta"), torch.ones(3)))


def test_a_source_without_bytes() -> None:
    assert "the source is on meta" in refused(Pair(torch.zeros(3), torch.empty(3, device="meta")))


def test_a_sparse_tensor() -> None:
    assert "only strided" in refused(Pair(torch.zeros(3).to_sparse(), torch.ones(3)))


def test_an_expanded_target_which_is_one_element_many_times() -> None:
    why = refused(Pair(torch.zeros(1).expand(4), torch.ones(4)))
    assert why == "pair 0: some bytes would be written twice"


def test_two_targets_that_share_one_element() -> None:
    live = torch.zeros(8)
    why = refused(Pair(live[:5], torch.ones(5), name="q"), Pair(live[4:], torch.ones(4), name="k"))
    assert why == "q, k: some bytes would be written twice"


def test_a_source_in_the_memory_of_a_target() -> None:
    live = torch.zeros(8)
    why = refused(Pair(live[:4], live[2:6], name="q"))
    assert why == "q, q: a source lies in the memory of a target"


def test_an_empty_tensor_shares_nothing_with_anyone() -> None:
    live = torch.zeros(8)
    transfer = Transfer.prepare([Pair(live, torch.ones(8)), Pair(live[3:3], torch.ones(0))])
    transfer.run()
    transfer.close()
    assert live.tolist() == [1] * 8


def test_columns_that_interleave_and_share_nothing_are_taken() -> None:
    live = torch.zeros(6, 8)
    pairs = [Pair(live[:, :3], torch.ones(6, 3)), Pair(live[:, 3:], torch.full((6, 5), 2.0))]
    transfer = Transfer.prepare(pairs)
    transfer.run()
    transfer.close()
    assert live.tolist() == [[1] * 3 + [2] * 5] * 6


@st.composite
def views(draw: st.DrawFn) -> list[tuple[torch.dtype, tuple[int, ...], tuple[int, ...], int]]:
    """Views of 64 bytes of memory: (dtype, sizes, strides, offset in elements)."""
    listed = []
    for _ in range(draw(st.integers(1, 4))):
        dtype = draw(st.sampled_from([torch.uint8, torch.int16, torch.int32]))
        room = 64 // dtype.itemsize
        sizes = tuple(draw(st.lists(st.integers(1, 4), max_size=3)))
        strides = tuple(draw(st.integers(0, 9)) for _ in sizes)
        extent = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) + 1
        if extent <= room:
            listed.append((dtype, sizes, strides, draw(st.integers(0, room - extent))))
    return listed


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(views())
def test_overlap_is_exact(
    listed: list[tuple[torch.dtype, tuple[int, ...], tuple[int, ...], int]],
) -> None:
    memory = torch.zeros(64, dtype=torch.uint8)
    tensors = [memory.view(dtype).as_strided(*place) for dtype, *place in listed]
    addresses = [
        int(each[index].data_ptr()) + byte
        for each in tensors
        for index in _indices(tuple(each.shape))
        for byte in range(each.element_size())
    ]
    found = overlapping([(str(number), each) for number, each in enumerate(tensors)])
    assert (found is not None) == (len(set(addresses)) < len(addresses))


def _indices(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    if not sizes:
        return [()]
    return [(first, *rest) for first in range(sizes[0]) for rest in _indices(sizes[1:])]
