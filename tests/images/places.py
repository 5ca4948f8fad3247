"""Folders, names and the key of what is built."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Final

from gobinary import cache_root

ROOT: Final = Path(__file__).resolve().parents[2]
DOCKERFILE: Final = ROOT / "Dockerfile"
REQUIREMENTS: Final = ROOT / "requirements"
SBOMS: Final = ROOT / "build" / "sbom"
#: Targets of the Dockerfile.
TARGETS: Final = ("operator", "agent", "cli", "simulator")
#: What the Dockerfile copies; a test compares it with the Dockerfile and .dockerignore.
GOES_IN: Final = (
    "Dockerfile",
    ".dockerignore",
    "LICENSE",
    "README.md",
    "hatch_build.py",
    "operator",
    "pyproject.toml",
    "requirements",
    "tests/simulator",
)
#: Made here, never copied: .dockerignore says the same.
LEFT_OUT: Final = re.compile(r"/__pycache__/|\.pyc$|/plugin/transfer/streaming-")
VERSION: Final = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def cache() -> Path:
    """Where bases, build layers and finished images are kept."""
    return cache_root() / "images"


def image(target: str) -> str:
    return f"weightrollout-{target}"


def reference(target: str, tag: str) -> str:
    """The name inside an archive, by which containerd and a pod call it."""
    return f"localhost/{image(target)}:{tag}"


def version() -> str:
    found = VERSION.search((ROOT / "operator" / "weightrollout" / "__init__.py").read_text())
    assert found, "the package tells no version"
    return found[1]


def sources() -> list[Path]:
    """Every file that goes in, sorted by name."""
    found: list[Path] = []
    for name in GOES_IN:
        path = ROOT / name
        found += [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return sorted(each for each in found if not LEFT_OUT.search(each.as_posix()))


def key(*more: str) -> str:
    """sha256, in hex, of all that goes in; `more`: what is not in files, such as the base."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sources():
        content = path.read_bytes()
        digest.update(f"\n{path.relative_to(ROOT).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def epoch() -> str:
    """Unix seconds that all files and images carry as their time."""
    found = re.search(r"SOURCE_DATE_EPOCH=(\d+)", DOCKERFILE.read_text())
    assert found, "the Dockerfile names no SOURCE_DATE_EPOCH"
    return os.environ.get("SOURCE_DATE_EPOCH") or found[1]
