"""End every process that carries a mark in its environment, and keep watch until the one we guard is gone.

Without cgroups this mark is how a container's processes are found, also those that left their process group.
Run as a program (``python -I guard.py MARK [FOLDER...]``) it waits until its standard input closes, which happens when the
guarded process ends in any way, then ends everything that carries the mark and removes the folders. Standard library only.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path

# A process may fork between our look and our kill; each round halves what can be left.
SWEEP_ROUNDS = 20


def marked(*marks: str) -> list[int]:
    """Process ids, ours excepted, whose initial environment holds one of `marks` (entries ``NAME=value``)."""
    wanted = {mark.encode() for mark in marks}
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environment = Path(entry.path, "environ").read_bytes()
        except OSError:  # ended meanwhile, or another user's
            continue
        if not wanted.isdisjoint(environment.split(b"\0")):
            found.append(int(entry.name))
    return found


def sweep(*marks: str) -> int:
    """Kill every process that carries one of `marks`; return how many. A second call finds none: nothing to do."""
    killed: set[int] = set()
    for _ in range(SWEEP_ROUNDS):
        pids = marked(*marks)
        if not pids:
            break
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
            killed.add(pid)
        time.sleep(0.005)
    return len(killed)


def main(mark: str, folders: list[str]) -> None:
    """Wait for the end of standard input, then sweep and clean up."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # we end after the one we guard, never before it
    while os.read(0, 4096):
        pass
    sweep(mark)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
