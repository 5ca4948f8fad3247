"""Start what an image starts, as a careful cluster would: user 65532, nothing writable, no network, no new rights.

In: an unpacked image and the configuration of its archive. The process lives in a mount namespace of its own, so that no mount
outlives it. Needs root.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from images.archive import Archive
from images.build import Built

#: Seconds until a command has to be through.
DEADLINE_S: Final = 120.0
CHROOT: Final = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin") or "chroot"
#: Mounts, then becomes the image's process. $1: chroot; $2: the root; then SOURCE TARGET pairs up to --.
SCRIPT: Final = """
set -eu
chroot=$1; root=$2; shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 devices "$root/dev"
mkdir -m 1777 "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
for each in null zero urandom; do : > "$root/dev/$each"; mount --bind "/dev/$each" "$root/dev/$each"; done
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs "$chroot" --userspec=65532:65532 --groups=65532 "$root" "$@"
"""


@dataclass(frozen=True)
class Unpacked:
    """An image of this checkout, with its files in the folder `root`."""

    target: str
    root: Path
    archive: Archive
    built: Built

    def packages(self) -> Path:
        """Python's, in the image."""
        [found] = self.root.glob("app/lib/python*/site-packages")
        return found

    def files(self) -> Iterator[Path]:
        """Everything but folders; links are not followed."""
        for each in self.root.rglob("*"):
            if each.is_symlink() or not each.is_dir():
                yield each


@dataclass(frozen=True)
class Container:
    """`volumes`: files and folders of this machine by where they are mounted, writable, on what exists in the image."""

    root: Path
    archive: Archive
    volumes: Mapping[str, Path] = field(default_factory=dict)
    network: bool = False  # this machine's

    def command(self, *arguments: str, entrypoint: Sequence[str] = ()) -> list[str]:
        """What starts the image's own entry point, or another one."""
        started = self.archive.started()
        mounted = [part for where, what in self.volumes.items() for part in (str(what), where)]
        alone = [
            "unshare",
            "--mount",
        ]  # which becomes what it starts: one process, which signals reach
        if not self.network:
            alone.append("--net")
        inside = [*(entrypoint or started["Entrypoint"]), *arguments]
        return [*alone, "sh", "-c", SCRIPT, "sh", CHROOT, str(self.root), *mounted, "--", *inside]

    def environment(self) -> dict[str, str]:
        """The image's, and nothing of this machine."""
        pairs = (each.partition("=") for each in self.archive.started()["Env"])
        return {"HOME": "/", **{name: value for name, _, value in pairs}}

    def run(
        self, *arguments: str, entrypoint: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """To its end. Raises subprocess.TimeoutExpired."""
        return subprocess.run(
            self.command(*arguments, entrypoint=entrypoint),
            env=self.environment(),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
