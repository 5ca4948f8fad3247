"""memcpy of a staged image, pinned as an engine's worker and its helpers are: the least that a copy takes."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

#: As `Transfer` does by default (`plugin.transfer.cores.threads_by_default`).
MOST_THREADS: Final = 4
_PAGE: Final = 4096


def threads() -> int:
    """As many as copy in a pause on this machine."""
    return min(MOST_THREADS, len(os.sched_getaffinity(0)))


class Floor:
    """`image`, mapped and read once, and as much memory that was written once."""

    def __init__(self, image: Path) -> None:
        with image.open("rb") as file:
            self.nbytes = os.fstat(file.fileno()).st_size
            self._source = mmap.mmap(file.fileno(), self.nbytes, access=mmap.ACCESS_COPY)
        self._target = mmap.mmap(-1, self.nbytes)
        self._from = _address(self._source)
        self._to = _address(self._target)
        self._copy(0, self.nbytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._source.close()
        self._target.close()

    def milliseconds(self, count: int) -> float:
        """Of `count` threads, one core each, that copy a part each.

        Copied once before, unmeasured: beside large engines the kernel takes pages back between two
        rounds, and a pause, too, finds its image mapped and read.
        """
        self._copy(0, self.nbytes)
        cores = sorted(os.sched_getaffinity(0))
        bounds = [self.nbytes * index // count // _PAGE * _PAGE for index in range(count)]
        bounds.append(self.nbytes)
        ready, taken = threading.Barrier(count), list[tuple[float, float]]()
        crew = [
            threading.Thread(
                target=self._part,
                args=(cores[index % len(cores)], bounds[index : index + 2], ready, taken),
            )
            for index in range(count)
        ]
        for each in crew:
            each.start()
        for each in crew:
            each.join()
        return 1000 * (max(end for _, end in taken) - min(begin for begin, _ in taken))

    def _part(
        self,
        core: int,
        bounds: Sequence[int],
        ready: threading.Barrier,
        taken: list[tuple[float, float]],
    ) -> None:
        os.sched_setaffinity(0, {core})
        ready.wait()
        begun = time.monotonic()
        self._copy(*bounds)
        taken.append((begun, time.monotonic()))

    def _copy(self, begin: int, end: int) -> None:
        ctypes.memmove(self._to + begin, self._from + begin, end - begin)


def _address(memory: mmap.mmap) -> int:
    # The view is gone when this returns, or the map could not be closed.
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
