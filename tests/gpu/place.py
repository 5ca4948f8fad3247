"""What the check asks of a device: all of it that a CPU lacks, so the rest is tested on one."""

from typing import Protocol

import torch

from weightrollout.plugin.transfer import Ring


class Place(Protocol):
    name: str
    device: torch.device

    def ring(self, slots: int, slot_bytes: int) -> Ring | None:
        """None when memory cannot be pinned."""

    def pinned(self, nbytes: int) -> torch.Tensor:
        """Ones in memory that the device reads without the CPU's help."""

    def wait(self) -> None:
        """Return when the device has done all it was asked to do."""


class Cuda:
    """The current CUDA device."""

    def __init__(self) -> None:
        self.device = torch.device("cuda", torch.cuda.current_device())
        self.name = str(torch.cuda.get_device_name(self.device))

    def ring(self, slots: int, slot_bytes: int) -> Ring | None:
        return Ring.pinned(self.device, slots=slots, slot_bytes=slot_bytes)

    def pinned(self, nbytes: int) -> torch.Tensor:
        ones: torch.Tensor = torch.ones(nbytes, dtype=torch.uint8).pin_memory()
        return ones

    def wait(self) -> None:
        torch.cuda.synchronize(self.device)
