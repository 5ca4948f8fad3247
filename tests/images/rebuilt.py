"""Build everything a second time, with nothing kept from the first, and say what differs.

The bases are the same: what comes out of Debian's archive is not made again.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

from images import build
from images.archive import Archive
from images.places import cache


def rebuilt() -> list[str]:
    """One line for each difference; empty: the same bytes. Raises commands.BuildFailed."""
    first = build.built()
    with tempfile.TemporaryDirectory(dir=cache(), prefix="again-") as folder:
        again = build.built_again(Path(folder))
        return [
            f"{each.name}: {line}"
            for target, each in first.items()
            for line in differences(Archive(each.archive), Archive(again[target].archive))
        ]


def differences(first: Archive, second: Archive) -> list[str]:
    """One line for each file or part of the configuration; empty: the same bytes."""
    if first.digest == second.digest:
        return []
    found = [
        f"configuration: {name}: {first.config.get(name)} and {second.config.get(name)}"
        for name in sorted(first.config.keys() | second.config.keys())
        if name not in ("history", "rootfs") and first.config.get(name) != second.config.get(name)
    ]
    before, after = _content(first), _content(second)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            found.append(f"{name}: {before.get(name)} and {after.get(name)}")
    return found or ["the same files in other bytes: their order, or the compression"]


def _content(archive: Archive) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for number, layer in enumerate(archive.opened()):
        for each in layer:
            file = layer.extractfile(each) if each.isreg() else None
            content = hashlib.sha256(file.read()).hexdigest()[:12] if file else each.linkname
            kind = (each.type, oct(each.mode), each.uid, each.gid)
            found[f"layer {number}: {each.name}"] = (*kind, each.mtime, each.size, content)
    return found
