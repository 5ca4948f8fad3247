"""The operator behind its own entry point, with what a test does to it; production code knows nothing of this.

`FREEZE` names a file: when it says an action ("Reserve"), the process stops itself (SIGSTOP) in that action at
its worst instant: the guard has just said "you lead", and nothing is sent yet. The file is removed first, so that
its absence says "frozen". With `DEAF` set it does not notice, thawed, that its time as a leader is over.
`WALL_SHIFT_S` moves its time of day.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Final

from weightrollout.clock import SystemClock
from weightrollout.controller.leader import Guard
from weightrollout.controller.main import main
from weightrollout.kube.lease import Elector

FREEZE: Final = "WRAPPED_FREEZE"
DEAF: Final = "WRAPPED_DEAF"
WALL_SHIFT_S: Final = "WRAPPED_WALL_SHIFT_S"


def _freezing(file: Path, deaf: bool) -> None:
    allowed = Guard.__call__
    go_deaf = _may_go_deaf() if deaf else None

    def guarded(guard: Guard) -> None:
        allowed(guard)
        task = asyncio.current_task()
        doing = task.get_name().partition(" ")[0] if task is not None else ""
        if not doing or _said(file) != doing:
            return
        if go_deaf is not None:
            go_deaf()
        file.unlink()
        os.kill(os.getpid(), signal.SIGSTOP)

    _replace(Guard, "__call__", guarded)


def _said(file: Path) -> str:
    try:
        return file.read_text()
    except FileNotFoundError:
        return ""


def _may_go_deaf() -> Callable[[], None]:
    """From its call on it leads for ever, as with a broken clock: only the epochs are left to stop it.

    Replaced before the first term begins: the timer that ends one keeps the method it was given.
    """
    deaf = Event()
    leads, fence = Elector.leading.__get__, Elector.fence

    def fenced(elector: Elector, why: str) -> None:
        if not deaf.is_set():
            fence(elector, why)

    _replace(Elector, "leading", property(lambda elector: deaf.is_set() or leads(elector)))
    _replace(Elector, "fence", fenced)
    return deaf.set


def _shift_wall(seconds: float) -> None:
    wall: Callable[[SystemClock], datetime] = SystemClock.wall
    _replace(SystemClock, "wall", lambda clock: wall(clock) + timedelta(seconds=seconds))


def _replace(kind: type, name: str, by: object) -> None:
    setattr(kind, name, by)


def run() -> int:
    if file := os.environ.get(FREEZE):
        _freezing(Path(file), DEAF in os.environ)
    if shift := os.environ.get(WALL_SHIFT_S):
        _shift_wall(float(shift))
    return main()


if __name__ == "__main__":
    sys.exit(run())
