"""What a page of the documentation tells its reader to type, as it stands there."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
#: Fences inside lists are indented.
FENCE: Final = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
LINE_S: Final = 60.0
KUBECTL: Final = '#!/bin/sh\nshift && exec kubectl-weightrollout "$@"\n'


@dataclass(frozen=True, slots=True)
class Fence:
    language: str  # "": none is said, as of what is typed into a shell
    text: str


def pages() -> list[Path]:
    return sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fences(text: str) -> Iterator[Fence]:
    """In order, without what indents them."""
    for indent, language, inside in FENCE.findall(text):
        yield Fence(language, re.sub(f"^{indent}", "", inside, flags=re.MULTILINE))


def typed(page: str) -> list[str]:
    """The shell blocks of a page below docs/, each as one text."""
    return [each.text for each in fences((DOCS / page).read_text()) if not each.language]


def block(page: str, about: str) -> str:
    """The one shell block of a page below docs/ that has this in it."""
    [found] = [each for each in typed(page) if about in each]
    return found


@dataclass(frozen=True, slots=True)
class Reader:
    """Types into a shell what a page says; has our plugin, in a folder with the weights `step-1200`."""

    folder: Path

    @classmethod
    def in_folder(cls, folder: Path) -> "Reader":
        """With a kubectl that knows our plugin and nothing else."""
        kubectl = folder / "bin" / "kubectl"
        kubectl.parent.mkdir()
        kubectl.write_text(KUBECTL)
        kubectl.chmod(0o755)
        return cls(folder)

    @property
    def weights(self) -> Path:
        return self.folder / "step-1200"

    def types(self, block: str, **environment: str) -> list[str]:
        """The lines that came. `block`: of a page, with what it names as a place replaced."""
        places = [self.folder / "bin", Path(sys.executable).parent, os.environ["PATH"]]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block],
            cwd=self.folder,
            env={**os.environ, **environment, "PATH": os.pathsep.join(map(str, places))},
            capture_output=True,
            text=True,
            timeout=LINE_S,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
        return done.stdout.splitlines()


def commands(text: str, program: str) -> Iterator[list[str]]:
    """The words of each call of `program` in the shell blocks of a page, up to what ends a command."""
    for fence in fences(text):
        if fence.language not in ("", "console"):
            continue
        for line in fence.text.replace("\\\n", " ").splitlines():
            yield from _calls(line.removeprefix("$ "), program.split())


def _calls(line: str, program: list[str]) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # prose, or one line of several
        return
    for at in range(len(words)):
        if words[at : at + len(program)] == program:
            rest = words[at + len(program) :]
            end = next((n for n, word in enumerate(rest) if set(word) <= set("|&;<>()")), len(rest))
            yield rest[:end]
