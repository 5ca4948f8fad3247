"""Run a simulated engine as a process of its own, on free ports, and never leave it behind.

async with engine_process(model=folder, handover=..., staging=..., token_seconds=0.001) as engine:
    engine.grpc_target, engine.http_url, engine.pid, engine.kill(), await engine.restart()
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp

from ports import kept_ports

TESTS: Final = Path(__file__).resolve().parent.parent
START_S: Final = 30.0
EXIT_S: Final = 10.0
ASK_S: Final = 5.0

Flag = str | Path | int | float | bool | None


class EngineNotStarted(Exception):
    """With what it printed."""


@dataclass(slots=True)
class EngineProcess:
    arguments: tuple[str, ...]
    address: str  # a 127.x address
    http_port: int
    grpc_port: int
    sidecar: str = ""  # HOST:PORT of Dynamo's; "" for none
    instance: str = ""
    _process: asyncio.subprocess.Process | None = None
    _errors: asyncio.Task[bytes] | None = field(default=None, repr=False)

    @property
    def http_url(self) -> str:
        return f"http://{self.address}:{self.http_port}"

    @property
    def grpc_target(self) -> str:
        return f"{self.address}:{self.grpc_port}"

    @property
    def pid(self) -> int:
        return self._running().pid

    async def start(self, *, deadline_s: float = START_S) -> None:
        """Start it and wait until it serves; a restart keeps its ports."""
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "simulator", *self.arguments),
            *("--http", f"{self.address}:{self.http_port}"),
            *("--grpc", f"{self.address}:{self.grpc_port}"),
            env={**os.environ, "PYTHONPATH": _python_path()},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._errors = asyncio.create_task(self._process.stderr.read())
        line = await asyncio.wait_for(self._process.stdout.readline(), deadline_s)
        if not line:
            raise EngineNotStarted((await self._errors).decode())
        self.instance = json.loads(line)["instance"]

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        if self._running().returncode is None:
            self._running().send_signal(signal_number)

    async def exit_code(self, *, deadline_s: float = EXIT_S) -> int:
        """Wait for its end; negative: the signal that ended it."""
        return await asyncio.wait_for(self._running().wait(), deadline_s)

    async def errors(self) -> str:
        """What it wrote to stderr; waits for its end."""
        assert self._errors is not None
        return (await self._errors).decode()

    async def restart(self, *, deadline_s: float = START_S) -> None:
        """As a kubelet does: kill what still runs, start again at the same address."""
        await self.stop()
        await self.start(deadline_s=deadline_s)

    async def stop(self) -> None:
        if self._process is None:
            return
        self.kill()
        await self.exit_code()
        if self._errors is not None:
            await self._errors

    async def state(self) -> dict[str, Any]:
        async with self._session() as session, session.get("/simulator/state") as response:
            body: dict[str, Any] = await response.json()
            return body

    async def set_faults(self, *faults: dict[str, Any]) -> None:
        """Replace all faults; see `simulator.faults`."""
        async with (
            self._session() as session,
            session.post("/simulator/faults", json=list(faults)) as response,
        ):
            if response.status != 200:
                raise ValueError(await response.text())

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(self.http_url, timeout=aiohttp.ClientTimeout(total=ASK_S))

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the engine was not started")
        return self._process


@asynccontextmanager
async def engine_process(
    *, model: Path, address: str = "127.0.0.1", sidecar: bool = False, **flags: Flag
) -> AsyncIterator[EngineProcess]:
    """A serving engine, behind the double of Dynamo's sidecar or not. `flags` are those of the simulator, with underscores."""
    with kept_ports(3, address=address) as (http, grpc, beside):
        words = ("--model", str(model), *arguments(flags))
        engine = EngineProcess(words, address, http, grpc)
        if sidecar:
            engine.sidecar = f"{address}:{beside}"
            engine.arguments += ("--sidecar", engine.sidecar)
        try:
            await engine.start()
            yield engine
        finally:
            await engine.stop()


def arguments(flags: dict[str, Flag]) -> list[str]:
    """The command line of an engine started with these flags."""
    words: list[str] = []
    for name, value in flags.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words += [flag, str(value)]
    return words


def _python_path() -> str:
    return os.pathsep.join((str(TESTS.parent / "operator"), str(TESTS)))
