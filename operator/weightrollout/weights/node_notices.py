"""Why a node's volume is of no use to a pod, and how long one waits for another. Each is said, and the pod reads alone."""

import errno
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

_NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Why(StrEnum):
    """Stable: a label of the metric."""

    UNUSABLE = "NodeVolumeUnusable"  # not ours alone, cannot be written or locked
    FULL = "NodeVolumeFull"
    STALLED = "NodeVolumeStalled"  # the pod that reads the source does not come on
    SPOILT = "NodeVolumeSpoilt"  # other bytes than the digest names


class Notice(Exception):
    """Why this pod reads the source by itself."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(f"{why}: {message}")
        self.why = why
        self.message = message


@dataclass(frozen=True, slots=True)
class Waiting:
    """For the pod that reads the source."""

    stalled_s: float = 60.0  # without a new byte; a source's own retries are at most 30 s apart
    most_s: float = 3600.0  # in all
    tick_s: float = 0.1


WAITING: Final = Waiting()


class Wait:
    """For a pod that reads the source, by how many bytes have come. Raises Notice when it does not come on."""

    def __init__(self, waiting: Waiting, clock: Callable[[], float] = time.monotonic) -> None:
        self._waiting = waiting
        self._clock = clock
        self._begun = self._moved = clock()
        self._came = -1

    def begin_again(self) -> None:
        """For another pod; the time in all goes on."""
        self._came = -1

    def look(self, came: int) -> None:
        now = self._clock()
        if came != self._came:
            self._came, self._moved = came, now
        if now - self._moved > self._waiting.stalled_s:
            raise Notice(
                Why.STALLED,
                f"the pod of this node that reads these weights came to {came} bytes and has stood still"
                f" for {self._waiting.stalled_s:g} s",
            )
        if now - self._begun > self._waiting.most_s:
            raise Notice(
                Why.STALLED,
                f"the pod of this node that reads these weights has {came} bytes after"
                f" {self._waiting.most_s:g} s",
            )


@contextmanager
def volume_failures(path: Path) -> Iterator[None]:
    """Say what an OSError of this volume is. What is read from a source must not fail within."""
    try:
        yield
    except OSError as error:
        what = f"{error.filename or path}: {error.strerror or error}"
        raise Notice(Why.FULL if error.errno in _NO_SPACE else Why.UNUSABLE, what) from error
