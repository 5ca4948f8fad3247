"""Files of a checkout that are made from the code: written, or compared. Not for the wheel.

Each maker is a program of its own, `python -m weightrollout.api.generate` and so on, with `--write` and `--check`.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"

#: What is made: text by file.
Made = Callable[[], Mapping[Path, str]]


def drifted(made: Made) -> list[Path]:
    """Files that are not what the code says, relative to the checkout."""
    return [
        path.relative_to(ROOT)
        for path, text in made().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main(made: Made, arguments: Sequence[str]) -> int:
    """The exit code: 1 for a file that differs, 2 for wrong usage."""
    match list(arguments):
        case ["--write"]:
            for path, text in made().items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        case ["--check"]:
            for path in (differing := drifted(made)):
                sys.stderr.write(f"{path} differs from the code: run 'make generate'\n")
            return 1 if differing else 0
        case _:
            sys.stderr.write("give --write or --check\n")
            return 2
    return 0
