"""Make something slow once, for all processes of this machine: one makes it, says that it lives, the others wait."""

from __future__ import annotations

import fcntl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PROGRESS_S: Final = 15.0

Say = Callable[[str], None]


@contextmanager
def locked(path: Path, say: Say, doing: str) -> Iterator[None]:
    """Alone with what `path` stands for. `doing`: what another process is at, such as "building"."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process is {doing}, waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def progress(started: float, say: Say, doing: str) -> Iterator[None]:
    """Say now and then that it goes on. `started`: monotonic seconds."""
    over = threading.Event()

    def tell() -> None:
        while not over.wait(PROGRESS_S):
            say(f"still {doing}, {time.monotonic() - started:.0f} s")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
