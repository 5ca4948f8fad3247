"""The device's queue of copies, as far as a ring needs it."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import torch

#: (target, source), of one shape; both stay alive until the copy was made
Copies: TypeAlias = Sequence[tuple[torch.Tensor, torch.Tensor]]


class CopyStream(Protocol):
    """A queue whose copies are made in order, later. One thread uses it at a time."""

    device: torch.device

    def begin(self) -> None:
        """What is sent from now on comes after all that the device was asked to do before."""

    def send(self, copies: Copies, slot: int) -> None:
        """Queue copies that read the buffer `slot`. Returns before they are made."""

    def wait(self, slot: int) -> None:
        """Return when all that was sent for `slot` is done and the buffer may be overwritten."""

    def drain(self) -> None:
        """Return when all that was sent is done; raises what the device has to complain about."""


class CudaStream:
    """A CUDA stream of its own: the engine's are not touched."""

    def __init__(self, device: torch.device, slots: int) -> None:
        self._stream = torch.cuda.Stream(device)
        self.device = self._stream.device  # with its index, as tensors name it
        self._events = [torch.cuda.Event() for _ in range(slots)]

    def begin(self) -> None:
        self._stream.wait_stream(torch.cuda.current_stream(self.device))

    def send(self, copies: Copies, slot: int) -> None:
        with torch.cuda.stream(self._stream):
            for target, source in copies:
                target.copy_(source, non_blocking=True)
            self._events[slot].record(self._stream)

    def wait(self, slot: int) -> None:
        self._events[slot].synchronize()  # at once when it was never recorded

    def drain(self) -> None:
        self._stream.synchronize()
