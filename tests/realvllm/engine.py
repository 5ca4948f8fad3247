"""Run a real vLLM on loopback for as long as a block lasts, and leave no process of it.

async with engine(folder, Launch(model=checkpoint, handover=..., staging=...)) as running:
    running.http_url, running.grpc_target, running.pid, running.kill(), await running.restart()

A start takes 25 to 120 s and 2 GB: start few, ask each a lot.
"""

from __future__ import annotations

import asyncio
import os
import signal
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import aiohttp

from localcluster.processes import Command, Process, log_tail, start_process
from ports import kept_ports
from realvllm import leftovers, venv
from realvllm.launch import ADDRESS, Frontend, Launch, Ports, arguments, environment
from realvllm.leftovers import Watch
from realvllm.plugins import installed, write_folder

START_S: Final = 900.0  # seen: 24 s alone, 116 s with three others on two cores, 350 s where 20 processes wanted those
ASK_S: Final = 5.0
GRACE_S: Final = 15.0  # of SIGTERM; the engine core of a tiny model ends in 2 to 6 s
EXIT_S: Final = 60.0  # after a signal; the engine core is torn down first
LOG_LINES: Final = 60
MARK: Final = "REALVLLM_ENGINE"


class EngineNotStarted(Exception):
    """It ended, or did not serve in time; the message has the end of its log."""


class ProcessesLeft(AssertionError):
    """Something of an engine outlived it, SIGKILL included."""


@dataclass
class RealEngine:
    """A `vllm serve` with all it started. Ports stay the same over a restart."""

    launch: Launch
    ports: Ports
    log: Path
    plugins: Path
    mark: str
    _process: Process | None = field(default=None, repr=False)
    _watch: Watch | None = field(default=None, repr=False)

    @property
    def http_url(self) -> str:
        """Of the OpenAI routes."""
        return f"http://{ADDRESS}:{self.ports.http}"

    @property
    def grpc_target(self) -> str:
        """Of vllm.Control; nobody listens there with the Python frontend."""
        return f"{ADDRESS}:{self.ports.grpc}"

    @property
    def pid(self) -> int:
        """Of the process that a kubelet would have started."""
        return self._running().pid

    async def start(self, *, deadline_s: float = START_S) -> None:
        """Start and wait until it answers. EngineNotStarted has the end of the log."""
        ours = environment(self.launch, self.plugins, venv.cache_folder() / "vllm-cache")
        name, _, value = self.mark.partition("=")
        command = (str(venv.python()), "-m", "vllm.entrypoints.cli.main")
        self._process = start_process(
            Command(
                (*command, *arguments(self.launch, self.ports)),
                {**ours, name: value},
                self.log,
            )
        )
        self._watch = Watch.over(self.pid, self.mark)
        try:
            async with asyncio.timeout(deadline_s):
                await self._serves()
        except TimeoutError:
            raise EngineNotStarted(f"not within {deadline_s:g} s\n{self.log_tail()}") from None

    async def _serves(self) -> None:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ASK_S)) as session:
            while not await self._answers(session):
                if (code := self._running().exit_code) is not None:
                    raise EngineNotStarted(f"ended with {code}\n{self.log_tail()}")
                await asyncio.sleep(0.1)

    async def _answers(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with session.get(f"{self.http_url}/health") as response:
                if response.status != 200:
                    return False
            if self.launch.frontend is Frontend.RUST:
                _, writer = await asyncio.open_connection(ADDRESS, self.ports.grpc)
                writer.close()
                await writer.wait_closed()
        except (aiohttp.ClientError, TimeoutError, OSError):
            return False
        return True

    def log_tail(self, lines: int = LOG_LINES) -> str:
        """What it printed last."""
        return log_tail(self.log, lines)

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        """Signal the first process only; what it leaves alone is part of what is tested."""
        self._running().signal(signal_number)

    def kill_one(self, name: str) -> int:
        """SIGKILL to one process that has `name` in its command line; its id. LookupError: none has."""
        for pid in self.processes():
            with suppress(OSError):
                if name in Path(f"/proc/{pid}/cmdline").read_text():
                    os.kill(pid, signal.SIGKILL)
                    return pid
        raise LookupError(f"no process of the engine is a {name}")

    async def exit_code(self, *, deadline_s: float | None = EXIT_S) -> int:
        """Wait for the end of the first process; negative: the signal that ended it. None: for ever."""
        async with asyncio.timeout(deadline_s):
            return await self._running().wait()

    def processes(self) -> list[int]:
        """Ids of all that runs of it: workers, the engine core, the Rust frontend."""
        return leftovers.of(self.pid, self.mark)

    async def restart(self, *, deadline_s: float = START_S) -> None:
        """As a kubelet does: end what still runs, start again at the same address."""
        await self.stop()
        await self.start(deadline_s=deadline_s)

    async def stop(self) -> None:
        """End all of it. A second call finds nothing to do. ProcessesLeft if something survives."""
        if self._process is None or self._watch is None:
            return
        watch, self._watch = self._watch, None
        await self._process.stop(GRACE_S)
        await watch.release()
        if left := self.processes():
            raise ProcessesLeft(f"of the engine at {self.http_url}: {left}")

    def _running(self) -> Process:
        if self._process is None:
            raise RuntimeError("the engine was not started")
        return self._process


@asynccontextmanager
async def engine(
    folder: Path, launch: Launch, *, deadline_s: float = START_S
) -> AsyncIterator[RealEngine]:
    """A serving engine; its log and its plugin folder lie in `folder`, as do volumes that `launch` does not name."""
    launch = replace(
        launch,
        handover=launch.handover or folder / "handover",
        staging=launch.staging or folder / "staging",
    )
    for volume in (launch.handover, launch.staging):
        assert volume is not None
        volume.mkdir(parents=True, exist_ok=True)
    mark = f"{MARK}={uuid.uuid4().hex}"
    plugins = write_folder(folder / "plugins", installed())
    with kept_ports(2, address=ADDRESS) as (http, grpc):
        ports = Ports(http, grpc)
        running = RealEngine(launch, ports, folder / "engine.log", plugins, mark)
        try:
            await running.start(deadline_s=deadline_s)
            yield running
        finally:
            await running.stop()
