"""Between CPU and device: nothing is overwritten too early, nothing still runs when `run` ends."""

import logging

import pytest

pytest.importorskip("torch", reason="needs torch: make test-transfer")

import torch

from transfercore.lazystream import LazyStream
from weightrollout.plugin.transfer import Pair, Ring, Transfer, TransferFailed
from weightrollout.plugin.transfer.streams import Copies


def ring(stream: LazyStream, *, slots: int = 2, slot_bytes: int = 128) -> Ring:
    return Ring([torch.zeros(slot_bytes, dtype=torch.uint8) for _ in range(slots)], stream)


def test_a_device_that_copies_as_late_as_it_may_gets_every_byte() -> None:
    live, staged = torch.zeros(1000, dtype=torch.uint8), torch.arange(1000).to(torch.uint8)
    stream = LazyStream()
    transfer = Transfer.prepare([Pair(live, staged)], ring=ring(stream))
    transfer.run()
    transfer.close()
    assert torch.equal(live, staged)
    assert stream.drained == 1


def test_one_ring_serves_main_and_draft_one_after_the_other() -> None:
    shared = ring(LazyStream())
    main, draft = torch.zeros(300), torch.zeros(7, 9)
    transfers = [
        Transfer.prepare([Pair(main, torch.full((300,), 3.0))], ring=shared),
        Transfer.prepare([Pair(draft, torch.full((9, 7), 4.0).t())], ring=shared),
    ]
    for _ in range(2):
        for transfer in transfers:
            transfer.run()
    for transfer in transfers:
        transfer.close()
    assert bool((main == 3).all())
    assert bool((draft == 4).all())


def test_one_element_of_a_strided_tensor_passes_as_bytes() -> None:
    """Torch calls it contiguous and yet refuses to look at its bytes."""
    live = torch.zeros(2, 3)
    transfer = Transfer.prepare([Pair(live[1:, ::3], torch.ones(1, 1))], ring=ring(LazyStream()))
    transfer.run()
    transfer.close()
    assert live.tolist() == [[0, 0, 0], [1, 0, 0]]


class Breaks(LazyStream):
    """A device that reports an error at the third buffer, or only at the end."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at
        self.sent = 0

    def send(self, copies: Copies, slot: int) -> None:
        self.sent += 1
        if self.at == "send" and self.sent == 3:
            raise RuntimeError("device error")
        super().send(copies, slot)

    def drain(self) -> None:
        super().drain()
        if self.at == "drain":
            raise RuntimeError("device error")


@pytest.mark.parametrize("at", ["send", "drain"])
def test_after_a_failure_nothing_is_still_on_its_way(at: str) -> None:
    live, stream = torch.zeros(1000, dtype=torch.uint8), Breaks(at)
    transfer = Transfer.prepare([Pair(live, torch.ones_like(live))], ring=ring(stream))
    with pytest.raises(TransferFailed, match="RuntimeError: device error"):
        transfer.run()
    assert stream.drained == 1
    stream.at = "never"
    transfer.run()
    transfer.close()
    assert bool((live == 1).all())


def test_casts_need_no_more_of_the_device_than_a_buffer() -> None:
    live = torch.zeros(64, 64, dtype=torch.float64)
    stream = LazyStream()
    sizes: list[int] = []

    class Measured(LazyStream):
        def send(self, copies: Copies, slot: int) -> None:
            sizes.extend(source.numel() * source.element_size() for _, source in copies)
            super().send(copies, slot)

    stream = Measured()
    staged = torch.randn(64, 64)
    transfer = Transfer.prepare([Pair(live, staged)], ring=ring(stream, slot_bytes=1024))
    transfer.run()
    transfer.close()
    assert torch.equal(live, staged.double())
    assert max(sizes) <= 1024


@pytest.mark.skipif(torch.cuda.is_available(), reason="memory can be pinned here")
def test_where_nothing_can_be_pinned_there_is_no_ring_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert Ring.pinned(torch.device("cuda", 0), slot_bytes=64) is None
    assert "no pinned memory (2 x 64 bytes)" in caplog.text


@pytest.mark.parametrize("sizes", [[], [0], [100], [64, 128]])
def test_buffers_that_cannot_work_are_refused(sizes: list[int]) -> None:
    buffers = [torch.zeros(size, dtype=torch.uint8) for size in sizes]
    with pytest.raises(ValueError, match="one size, a multiple of 64"):
        Ring(buffers, LazyStream())
