"""docs/tutorial.md: whoever follows it sees what it shows. WEIGHTROLLOUT_UPDATE_DOCS=1 writes what came into the page."""

import asyncio
import io
import os
import sys
from contextlib import AsyncExitStack, redirect_stdout
from pathlib import Path

import pytest

from consoles import ANY, Shell, Shown, commands, difference, rewritten
from demo.ground import ROOT
from demo.playground import invite, open_ground
from demo.screen import Screen
from gobinary import BuildFailed
from localcluster.build import control_plane_binary, kubectl_binary
from localcluster.waiting import eventually
from tiers import unavailable

PAGE = ROOT / "docs" / "tutorial.md"
UPDATE = os.environ.get("WEIGHTROLLOUT_UPDATE_DOCS") == "1"
START = "make playground"
CLONE = "/src/weightrollout"  # what the page calls it
COMMAND_S = 120.0
SETTLED_S = 3.0  # a screen that is written into the page has stood as long


class Reader:
    """Does what the page says."""

    def __init__(self, shell: Shell, folder: Path) -> None:
        self._shell = shell
        self._names = {
            f" in {folder}": " in build/tutorial",
            str(folder): f"{CLONE}/build/tutorial",
            str(Path(sys.executable).parent): f"{CLONE}/.venv/bin",
            f"{os.pathsep}{kubectl_binary().parent}{os.pathsep}$PATH": f"{os.pathsep}$PATH",
        }

    def on_the_page(self, text: str) -> list[str]:
        for ours, shown in self._names.items():
            text = text.replace(ours, shown)
        return text.splitlines()

    async def run(self, command: str) -> list[str]:
        return self.on_the_page("\n".join(await self._shell.run(command, COMMAND_S)))

    async def follow(self, shown: Shown) -> list[str]:
        """What came in the end: whoever only looks, and looks too early, looks again."""
        came: list[str] = []

        async def as_shown() -> bool:
            nonlocal came
            before, came = came, await self.run(shown.command)
            wrong = difference(before, came) if UPDATE else difference(shown.output, came)
            assert not wrong, f"$ {shown.command}\n{wrong}"
            return True

        if only_looks(shown.command):
            await eventually(as_shown, COMMAND_S, "the page is true", SETTLED_S if UPDATE else 0.5)
        else:
            came = await self.run(shown.command)
        return newest(came) if " -w" in shown.command else came


def only_looks(command: str) -> bool:
    does = ("apply", "wait", "promote", "abort", "retry", "undo", "pause", "resume", " -w")
    return not any(word in command for word in does)


def newest(came: list[str]) -> list[str]:
    """The last screen of a watch; how many came before it is chance."""
    last = max((at for at, line in enumerate(came) if not line), default=-1)
    return [ANY, *came[last + 1 :]]


@pytest.mark.timeout(900)
async def test_every_command_of_the_tutorial_shows_what_the_page_shows(tmp_path: Path) -> None:
    try:
        await asyncio.to_thread(control_plane_binary)
    except BuildFailed as failed:
        unavailable(f"no cluster: the control plane could not be built: {failed}")
    page = await asyncio.to_thread(PAGE.read_text)
    start, *rest = commands(page)
    assert start.command == START
    printed = io.StringIO()
    outputs: list[list[str]] = []
    async with AsyncExitStack() as stack:
        with redirect_stdout(printed):
            screen = Screen()
            lines = await open_ground(stack, screen, tmp_path)
            invite(screen, lines)
        shell = await stack.enter_async_context(Shell(tmp_path, os.environ))
        for line in lines:
            assert await shell.run(line, COMMAND_S) == []
        reader = Reader(shell, tmp_path)
        outputs.append(reader.on_the_page(printed.getvalue()))
        for shown in rest:
            outputs.append(await reader.follow(shown))
    if UPDATE:
        await asyncio.to_thread(PAGE.write_text, rewritten(page, outputs))
        return
    for shown, came in zip((start, *rest), outputs, strict=True):
        wrong = difference(shown.output, came)
        assert not wrong, f"$ {shown.command}\n{wrong}"
