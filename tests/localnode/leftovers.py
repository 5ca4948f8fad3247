"""What a run that was killed, with its guard, has left on this machine: found by name, ended and removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from localnode import cgroups

PREFIX: Final = "localnode-run-"
LOCK: Final = "lock"


def claim(folder: Path) -> int:
    """Hold the folder for as long as this process lives; the file number that does."""
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def is_claimed(folder: Path) -> bool:
    """Whether somebody who lives holds it."""
    try:
        os.close(claim(folder))
    except BlockingIOError:
        return True
    except OSError:  # never claimed, or gone
        return False
    return False


def sweep(say: Callable[[str], None]) -> None:
    """End and remove nodes without an owner; call it while no other process makes one."""
    temporary = Path(tempfile.gettempdir())
    names = {path.name for path in cgroups.found(f"{PREFIX}*")}
    names |= {path.name for path in temporary.glob(f"{PREFIX}*")}
    for name in sorted(names):
        if not is_claimed(temporary / name):
            say(f"removing what is left of {name}")
            cgroups.end(name)
            shutil.rmtree(temporary / name, ignore_errors=True)
