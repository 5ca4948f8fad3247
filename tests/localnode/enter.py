"""Join the node's cgroups, then become `unshare`: python -m localnode.enter NAME COMMAND... runs COMMAND as process 1 of a new world.

Open files are handed on. When whoever started us dies, the kernel kills `unshare` (setpriv --pdeathsig, see localcluster's
processes), and with it process 1 and so all of them. Standard library only.
"""

from __future__ import annotations

import os
import sys

from localnode import cgroups

NAMESPACES = ("--pid", "--mount", "--net", "--ipc", "--uts", "--cgroup")


def main(name: str, *command: str) -> None:
    cgroups.join(name)
    unshare = ["unshare", *NAMESPACES, "--fork", "--kill-child=KILL", "--mount-proc", "--"]
    os.execvp("unshare", [*unshare, *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
