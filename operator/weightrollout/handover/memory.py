"""How much memory this process may still take: the machine's, and that of every cgroup above it.

Asked on both sides of the handover: by the plugin before it packs weights anew, by the agent before it stages into memory.
"""

import ctypes
import os
from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_MEMBERSHIP: Final = Path("/proc/self/cgroup")
_CGROUPS: Final = Path("/sys/fs/cgroup")
_UNLIMITED: Final = 1 << 60
_IN_MEMORY: Final = (0x01021994, 0x858458F6)  # tmpfs, ramfs: linux/magic.h
_STATFS_BYTES: Final = 512  # more than any struct statfs has


def available_bytes() -> int | None:
    """None where it cannot be found out. Page cache that can be dropped counts as available."""
    machine = _machine()
    return None if machine is None else min(machine, *(_left(each) for each in _groups()), machine)


def is_in_memory(folder: Path) -> bool:
    """Whether what is written there takes memory, which is charged to who writes it. False where it cannot be found out."""
    buffer = ctypes.create_string_buffer(_STATFS_BYTES)
    try:
        if ctypes.CDLL(None).statfs(os.fsencode(folder), buffer) != 0:
            return False
    except (OSError, AttributeError):
        return False
    return ctypes.c_ulong.from_buffer(buffer).value in _IN_MEMORY  # f_type is the first field


def _machine() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _groups() -> list[tuple[Path, str, str]]:
    """(folder, file of the limit, file of the usage) of the memory groups this process is in."""
    found: list[tuple[Path, str, str]] = []
    try:
        lines = _MEMBERSHIP.read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, limit, usage = _CGROUPS, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root = _CGROUPS / "memory"
            limit, usage = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        folder = root / path.lstrip("/")
        # In a container the path is the host's: its own group is then the root of what is mounted.
        found += [
            (each, limit, usage)
            for each in (folder, *folder.parents)
            if root in (each, *each.parents)
        ]
    return found


def _left(group: tuple[Path, str, str]) -> int:
    folder, limit, usage = group
    try:
        allowed = (folder / limit).read_text().strip()
        if allowed == "max" or int(allowed) >= _UNLIMITED:
            return _UNLIMITED
        return max(0, int(allowed) - int((folder / usage).read_text()) + _reclaimable(folder))
    except (OSError, ValueError):
        return _UNLIMITED


def _reclaimable(folder: Path) -> int:
    """Page cache that nobody used lately."""
    for line in (folder / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0
