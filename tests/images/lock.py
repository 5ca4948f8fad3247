"""The pinned and hashed requirements of each image, `requirements/*.txt`.

In: the extras of pyproject.toml and constraints.txt. Out: one file for each image and one for what builds the wheel, good for
Python 3.11 and later on every machine that has wheels. The first line of each is a hash of what it was made from: a test finds
out without a network that one is old. What is pinned to other versions than those of constraints.txt cannot be.
"""

from __future__ import annotations

import hashlib
import tempfile
import tomllib
from pathlib import Path
from typing import Final

from images import tools
from images.commands import run, say
from images.pip_settings import authorities, settings
from images.places import REQUIREMENTS, ROOT

PYTHON: Final = "3.11"
HEADER: Final = "# Made by `make lock` from pyproject.toml and constraints.txt, of which it knows: "
#: Of dev: what the simulator needs beyond what an agent does.
SIMULATOR: Final = "grpcio-health-checking"
FILES: Final = ("operator", "agent", "cli", "simulator", "build")


def wanted(name: str) -> list[str]:
    """What pyproject.toml asks for, for the file `name`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    if name == "build":
        found: list[str] = project["build-system"]["requires"]
        return sorted(found)
    extras: dict[str, list[str]] = project["project"]["optional-dependencies"]
    if name != "simulator":
        return sorted(extras[name])
    [health] = [each for each in extras["dev"] if each.startswith(SIMULATOR)]
    return sorted([*extras["agent"], health])


def constraints() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return sorted(line for line in lines if line and not line.startswith("#"))


def header(name: str) -> str:
    made_from = "\n".join([PYTHON, *wanted(name), "--", *constraints()])
    return HEADER + hashlib.sha256(made_from.encode()).hexdigest()


def path(name: str) -> Path:
    return REQUIREMENTS / f"{name}.txt"


def write() -> None:
    """Raises commands.BuildFailed."""
    for name in FILES:
        path(name).write_text(f"{header(name)}\n{_compiled(name)}")
        say(f"wrote {path(name).relative_to(ROOT)}")


def _compiled(name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        asked, pinned = Path(folder) / "asked.in", Path(folder) / "pinned"
        asked.write_text("\n".join(wanted(name)))
        pinned.write_text("\n".join(constraints()))
        kind = ["--universal", f"--python-version={PYTHON}", "--generate-hashes", "--quiet"]
        plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-config"]
        files = [f"--constraints={pinned}", str(asked)]
        return run(
            [str(tools.program("uv")), "pip", "compile", *kind, *plain, *files], env=_index()
        )


def _index() -> dict[str, str]:
    """uv does not read pip's settings."""
    found = {}
    asked = settings()
    if url := asked.get("index-url"):
        found["UV_DEFAULT_INDEX"] = url
    if more := asked.get("extra-index-url"):
        found["UV_INDEX"] = more
    if bundle := authorities():
        found["SSL_CERT_FILE"] = str(bundle)
    return found
