"""A device's queue that does nothing until it must: what a fast CPU and a slow device make of it.

A buffer that is filled again before its copies were waited for shows as wrong bytes, each time.
"""

import torch

from weightrollout.plugin.transfer.streams import Copies


class LazyStream:
    """Made of the same promises as CudaStream, for tensors on the CPU."""

    device = torch.device("cpu")

    def __init__(self) -> None:
        self._queue: list[tuple[int, Copies]] = []
        self.drained = 0

    def begin(self) -> None:
        pass

    def send(self, copies: Copies, slot: int) -> None:
        self._queue.append((slot, copies))

    def wait(self, slot: int) -> None:
        while any(queued == slot for queued, _ in self._queue):
            self._do_one()

    def drain(self) -> None:
        self.drained += 1
        while self._queue:
            self._do_one()

    def _do_one(self) -> None:
        _, copies = self._queue.pop(0)
        for target, source in copies:
            target.copy_(source)
