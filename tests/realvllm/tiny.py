"""The checkpoints a and b of a family, made once inside vLLM's environment and cached beside it.

The cache is named by the hash of the recipes and of the environment, so a changed recipe makes new checkpoints. Two processes
that want the same one may both make it; the second throws its own away.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from realvllm import venv
from realvllm.families import FAMILIES, Family
from realvllm.launch import Launch

TESTS: Final = Path(__file__).resolve().parent.parent
PAYLOAD_SHAPES: Final = TESTS / "checkpoints.py"


class NotMade(Exception):
    """A recipe failed; the message holds what Python printed."""


@dataclass(frozen=True)
class Version:
    """One checkpoint of a family, with the draft that belongs to it."""

    family: Family
    target: Path
    draft: Path | None

    def launch(self, backend: str = "weightrollout") -> Launch:
        """An engine that serves it."""
        return Launch(
            model=self.target,
            backend=backend,
            flags=self.family.engine_flags(self.draft),
            environment=self.family.environment,
        )


@dataclass(frozen=True)
class Pair:
    """Two versions with the same shapes and different numbers, each tensor of them."""

    a: Version
    b: Version


def pair(family: Family) -> Pair:
    """Made now if the cache has none, a minute the first time. Raises NotMade."""
    out = cache_folder()
    if any(not (out / recipe).exists() for recipe in family.recipes()):
        _make(out, _wanted_with(family))
    return Pair(_version(family, out, "a"), _version(family, out, "b"))


def seeded(recipe: str, seeds: Sequence[int]) -> list[Path]:
    """A checkpoint for each seed, made now where the cache has none. Raises NotMade."""
    out = cache_folder()
    names = [f"{recipe}@{seed}" for seed in seeds]
    if missing := [name for name in names if not (out / name).exists()]:
        _make(out, missing)
    return [out / name for name in names]


def _wanted_with(family: Family) -> list[str]:
    """A tiny one brings all tiny ones: importing transformers takes most of the time."""
    together = FAMILIES.values() if family.name in FAMILIES else (family,)
    return sorted({recipe for one in together for recipe in one.recipes()})


def cache_folder() -> Path:
    """Of this checkout's recipes."""
    made_from = hashlib.sha256(venv.digest().encode())
    sources = [*sorted((venv.SOURCES / "recipes").glob("*.py")), PAYLOAD_SHAPES]
    for source in sources:
        made_from.update(source.read_bytes())
    return venv.cache_folder() / "models" / made_from.hexdigest()


def _version(family: Family, out: Path, name: str) -> Version:
    draft = family.speculation.recipe if family.speculation else None
    return Version(family, out / family.recipe / name, out / draft / name if draft else None)


def _make(out: Path, recipes: list[str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    python = venv.python()
    done = subprocess.run(
        [str(python), "-m", "realvllm.make", str(out), *recipes],
        env={**os.environ, "PYTHONPATH": str(TESTS), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotMade(f"{' '.join(recipes)}\n{done.stderr[-4000:]}")
