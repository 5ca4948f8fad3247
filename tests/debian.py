"""Debian packages unpacked into our cache. Nothing is installed, no service starts."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gobinary import cache_root
from once import locked


class NotThere(Exception):
    """It is not on this machine and cannot be had here; the message says why."""


def program(package: str, name: str) -> Path:
    """The one on PATH, else that of the package. Raises NotThere."""
    if found := shutil.which(name):
        return Path(found)
    there = next(unpacked(package).rglob(f"bin/{name}"), None)
    if there is None:
        raise NotThere(f"the package {package} has no {name}")
    return there


def unpacked(*packages: str) -> Path:
    """A folder with the files of all of them, as below /. Raises NotThere."""
    root = cache_root() / "debian-trees" / "+".join(packages)
    if root.exists():
        return root
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NotThere(f"this is no Debian to take {', '.join(packages)} from")
    root.parent.mkdir(parents=True, exist_ok=True)
    with locked(root.with_name(f"{root.name}.lock"), _say, f"unpacking {' '.join(packages)}"):
        if not root.exists():
            _unpack(packages, root)
    return root


def _unpack(packages: tuple[str, ...], into: Path) -> None:
    """Whole or not at all."""
    with tempfile.TemporaryDirectory(dir=into.parent) as folder:
        _download(packages, folder)
        for archive in sorted(Path(folder).glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(archive), "tree"], folder)
        Path(folder, "tree").rename(into)


def _download(packages: tuple[str, ...], folder: str) -> None:
    download = ["apt-get", "download", "--quiet", *packages]
    try:
        _run(download, folder)
    except NotThere:
        if os.geteuid() != 0:
            raise
        _run(["apt-get", "update", "--quiet"], folder)  # a fresh machine has no lists
        _run(download, folder)


def _run(command: list[str], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotThere(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
