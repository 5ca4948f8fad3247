"""Pages whose console blocks are true: each command is run, and what came is compared with what the page shows.

A block is fenced as ```console; a line with `$ ` is a command, what follows is shown of its output. A line `...` stands for
any lines. PLACEHOLDERS is all that may differ besides, and the width of columns.
"""

import asyncio
import difflib
import re
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

PROMPT: Final = "$ "
ANY: Final = "..."
_DONE: Final = "--- the command has ended ---"

#: What may differ from run to run.
PLACEHOLDERS: Final[Mapping[str, str]] = {
    r"\[ *\d+\.\d s\]": "[TIME]",
    r"\d+ min \d+ s\b|\d+ (s|min|h)\b": "TIME",
    r"\b\d+m\d+s\b|\b\d+[smh]\b": "TIME",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ": "TIME",
    r"\b\d+ ms\b": "MILLISECONDS",
    r"([A-Z]\w+ +\d+/\d+ +(?:[A-Z]\w+ +)?)\d+( +)TIME$": r"\1MILLISECONDS\2TIME",  # of `kubectl get wr`
    r"\bchat-[0-9a-f]{10}\b": "chat-HASH",
}


@dataclass(frozen=True)
class Shown:
    """One command of a page. `first` to `last`: the lines of its output there, the last one not included."""

    command: str
    output: tuple[str, ...]
    first: int
    last: int


def commands(page: str) -> Iterator[Shown]:
    """In order."""
    lines = page.splitlines()
    inside, at = False, 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith(PROMPT):
            first = at
            while not lines[at].startswith((PROMPT, "```")):
                at += 1
            yield Shown(line.removeprefix(PROMPT), tuple(lines[first:at]), first, at)


def rewritten(page: str, outputs: Sequence[Sequence[str]]) -> str:
    """The page with these outputs, one for each of its commands."""
    lines = page.splitlines()
    for shown, output in reversed(list(zip(commands(page), outputs, strict=True))):
        lines[shown.first : shown.last] = output
    return "\n".join(lines) + "\n"


def difference(shown: Sequence[str], came: Sequence[str]) -> str:
    """ "": they are the same but for PLACEHOLDERS."""
    expected, found = list(map(_plain, shown)), list(map(_plain, came))
    pattern = "".join(
        r"(?:.*\n)*?" if line == ANY else re.escape(line) + r"\n" for line in expected
    )
    if re.fullmatch(pattern, "".join(f"{line}\n" for line in found)):
        return ""
    return "\n".join(difflib.unified_diff(expected, found, "the page", "what came", lineterm=""))


def _plain(line: str) -> str:
    for pattern, name in PLACEHOLDERS.items():
        line = re.sub(pattern, name, line)
    return re.sub(r" {2,}", "  ", line.rstrip())


class Shell:
    """One bash for a whole page, so that `cd` and `export` hold. Its output and its errors come as one."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._process: Process | None = None

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            "bash", stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=self._folder, env=self._environment
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def run(self, command: str, deadline_s: float) -> list[str]:
        """The lines that came. TimeoutError: it did not end in time, and nor will the next."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command} < /dev/null\necho '{_DONE}'\n".encode())
        lines: list[str] = []
        async with asyncio.timeout(deadline_s):
            while (line := (await self._process.stdout.readline()).decode().rstrip("\n")) != _DONE:
                assert self._process.returncode is None, f"the shell has ended: {lines}"
                lines.append(line)
        return lines
