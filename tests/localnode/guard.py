"""End a node whose owner is gone: python -m localnode.guard NAME FOLDER waits until its standard input closes, then ends and removes all.

The kernel has killed the processes by then (see enter.py); what is left are cgroups and the folder. Standard library only.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys

from localnode import cgroups


def main(name: str, folder: str) -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)  # we end after the one we guard, never before it
    while os.read(0, 4096):
        pass
    cgroups.end(name)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
