"""The stores' servers, built once from what pins them here (see `gobinary`), or installed once from npm."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from gobinary import BuildFailed, GoModule, cache_root
from once import locked, progress

HERE: Final = Path(__file__).parent
FLAGS: Final = ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w")
HINT: Final = "about 3 minutes on 2 cores the first time, seconds when the Go cache is warm"

VERSION: Final = "v1.8.0"
MODULE: Final = GoModule("objectstore", HERE / "binary", ("go.mod", "go.sum"), FLAGS, HINT)

GOOGLE_VERSION: Final = "v1.56.1"
GOOGLE: Final = GoModule("objectstore-google", HERE / "google", ("go.mod", "go.sum"), FLAGS, HINT)

AZURITE: Final = HERE / "azurite"  # package.json, package-lock.json


def server_binary() -> Path:
    """versitygw, built now if the cache has none. Raises gobinary.BuildFailed."""
    package = "github.com/versity/versitygw/cmd/versitygw"
    return MODULE.built("versitygw", package, f"versitygw {VERSION}")


def google_binary() -> Path:
    """fake-gcs-server, in the same way."""
    package = "github.com/fsouza/fake-gcs-server"
    return GOOGLE.built("fake-gcs-server", package, f"fake-gcs-server {GOOGLE_VERSION}")


def azurite_command() -> list[str]:
    """node with Azurite's blob server, installed now if the cache has none. Raises gobinary.BuildFailed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise BuildFailed("Azurite needs node and npm on PATH")
    pinned = [AZURITE / "package.json", AZURITE / "package-lock.json"]
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in pinned)).hexdigest()
    folder = cache_root() / "objectstore-azurite" / digest
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_suffix(".lock"), _say, "installing"):
            if not folder.exists():
                _install(npm, pinned, folder)
    return [node, str(folder / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js")]


def _install(npm: str, pinned: list[Path], folder: Path) -> None:
    _say("installing Azurite from npm; about a minute, 190 MB")
    unfinished = folder.with_suffix(f".{os.getpid()}.unfinished")
    unfinished.mkdir()
    for each in pinned:
        shutil.copy(each, unfinished)
    command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    with progress(time.monotonic(), _say, "installing"):
        done = subprocess.run(command, cwd=unfinished, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(unfinished)
        raise BuildFailed(f"{' '.join(command)}\n{done.stderr[-4000:]}")
    unfinished.rename(folder)


def _say(text: str) -> None:
    print(f"objectstore: {text}", file=sys.stderr, flush=True)
