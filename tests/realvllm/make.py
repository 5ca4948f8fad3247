"""Command, for vLLM's Python: `python -m realvllm.make OUT RECIPE...` writes OUT/RECIPE/a and OUT/RECIPE/b.

With RECIPE@SEED it writes that one checkpoint, OUT/RECIPE@SEED.

A recipe appears whole or not at all, and one that is there is left alone. `realvllm.families` runs this where it is needed.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from realvllm.recipes import RECIPES

SEEDS: Final = {"a": 1, "b": 2}


def make(out: Path, name: str) -> None:
    """Write what `name` asks for. Raises KeyError for a recipe that is none."""
    finished, unfinished = out / name, out / f".{name}.{os.getpid()}"
    if finished.exists():
        return
    recipe, _, one = name.partition("@")
    for version, seed in ({".": int(one)} if one else SEEDS).items():
        target = unfinished / version
        target.mkdir(parents=True)
        RECIPES[recipe](target, seed)
    try:
        unfinished.replace(finished)
    except OSError:  # another process was faster, with the same content
        shutil.rmtree(unfinished)


if __name__ == "__main__":
    for wanted in sys.argv[2:]:
        make(Path(sys.argv[1]), wanted)
        print(wanted, flush=True)
