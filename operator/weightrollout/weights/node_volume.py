"""A volume that the pods of a node share: tensor files by the digest of their checkpoint, read from the source once.

    DIR/entries/<digest hex>/FILES, .lease, .sums   whole; who reads holds a shared lock on .lease
    DIR/filling/<key>.lock                          held by the one who reads the source; <key> of a second reader: <key>.second
    DIR/filling/<key>-<random>/FILES                what that one has read so far

Nothing in here is believed, whoever wrote it: what is taken is hashed while it is used. So nothing is made durable either,
and a volume whose locks do not work costs reads of the source and never a wrong byte. Whatever fails here is a `Notice`, and
the pod reads alone, as without the volume.
"""

import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weightrollout.weights.digest import ALGORITHM
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.filelock import ALONE, SHARED, is_at, locked
from weightrollout.weights.node_notices import WAITING, Notice, Waiting, Why, volume_failures

LEASE: Final = ".lease"
SUMS: Final = ".sums"
_LOCK: Final = ".lock"
_AWAY: Final = "away-"
#: Entries that nobody reads: what is served, what was before, and one on its way.
MOST_UNUSED: Final = 3
UNUSED_S: Final = 24 * 3600.0
#: Of the file system, in percent: the kubelet evicts pods below 15 (imagefs), 10 (nodefs).
KEEP_FREE_PERCENT: Final = 15
_GROUP_WRITES: Final = 0o020
_OTHERS_WRITE: Final = 0o002


@dataclass(frozen=True, slots=True)
class Entry:
    """Held open: it is not collected, and goes on being readable."""

    digest: str
    path: Path
    folder: int  # descriptors
    lease: int

    def open(self, name: str, size: int | None = None) -> int:
        """Of a regular file, for reading. Raises Notice where it is another thing or of another size."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        path = self.path / name
        try:
            found = os.open(name, flags, dir_fd=self.folder)
        except OSError as error:
            raise Notice(Why.SPOILT, f"{path}: {error.strerror}") from error
        about = os.fstat(found)
        if not stat.S_ISREG(about.st_mode) or size not in (None, about.st_size):
            os.close(found)
            raise Notice(Why.SPOILT, f"{path} has {about.st_size} bytes, {size} are wanted")
        return found

    def close(self) -> None:
        os.close(self.folder)
        os.close(self.lease)


class NodeVolume:
    """One folder of it, which belongs to one fleet. Safe across threads and processes."""

    def __init__(
        self,
        root: Path,
        waiting: Waiting = WAITING,
        *,
        keep_free_percent: int = KEEP_FREE_PERCENT,
    ) -> None:
        self.root = root
        self._keep_free_percent = keep_free_percent
        self.waiting = waiting
        self._entries = root / "entries"
        self._filling = root / "filling"

    def prepare(self) -> None:
        """Raises Notice where others could write here."""
        for folder in (self.root, self._entries, self._filling):
            with volume_failures(folder):
                folder.mkdir(mode=0o700, exist_ok=True)
                _check(folder)

    # -- taking -----------------------------------------------------------------------

    def take(self, digest: str) -> Entry | None:
        """None: not there. Closed by the caller."""
        path = self._entries / _hex(digest)
        with volume_failures(path):
            try:
                folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            except FileNotFoundError:
                return None
            try:
                lease = locked(LEASE, SHARED, within=folder)
                if lease is None:
                    os.close(folder)
                    return None  # it is about to be removed
            except BaseException:
                os.close(folder)
                raise
            entry = Entry(digest, path, folder, lease)
            os.utime(lease)
            if is_at(folder, path):
                return entry
            entry.close()
            return None

    def remove(self, entry: Entry) -> None:
        """This one, not one that has taken its place. Who reads it meanwhile finds out by itself."""
        with suppress(OSError):
            if is_at(entry.folder, entry.path):
                self._discard(entry.path)

    # -- filling ----------------------------------------------------------------------

    def reader(self, key: str) -> int | None:
        """A descriptor that makes its holder the one who reads the source; None: another one is."""
        with volume_failures(self._filling):
            return locked(str(self._filling / f"{key}{_LOCK}"), ALONE)

    def came(self, key: str) -> int:
        """Bytes that the one who reads the source has put here."""
        found = 0
        for part in self._filling.glob(f"{key}-*"):
            with suppress(OSError), os.scandir(part) as files:  # moves and goes while we look
                found += sum(each.stat(follow_symlinks=False).st_size for each in files)
        return found

    @contextmanager
    def part(self, key: str, size: int) -> Iterator[Path]:
        """A folder to fill, for the holder of `reader`, with room for `size` bytes. Gone afterwards."""
        part = self._filling / f"{key}-{secrets.token_hex(8)}"
        with volume_failures(part):
            for left in self._filling.glob(f"{key}-*"):
                shutil.rmtree(left, ignore_errors=True)
            self._make_room(size)
            part.mkdir(mode=0o700)
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def publish(self, part: Path, digest: str) -> None:
        """Whole by one rename. What lies there already is replaced."""
        path = self._entries / _hex(digest)
        with volume_failures(path):
            os.close(os.open(part / LEASE, os.O_WRONLY | os.O_CREAT, 0o600))
            try:
                part.rename(path)
            except OSError:
                self._discard(path)
                part.rename(path)

    # -- collecting -------------------------------------------------------------------

    def collect(self, keep: Collection[str]) -> list[str]:
        """Remove what nobody reads and nobody is likely to; returns the digests. Raises Notice."""
        with volume_failures(self.root):
            for digest in keep:
                with suppress(FileNotFoundError):
                    os.utime(self._entries / _hex(digest) / LEASE)
            removed, unused, now = [], 0, time.time()
            for used_at, path in reversed(self._by_use()):
                unused += 1
                old = unused > MOST_UNUSED or now - used_at > UNUSED_S
                if f"{ALGORITHM}{path.name}" in keep:
                    continue
                if old and self._remove_unused(path):
                    removed.append(f"{ALGORITHM}{path.name}")
            self._collect_parts()
            return removed

    def _collect_parts(self) -> None:
        """What a pod that was killed has left."""
        for away in self._filling.glob(f"{_AWAY}*"):
            shutil.rmtree(away, ignore_errors=True)
        for lock in self._filling.glob(f"*{_LOCK}"):
            key = lock.name.removesuffix(_LOCK)
            held = locked(str(lock), ALONE)
            if held is None:
                continue
            try:
                for left in self._filling.glob(f"{key}-*"):
                    shutil.rmtree(left, ignore_errors=True)
                lock.unlink()
            finally:
                os.close(held)

    def _make_room(self, size: int) -> None:
        """Raises Notice where there is none."""
        while (left := self._free() - size) < 0:
            if not any(self._remove_unused(path) for _, path in self._by_use()):
                raise Notice(
                    Why.FULL,
                    f"{self.root}: {size} bytes are needed and {left + size} may be taken:"
                    f" {self._keep_free_percent} % of the file system are left free, and all else is in use",
                )

    def _free(self) -> int:
        volume = os.statvfs(self.root)
        keep = volume.f_blocks * self._keep_free_percent // 100
        return max(0, volume.f_bavail - keep) * volume.f_frsize

    def _by_use(self) -> list[tuple[float, Path]]:
        """The longest unused first. One without a lease was not written by us: it goes first of all."""
        found = []
        for path in self._entries.iterdir():
            if path.is_symlink() or not path.is_dir():
                continue  # nothing of ours
            try:
                found.append(((path / LEASE).stat(follow_symlinks=False).st_mtime, path))
            except OSError:
                found.append((0.0, path))
        return sorted(found)

    def _remove_unused(self, path: Path) -> bool:
        try:
            held = locked(str(path / LEASE), ALONE)
        except FileNotFoundError:
            return False  # somebody else has removed it
        if held is None:
            return False
        try:
            self._discard(path)
        finally:
            os.close(held)
        return True

    def _discard(self, path: Path) -> None:
        """Out of sight by one rename: a half-removed entry is never seen."""
        away = self._filling / f"{_AWAY}{secrets.token_hex(8)}"
        with suppress(FileNotFoundError):
            path.rename(away)
        shutil.rmtree(away, ignore_errors=True)


def _check(folder: Path) -> None:
    """Shuts what the kubelet has opened for the pod's fsGroup: it does so with all folders when it mounts
    some kinds of volumes, such as `local` ones. Raises Notice, OSError."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise Notice(Why.UNUSABLE, f"{folder} is no folder")
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS_WRITE:
        raise Notice(
            Why.UNUSABLE,
            f"{folder} has the owner {found.st_uid} and mode {found.st_mode & 0o7777:o}: it must"
            f" belong to the agent's user, {os.geteuid()}, and be writable by nobody else",
        )
    if found.st_mode & _GROUP_WRITES:
        folder.chmod(0o700)


def key_of(digest: str | None, where: str) -> str:
    """What two pods have in common that want the same; `where`: of a scout, which has no digest yet."""
    return f"at-{hashlib.sha256(where.encode()).hexdigest()}" if digest is None else _hex(digest)


def cancelled_waiting() -> WeightsError:
    return WeightsError(Reason.STAGING_CANCELLED, "staging was cancelled")


def _hex(digest: str) -> str:
    return digest.removeprefix(ALGORITHM)
