"""The command that readers of the page on S3 type, in an environment of its own: made once, in the cache.

Its libraries do not go together with ours.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from gobinary import cache_root
from once import locked
from tiers import unavailable

VERSION: Final = "1.45.11"
COMMAND: Final = Path("bin", "aws")


def environment() -> Path:
    return cache_root() / "awscli" / VERSION


def fetch() -> Path:
    """Raises CalledProcessError: pip says why."""
    there = environment()
    there.parent.mkdir(parents=True, exist_ok=True)
    with locked(there.with_suffix(".lock"), _say, "fetching the aws command"):
        if not (there / COMMAND).exists():
            shutil.rmtree(there, ignore_errors=True)
            venv.create(there, with_pip=True)
            pip = (str(there / "bin" / "python"), "-m", "pip", "install", "--quiet")
            try:
                subprocess.run(
                    [*pip, "--disable-pip-version-check", f"awscli=={VERSION}"], check=True
                )
            except BaseException:
                shutil.rmtree(there, ignore_errors=True)
                raise
    return there / COMMAND


def require() -> Path:
    """As `fetch`, without fetching. Skip where it was not; fail where every tier was asked for."""
    if not (environment() / COMMAND).exists():
        unavailable("the aws command is not there: make objectstore fetches it (25 MB)")
    return environment() / COMMAND


def _say(text: str) -> None:
    print(f"awscli: {text}", file=sys.stderr, flush=True)
