"""uv and cyclonedx-py, in an environment of their own in the cache: pinned and hashed in `tools.txt`, which uv itself made."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import Final

from images.commands import run, say
from images.places import cache
from once import locked

PINNED: Final = Path(__file__).with_name("tools.txt")


def program(name: str) -> Path:
    """One of the environment's programs; made now if the cache has none. Raises commands.BuildFailed."""
    kept = hashlib.sha256(f"{sys.version_info[:2]}\n{PINNED.read_text()}".encode()).hexdigest()[:16]
    folder = cache() / "tools" / kept
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "lock", say, "installing tools"):
        if not (folder / ".ready").exists():
            say("installing uv and cyclonedx-py into the cache")
            shutil.rmtree(folder / "venv", ignore_errors=True)
            run([sys.executable, "-m", "venv", str(folder / "venv")])
            pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet"]
            run([*pip, "--require-hashes", "--no-deps", "--requirement", str(PINNED)])
            (folder / ".ready").touch()
    return folder / "venv" / "bin" / name
