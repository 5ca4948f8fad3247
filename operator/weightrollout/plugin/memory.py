"""How much memory this process may still take: the machine's, and that of every cgroup above it."""

from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_MEMBERSHIP: Final = Path("/proc/self/cgroup")
_CGROUPS: Final = Path("/sys/fs/cgroup")
_UNLIMITED: Final = 1 << 60


def available_bytes() -> int | None:
    """None where it cannot be found out. Page cache that can be dropped counts as available."""
    machine = _machine()
    return None if machine is None else min(machine, *(_left(each) for each in _groups()), machine)


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
