"""The cgroups of one node: a child, in every hierarchy, of the cgroup that we are in. Version 1, 2, and both at once.

All that runs on the node is in them, so they are also how everything of it is found and ended. Standard library only.
"""

from __future__ import annotations

import fnmatch
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

KILL_ROUNDS = 400
ROUND_S = 0.025
#: Where CPU is short: as ten processes beside us, not as one. Version 1, version 2.
WEIGHTS = {"cpu.shares": 10240, "cpu.weight": 1000}


@dataclass(frozen=True)
class Hierarchy:
    """One mounted tree of cgroups."""

    mount: Path
    controllers: str  # as in /proc/self/cgroup: "cpu,cpuacct", "name=systemd", "" for version 2
    ours: str  # the cgroup that we are in, from the root of the mount

    def folder(self, name: str) -> Path:
        """Of our child `name`."""
        return self.mount / self.ours.strip("/") / name


def hierarchies() -> list[Hierarchy]:
    """All that are mounted and that we are in."""
    ours = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        ours[controllers] = path
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        mount = Path(left.split(" ")[4])
        if kind == "cgroup2" and "" in ours:
            found[""] = Hierarchy(mount, "", ours[""])
        elif kind == "cgroup":
            for controllers, path in ours.items():
                if controllers and set(controllers.split(",")) <= set(options.split(",")):
                    found[controllers] = Hierarchy(mount, controllers, path)
    return list(found.values())


def join(node: str) -> None:
    """Make the cgroups and move this process into them."""
    for hierarchy in hierarchies():
        folder = hierarchy.folder(node)
        folder.mkdir(exist_ok=True)
        for inherited in ("cpuset.cpus", "cpuset.mems"):  # version 1: empty in a new one
            if hierarchy.controllers and (folder / inherited).exists():
                (folder / inherited).write_text((folder.parent / inherited).read_text())
        for name, weight in WEIGHTS.items():
            if (folder / name).exists():
                (folder / name).write_text(str(weight))
        (folder / "cgroup.procs").write_text(str(os.getpid()))


def found(pattern: str) -> list[Path]:
    """Folders of cgroups of that name, wherever in their trees they are: a run that died may have been in another than ours."""
    return [
        Path(path, each)
        for hierarchy in hierarchies()
        for path, folders, _ in os.walk(hierarchy.mount)
        for each in fnmatch.filter(folders, pattern)
    ]


def end(name: str) -> None:
    """Kill everything in these cgroups and remove them; nothing to do where there are none."""
    folders = found(name)
    for _ in range(KILL_ROUNDS):
        for pid in [pid for folder in folders for pid in _processes(folder)]:
            _kill(pid)
        folders = [folder for folder in folders if not _removed(folder)]
        if not folders:
            return
        time.sleep(ROUND_S)


def _processes(folder: Path) -> list[int]:
    found = []
    for path, _, _ in os.walk(folder):
        try:
            found += [int(line) for line in Path(path, "cgroup.procs").read_text().split()]
        except OSError:  # removed meanwhile
            continue
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _removed(folder: Path) -> bool:
    for path, _, _ in os.walk(folder, topdown=False):
        try:
            Path(path).rmdir()
        except OSError:  # a process that was killed is still on its way out
            return not folder.exists()
    return True
