"""What the demo prints: one clock, one column, the lines of `kubectl get wr -w` as they come."""

import asyncio
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from once import PROGRESS_S

INDENT = " " * 11


class Screen:
    """Prints with the seconds since the demo began."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        print(f"[{self.seconds:5.1f} s]  {text}", flush=True)

    def scene(self, number: int, title: str) -> None:
        print(f"\n{INDENT}--- {number}. {title} ---", flush=True)

    def more(self, text: str) -> None:
        print(f"{INDENT}{text}", flush=True)

    @asynccontextmanager
    async def patience(self, text: str) -> AsyncIterator[None]:
        """Say `text` now and then while the block lasts."""

        async def tell() -> None:
            while True:
                await asyncio.sleep(PROGRESS_S)
                self.say(text)

        teller = asyncio.create_task(tell())
        try:
            yield
        finally:
            teller.cancel()


class Watch:
    """`kubectl get wr -w` beside the scenes; its lines go to the screen."""

    def __init__(self, screen: Screen, kubeconfig: Path, namespace: str) -> None:
        self._screen = screen
        self._argv = (
            "kubectl",
            f"--kubeconfig={kubeconfig}",
            f"--namespace={namespace}",
            "get",
            "wr",
            "-w",
        )
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._argv, stdout=PIPE, stderr=DEVNULL
        )
        self._reader = asyncio.create_task(self._print(self._process))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        assert self._reader is not None
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()
        await self._reader

    async def _print(self, process: Process) -> None:
        assert process.stdout is not None
        shown = ""
        async for line in process.stdout:
            text = line.decode().rstrip()
            news = text.rsplit(maxsplit=1)[0]  # an age alone is none
            if news != shown:
                self._screen.say(text)
            shown = news


async def run(screen: Screen, kubeconfig: Path, namespace: str, *command: str) -> None:
    """Run one of our commands as a user would and show what it prints."""
    screen.say(f"$ {' '.join(command)}")
    where = (f"--kubeconfig={kubeconfig}", f"--namespace={namespace}")
    program = str(Path(sys.executable).with_name("kubectl-weightrollout"))
    process = await asyncio.create_subprocess_exec(program, *command[2:], *where, stdout=PIPE)
    printed, _ = await process.communicate()
    for line in printed.decode().splitlines():
        screen.more(line)


def fail(text: str) -> None:
    print(f"\nThe demo did not end as it should: {text}", file=sys.stderr, flush=True)
