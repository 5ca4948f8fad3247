"""A program of a Debian package: the one on PATH, else unpacked into our cache. Nothing is installed, no service starts."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from gobinary import cache_root
from once import locked


class NotThere(Exception):
    """It is not on PATH and cannot be had here; the message says why."""


def program(package: str, name: str) -> Path:
    """Raises NotThere."""
    if found := shutil.which(name):
        return Path(found)
    unpacked = cache_root() / "debian" / package / name
    if unpacked.exists():
        return unpacked
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NotThere(f"{name} is not on PATH, and this is no Debian to take {package} from")
    unpacked.parent.mkdir(parents=True, exist_ok=True)
    with locked(unpacked.with_name(f"{name}.lock"), _say, f"unpacking {package}"):
        if not unpacked.exists():
            _unpack(package, name, unpacked)
    return unpacked


def _unpack(package: str, name: str, into: Path) -> None:
    with tempfile.TemporaryDirectory(dir=into.parent) as folder:
        _download(package, folder)
        (archive,) = Path(folder).glob("*.deb")
        _run(["dpkg-deb", "--extract", str(archive), "tree"], folder)
        found = next(Path(folder, "tree").rglob(f"bin/{name}"), None)
        if found is None:
            raise NotThere(f"the package {package} has no {name}")
        found.replace(into)


def _download(package: str, folder: str) -> None:
    download = ["apt-get", "download", "--quiet", package]
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
