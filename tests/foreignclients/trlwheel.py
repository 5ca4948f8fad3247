"""TRL's wheel, alone and unpacked, once, in the cache: its clients need nothing that a vLLM does not bring.

python -m foreignclients.trlwheel      # fetch it where it is not there; prints the folder
"""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

from gobinary import cache_root
from once import locked
from tiers import unavailable

#: The newest when this was written; docs/howto/rl-clients.md names it.
VERSION: Final = "1.16.0"


def folder() -> Path:
    return cache_root() / "trl" / VERSION


def fetch() -> Path:
    """Raises CalledProcessError: pip says why."""
    there = folder()
    there.parent.mkdir(parents=True, exist_ok=True)
    with locked(there.with_suffix(".lock"), _say, "fetching TRL"):
        if not there.exists():
            new = there.with_suffix(".new")
            shutil.rmtree(new, ignore_errors=True)
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest")
            subprocess.run([*pip, str(new), f"trl=={VERSION}"], check=True)
            [wheel] = new.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(new)
            wheel.unlink()
            new.rename(there)
    return there


def require() -> Path:
    """Skip where it was not fetched; fail where every tier was asked for."""
    if not folder().exists():
        unavailable("TRL's wheel is not there: make test-clients fetches it (1 MB)")
    return folder()


def _say(text: str) -> None:
    print(f"trlwheel: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    print(fetch())
