"""Pinned buffers on the way to a GPU: the CPU fills one while the GPU empties another."""

import logging
from collections.abc import Sequence
from typing import Final

import torch

from weightrollout.plugin.transfer.streams import CopyStream, CudaStream

log = logging.getLogger(__name__)

#: Two, because one is filled while one is emptied; more would hide only a jitter of one fill.
SLOTS: Final = 2
#: The first fill and the last copy run alone: smaller is better, until calls cost more than copies.
SLOT_BYTES: Final = 128 << 20
#: Views of other dtypes begin at multiples of this, and lines of the cache are not shared.
ALIGNMENT: Final = 64


class Ring:
    """Made once per process and device, because pinning takes long (1 to 2 GB/s are reported); used by
    one transfer at a time, by any number one after the other.
    """

    def __init__(self, buffers: Sequence[torch.Tensor], stream: CopyStream) -> None:
        """buffers: uint8, one-dimensional, on the CPU, of one size that is a multiple of 64."""
        sizes = {int(buffer.numel()) for buffer in buffers}
        if len(sizes) != 1 or 0 in sizes or any(size % ALIGNMENT for size in sizes):
            raise ValueError(
                f"buffers of {sorted(sizes)} bytes: one size, a multiple of {ALIGNMENT}"
            )
        self.buffers = tuple(buffers)
        self.stream = stream

    @classmethod
    def pinned(
        cls, device: torch.device, *, slots: int = SLOTS, slot_bytes: int = SLOT_BYTES
    ) -> "Ring | None":
        """A ring for a CUDA device; None, with a warning in the log, where memory can't be pinned."""
        try:
            buffers = [
                torch.empty(slot_bytes, dtype=torch.uint8, pin_memory=True) for _ in range(slots)
            ]
        except RuntimeError as error:
            log.warning("no pinned memory (%d x %d bytes): %s", slots, slot_bytes, error)
            return None
        return cls(buffers, CudaStream(device, slots))

    @property
    def device(self) -> torch.device:
        return self.stream.device

    @property
    def slot_bytes(self) -> int:
        return int(self.buffers[0].numel())
