"""What a page of the documentation tells its reader to type, as it stands there."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
#: Fences inside lists are indented.
FENCE: Final = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


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
