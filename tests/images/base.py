"""A base image from Debian's archive, for machines that can pull none: what `python:3.12-slim-bookworm` stands for.

In: a suite and a list of packages. Out: a tar of the root file system in the cache, without the marks of the machine that
made it: no name servers, no mirror, no log, no setuid file, no device.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import stat
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from images.commands import BuildFailed, logged, need, run, say
from images.places import cache, epoch

SUITE: Final = "bookworm"
RECIPE: Final = 1  # raised when another base comes out of what follows
KEYRING: Final = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
#: Left behind by debootstrap, or of no use in an image; folders are emptied. Licences stay.
CLEARED: Final = (
    "dev",
    "proc",
    "sys",
    "run",
    "tmp",
    "var/log",
    "var/tmp",
    "var/cache",
    "var/lib/apt/lists",
    "usr/share/man",
    "usr/share/info",
    "usr/share/locale",
)
REMOVED: Final = (
    "etc/apt/sources.list",
    "etc/hostname",
    "etc/resolv.conf",
    "etc/machine-id",
    "etc/passwd-",
    "etc/group-",
    "etc/shadow-",
    "etc/gshadow-",
    "var/lib/dpkg/lock",
    "var/lib/dpkg/lock-frontend",
    "var/lib/dpkg/status-old",
    "var/lib/dpkg/available-old",
)


@dataclass(frozen=True)
class Base:
    name: str
    packages: tuple[str, ...]

    def key(self) -> str:
        """Of suite, packages and this recipe, in hex; not of the versions that the archive has today."""
        made_from = [SUITE, platform.machine(), epoch(), *self.packages, str(RECIPE)]
        return hashlib.sha256("\n".join(made_from).encode()).hexdigest()[:16]

    def reference(self) -> str:
        return f"localhost/weightrollout-{self.name}:{self.key()}"

    def folder(self) -> Path:
        return cache() / "bases" / f"{self.name}-{self.key()}"

    def rootfs(self) -> Path:
        """The tar, made now if the cache has none. Raises BuildFailed."""
        finished = self.folder() / "rootfs.tar"
        if not finished.exists():
            self.folder().mkdir(parents=True, exist_ok=True)
            _make(self, finished)
        return finished


#: venv and its pip: the Dockerfile installs with them.
RUNNING: Final = Base("base", ("python3", "python3-venv", "ca-certificates"))
BUILDING: Final = Base("build-base", (*RUNNING.packages, "gcc", "libc6-dev"))


def mirror() -> str:
    """Where this machine gets the suite from. Raises BuildFailed."""
    asked = [
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI)",
        f"Codename: {SUITE}",
        "Component: main",
    ]
    found = sorted(set(run(asked).split()))
    if not found:
        raise BuildFailed(
            f"apt knows no mirror of Debian {SUITE}: name a BASE_IMAGE and a BUILD_IMAGE"
        )
    return found[0]


def _make(base: Base, finished: Path) -> None:
    need("debootstrap")
    say(f"{base.name}: {SUITE} with {' '.join(base.packages)}; a minute or two the first time")
    archives = cache() / "bases" / "debs"
    archives.mkdir(exist_ok=True)
    command = ["debootstrap", "--variant=minbase", f"--cache-dir={archives}"]
    if KEYRING.exists():
        command.append(f"--keyring={KEYRING}")
    with tempfile.TemporaryDirectory(dir=base.folder(), prefix="unfinished-") as folder:
        root = Path(folder) / "root"
        include = f"--include={','.join(base.packages)}"
        where = ["env", f"SOURCE_DATE_EPOCH={epoch()}", "unshare", "--mount"]
        logged([*where, *command, include, SUITE, str(root), mirror()], base.folder() / "log")
        _clean(root)
        unfinished = Path(folder) / "rootfs.tar"
        pack(root, unfinished, int(epoch()))
        unfinished.replace(finished)
    size = finished.stat().st_size / 1e6
    say(f"{base.name}: {size:.0f} MB")


def _clean(root: Path) -> None:
    for name in CLEARED:
        for each in (root / name).iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()
    for name in REMOVED:
        (root / name).unlink(missing_ok=True)
    for each in (root / "usr/share/doc").glob("**/*"):
        if not each.is_dir() and each.name != "copyright":
            each.unlink()
    for each in [*root.glob("usr/lib/python3*/**/__pycache__")]:
        shutil.rmtree(each)  # the Dockerfile compiles
    for each in root.rglob("*"):
        kept = each.lstat()
        if stat.S_ISREG(kept.st_mode) and kept.st_mode & (stat.S_ISUID | stat.S_ISGID):
            each.chmod(stat.S_IMODE(kept.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))


def pack(root: Path, target: Path, newest: int) -> None:
    """A tar of `root`: sorted, owners by number, nothing newer than `newest` (Unix seconds)."""

    def same(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uname = entry.gname = ""
        entry.mtime = min(int(entry.mtime), newest)
        return entry

    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
        for each in sorted(root.rglob("*")):
            name = each.relative_to(root).as_posix()
            archive.add(each, arcname=name, recursive=False, filter=same)
