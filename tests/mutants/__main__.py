"""`python -m mutants [NAME...]`: apply each mutant to a copy, run its tests, print what went red."""

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mutants.catalogue import MUTANTS, Mutant

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = Path("operator/weightrollout")
COPIED: Final = ("operator", "tests", "crds", "proto", "pyproject.toml")
#: A mutant may make a test wait for its own deadline.
LONGEST_S: Final = 600.0
RED: Final = re.compile(r"^(?:FAILED|ERROR) tests/(\S.*?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Result:
    mutant: Mutant
    red: str  # first test that saw it; "" when it survived
    said: str


def apply(mutant: Mutant, tree: Path) -> None:
    path = tree / PACKAGE / mutant.file
    text = path.read_text()
    assert text.count(mutant.old) == 1, f"{mutant.name}: its text is not once in {mutant.file}"
    path.write_text(text.replace(mutant.old, mutant.new))


def run(mutant: Mutant, tree: Path) -> Result:
    """The tree is as it was when this returns."""
    path = tree / PACKAGE / mutant.file
    before = path.read_bytes()
    apply(mutant, tree)
    try:
        tests = [f"tests/{each}" for each in mutant.tests]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "--no-header",
            "-p",
            "no:cacheprovider",
        ]
        environment = os.environ | {"PYTHONPATH": str(tree / "operator")}
        ended = subprocess.run(
            [*command, *tests],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    finally:
        path.write_bytes(before)
    said = ended.stdout + ended.stderr
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"{mutant.name}: pytest could not run:\n{said[-3000:]}")
    found = RED.search(said)
    return Result(mutant, found[1] if found and ended.returncode == 1 else "", said)


def run_all(mutants: list[Mutant], workers: int) -> list[Result]:
    """Each worker has a copy of its own, made once."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees: queue.Queue[Path] = queue.Queue()
        for number in range(workers):
            trees.put(copy(Path(folder) / str(number)))

        def one(mutant: Mutant) -> Result:
            tree = trees.get()
            try:
                result = run(mutant, tree)
            finally:
                trees.put(tree)
            print(line(result), flush=True)
            return result

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, mutants))


def copy(tree: Path) -> Path:
    tree.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=ignored)
        else:
            shutil.copy2(source, tree / name)
    return tree


def line(result: Result) -> str:
    mutant = result.mutant
    seen = result.red.rpartition("/")[2] or "SURVIVED"
    return f"{mutant.invariant:3}  {mutant.name:<26}  {mutant.guard:<66}  {seen}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only these mutants")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    asked = parser.parse_args()
    mutants = [each for each in MUTANTS if not asked.names or each.name in asked.names]
    print(f"{'inv':>3}  {'mutant':<26}  {'guard that was removed':<66}  test that went red")
    survived = [each for each in run_all(mutants, asked.workers) if not each.red]
    for each in survived:
        print(f"SURVIVED: {each.mutant.name}: {', '.join(each.mutant.tests)}")
    print(f"{len(mutants) - len(survived)} of {len(mutants)} mutants were seen")
    return 1 if survived or not mutants else 0


if __name__ == "__main__":
    raise SystemExit(main())
