"""Places at which a process stops and waits, so that somebody can be killed just there. Standard library only.

One folder is shared by the test, the agent and the engine. The test arms one point; the process that comes by first stops there
until the test lets it go on, or kills it.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Final

VARIABLE: Final = "REALVLLM_HALTS"
_ARMED: Final = "armed"
_REACHED: Final = "reached"
_LOOK_S: Final = 0.01


class Halts:
    def __init__(self, folder: Path) -> None:
        self._armed = folder / _ARMED
        self._reached = folder / _REACHED

    @classmethod
    def from_environment(cls) -> Halts | None:
        """None: this process never stops."""
        folder = os.environ.get(VARIABLE, "")
        return cls(Path(folder)) if folder else None

    # -- in the process that stops ----------------------------------------------------------

    def stop(self, point: str) -> None:
        """Blocks while the test wants it."""
        if self._is_mine(point):
            while self._reached.exists():
                time.sleep(_LOOK_S)

    async def stop_here(self, point: str) -> None:
        """The same; everything else in this process goes on."""
        if self._is_mine(point):
            while self._reached.exists():  # noqa: ASYNC110 - another process takes it away
                await asyncio.sleep(_LOOK_S)

    def passes(self, point: str) -> bool:
        """Whether the test wants something to happen here, once. Nobody stops."""
        mine = self._is_mine(point)
        if mine:
            self._reached.unlink(missing_ok=True)
        return mine

    def _is_mine(self, point: str) -> bool:
        try:
            if self._armed.read_text() != point:
                return False
            self._armed.rename(self._reached)
        except FileNotFoundError:  # nothing is armed, or another process came first
            return False
        return True

    # -- in the test ------------------------------------------------------------------------

    def arm(self, point: str) -> None:
        """Whoever stopped at the one before goes on."""
        self._armed.parent.mkdir(parents=True, exist_ok=True)
        new = self._armed.with_name("new")
        new.write_text(point)
        new.rename(self._armed)
        self._reached.unlink(missing_ok=True)

    def is_armed(self) -> bool:
        """Nobody has come by yet."""
        return self._armed.exists()

    def is_reached(self) -> bool:
        return self._reached.exists()

    def go_on(self) -> None:
        """Whoever stopped goes on, and nobody stops from here on."""
        self._armed.unlink(missing_ok=True)
        self._reached.unlink(missing_ok=True)
