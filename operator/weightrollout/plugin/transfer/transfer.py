"""One prepared exchange: everything slow before the pause, only copies in it."""

from collections.abc import Sequence
from typing import Protocol

import torch

from weightrollout.plugin.transfer.cores import threads_by_default
from weightrollout.plugin.transfer.crew import Crew
from weightrollout.plugin.transfer.device import PageableCopies, RingCopies
from weightrollout.plugin.transfer.errors import TargetMoved, TransferFailed
from weightrollout.plugin.transfer.guard import Guard
from weightrollout.plugin.transfer.host import HostCopies
from weightrollout.plugin.transfer.pair import Pair, Task, checked
from weightrollout.plugin.transfer.ring import Ring


class _Copies(Protocol):
    def run(self, crew: Crew) -> None: ...


class Transfer:
    """Fills the targets of its pairs with their sources, as often as `run` is called.

    Holds the memory of targets and sources, and its threads, until it is closed or forgotten. Used by
    one thread at a time; `prepare` and `run` may be called by different ones.
    """

    def __init__(
        self, tasks: Sequence[Task], guard: Guard, stages: Sequence[_Copies], crew: Crew
    ) -> None:
        # Copies know addresses only: what lies there has to be kept alive.
        self._tasks = tuple(tasks)
        self._guard = guard
        self._stages = tuple(stages)
        self._crew = crew

    @classmethod
    def prepare(
        cls,
        pairs: Sequence[Pair],
        *,
        threads: int | None = None,
        ring: Ring | None = None,
        streaming: bool = True,
    ) -> "Transfer":
        """Outside the pause: takes addresses, starts threads, may pin memory. Writes to no target.

        threads: how many copy, the caller of `run` included; None: by the cores there are, at most 4.
        ring: for pairs whose target is on its device. None: where targets are on a CUDA device, one is
            made and lives as long as this transfer; pass one that is kept and save the pinning.
        streaming: past the cache where that can be done here; False: memmove.

        Raises PairRefused when a pair can't be copied or a byte would be written twice.
        """
        # vLLM's parameters are of subclasses that intercept every function of torch.
        with torch._C.DisableTorchFunctionSubclass():
            tasks = checked(pairs)
            guard = Guard(pairs)
            stages = _stages(tasks, ring, streaming=streaming)
        return cls(tasks, guard, stages, Crew(threads_by_default() if threads is None else threads))

    @property
    def nbytes(self) -> int:
        """Of all sources together."""
        return sum(task.nbytes for task in self._tasks)

    @property
    def threads(self) -> int:
        return self._crew.threads

    def moved(self) -> str | None:
        """None while every live tensor is where it was at `prepare`; else which one, and how."""
        return self._guard.moved()

    def run(self) -> None:
        """In the pause: write every element, and return when the device has written it, too.

        A second run after a failed one makes up for it. Allocates nothing, holds no GIL in its copies.
        Raises TargetMoved (nothing was written) or TransferFailed (some bytes were).
        """
        moved = self.moved()
        if moved is not None:
            raise TargetMoved(moved)
        try:
            # Engines make their weights in inference mode; such tensors are written in it only.
            with torch.inference_mode():
                for stage in self._stages:
                    stage.run(self._crew)
        except Exception as error:
            raise TransferFailed(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """End the threads. Nothing can be run any more."""
        self._crew.close()


def _stages(tasks: Sequence[Task], ring: Ring | None, *, streaming: bool) -> list[_Copies]:
    gpu = next((task.target.device for task in tasks if task.target.is_cuda), None)
    if ring is None and gpu is not None:
        ring = Ring.pinned(gpu)
    by_device: dict[torch.device, list[Task]] = {}
    for task in tasks:
        by_device.setdefault(task.target.device, []).append(task)
    return [_copies(each, ring, streaming=streaming) for each in by_device.values()]


def _copies(tasks: Sequence[Task], ring: Ring | None, *, streaming: bool) -> _Copies:
    """For tasks on one device."""
    target = tasks[0].target
    if ring is not None and target.device == ring.device:
        return RingCopies(tasks, ring, streaming=streaming)
    if target.is_cuda:
        return PageableCopies(tasks)
    return HostCopies(tasks, streaming=streaming)
