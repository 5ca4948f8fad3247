"""The folder that says where the next process dies: one file of points, shared by all processes of a lane.

A point is struck once: whoever takes the file away first dies, and the process that is started in
its place finds the next point, or none.
"""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final

VARIABLE: Final = "KILLING_FOLDER"
_ARMED: Final = "armed"
_STRUCK: Final = "struck-"


class Armed:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_environment(cls) -> "Armed":
        return cls(Path(os.environ[VARIABLE]))

    # -- in the process that may die ------------------------------------------------------

    def strike(self, point: str) -> None:
        """End this process now if `point` is the next one; the rest stays armed for the others."""
        try:
            waiting = (self._folder / _ARMED).read_text().splitlines()
        except FileNotFoundError:
            return
        if waiting[:1] != [point]:
            return
        mine = self._folder / f"{_STRUCK}{len(self.struck())}"
        try:
            (self._folder / _ARMED).rename(mine)
        except FileNotFoundError:
            return  # another process was first
        self._write(waiting[1:])
        os.kill(os.getpid(), signal.SIGKILL)

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
