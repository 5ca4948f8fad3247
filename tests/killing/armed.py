"""The folder that says where the next process dies: one file of points, shared by all processes of a lane.

A point is struck once: whoever comes by first under the folder's lock dies, and the process that is
started in its place finds the next point, or none.
"""

import fcntl
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

VARIABLE: Final = "KILLING_FOLDER"
_ARMED: Final = "armed"
_STRUCK: Final = "struck-"
_LOCK: Final = "lock"


class Armed:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls) -> "Armed":
        return cls(Path(os.environ[VARIABLE]))

    # -- in the process that may die ------------------------------------------------------

    def strike(self, point: str) -> None:
        """End this process now if `point` is the next one; the rest stays armed for the others."""
        if self._next() != [point]:
            return
        with (self._folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # until this process is dead
            if self._next() != [point]:
                return  # another process was first
            armed = self._folder / _ARMED
            later = armed.read_text().splitlines()[1:]
            armed.rename(self._folder / f"{_STRUCK}{len(self.struck())}")
            self._write(later)
            os.kill(os.getpid(), signal.SIGKILL)

    def _next(self) -> list[str]:
        """The point where somebody dies next; empty: nowhere."""
        try:
            return (self._folder / _ARMED).read_text().splitlines()[:1]
        except FileNotFoundError:
            return []

    # -- in the harness -------------------------------------------------------------------

    def arm(self, points: Sequence[str]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self.struck():
            old.unlink()
        self._write(points)

    def disarm(self) -> None:
        (self._folder / _ARMED).unlink(missing_ok=True)

    def struck(self) -> list[Path]:
        """One file for each process that died here, the oldest first; written when it was armed."""
        return sorted(self._folder.glob(f"{_STRUCK}*"))

    def _write(self, points: Sequence[str]) -> None:
        if not points:
            return
        temporary = self._folder / f".{os.getpid()}"
        temporary.write_text("\n".join(points))
        temporary.rename(self._folder / _ARMED)
