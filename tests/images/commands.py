"""Programs that are run, and packages of Debian that are installed for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

#: Of Debian: who else uses its lock is waited for.
LOCK_S: Final = 600
#: A killed build must not go on in the background, with our lock let go.
DIES_WITH_US: Final = ("setpriv", "--pdeathsig", "KILL", "--") if shutil.which("setpriv") else ()


class BuildFailed(Exception):
    """The message holds the words of the program that refused. The cache has nothing unfinished."""


def say(text: str) -> None:
    print(f"images: {text}", file=sys.stderr, flush=True)


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> str:
    """What it printed. Raises BuildFailed."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=None if env is None else {**os.environ, **env},
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-4000:]
        raise BuildFailed(f"{' '.join(command)}: exit status {done.returncode}\n{said}")
    return done.stdout


def logged(command: Sequence[str], log: Path) -> None:
    """Run it with all that it says in `log`, the end of which is told when it fails. Raises BuildFailed."""
    with log.open("ab") as file:
        done = subprocess.run([*DIES_WITH_US, *command], stdout=file, stderr=file, check=False)
    if done.returncode != 0:
        end = log.read_text(errors="replace")[-4000:]
        raise BuildFailed(
            f"{' '.join(command)}: exit status {done.returncode}\n{end}\n(all: {log})"
        )


def need(*programs: str) -> None:
    """Debian's packages of the same names, installed where they are missing. Raises BuildFailed."""
    missing = [each for each in programs if not shutil.which(each)]
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise BuildFailed(
            f"no Docker engine answers, and {', '.join(missing)} is not installed: start Docker, or install it"
        )
    say(f"installing Debian packages {' '.join(missing)}, for builds without a Docker engine")
    apt = ["apt-get", "-o", f"DPkg::Lock::Timeout={LOCK_S}"]
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    install = [*apt, "install", "--yes", "--no-install-recommends", *missing]
    try:
        run(install, env=quiet)
    except BuildFailed:  # lists may be old or absent
        run([*apt, "update"])
        run(install, env=quiet)
