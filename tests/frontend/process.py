"""Run the frontend and its scripted cores as processes on free ports, and never leave them behind.

async with frontend_process(model=folder, cores=2) as engine:
    engine.grpc_target, engine.http_url, engine.kill(), await engine.restart()
    engine.play(0, Script(fails={"set_weight_version": "disk full"}))
"""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from frontend import script
from frontend.binary import frontend_binary
from frontend.script import Script
from frontend.serve_cores import PID_FILE
from frontend.tokenizer import write_tokenizer
from ports import kept_ports
from simulator.process import Flag, arguments

TESTS: Final = Path(__file__).resolve().parent.parent
ADDRESS: Final = "127.0.0.1"
START_S: Final = 30.0
EXIT_S: Final = 15.0
GONE_S: Final = 0.01
_HTTP: Final = re.compile(r'OpenAI server is ready.*bind_address="[^"]*:(\d+)"')
_GRPC: Final = re.compile(r"gRPC server is ready.*addr=\S*:(\d+)")


class FrontendNotStarted(Exception):
    """With what it printed."""


@dataclass(slots=True)
class FrontendProcess:
    """`vllm-rs serve` and one process with all of its cores."""

    model: Path
    folder: Path  # scripts, the command that starts the cores, the sockets between them
    flags: tuple[str, ...]  # of the simulator, for every core
    options: tuple[str, ...]  # of vllm-rs
    managed: bool  # vllm-rs starts the cores and ends with them; else they are started beside it
    cores: int
    http_port: int
    grpc_port: int
    rendezvous: int  # of the frontend and its cores
    environment: Mapping[str, str] = field(default_factory=dict)  # of the frontend
    _frontend: asyncio.subprocess.Process | None = None
    _beside: asyncio.subprocess.Process | None = None
    _reader: asyncio.Task[None] | None = field(default=None, repr=False)
    _said: list[str] = field(default_factory=list, repr=False)

    @property
    def http_url(self) -> str:
        return f"http://{ADDRESS}:{self.http_port}"

    @property
    def grpc_target(self) -> str:
        return f"{ADDRESS}:{self.grpc_port}"

    def play(self, rank: int, what: Script) -> None:
        """From its next call on, core `rank` follows this script."""
        what.write(script.path(self.folder, rank))

    async def start(self, *, deadline_s: float = START_S) -> None:
        """Start both and wait until it serves; a restart keeps its ports."""
        command = self._write_command()
        self._said.clear()
        self._frontend = await asyncio.create_subprocess_exec(
            *(str(frontend_binary()), "serve", str(self.model)),
            *("--tokenizer", str(write_tokenizer(self.folder / "tokenizer"))),
            *("--host", ADDRESS, "--port", str(self.http_port), "--grpc-port", str(self.grpc_port)),
            *(
                "--data-parallel-size",
                str(self.cores),
                "--data-parallel-rpc-port",
                str(self.rendezvous),
            ),
            *(("--python", str(command)) if self.managed else ("--data-parallel-size-local", "0")),
            *self.options,
            env=self._environment(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        serving = asyncio.Event()
        self._reader = asyncio.create_task(self._read(self._frontend, serving))
        if not self.managed:
            self._beside = await asyncio.create_subprocess_exec(
                str(command),
                *("--data-parallel-rpc-port", str(self.rendezvous)),
                *("--data-parallel-size", str(self.cores)),
            )
        await self._until(serving, deadline_s)

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        """What a kubelet kills: the frontend. Its cores follow it."""
        if self._running().returncode is None:
            self._running().send_signal(signal_number)

    def kill_cores(self) -> None:
        os.kill(self._pid_of_cores(), signal.SIGKILL)

    async def exit_code(self, *, deadline_s: float = EXIT_S) -> int:
        """Wait for the end of the frontend and its cores; negative: the signal that ended it."""
        code = await asyncio.wait_for(self._running().wait(), deadline_s)
        async with asyncio.timeout(deadline_s):
            if self._beside is not None:
                await self._beside.wait()
            await self._cores_gone()
        return code

    async def errors(self) -> str:
        """What it wrote; waits for its end."""
        if self._reader is not None:
            await self._reader
        return "".join(self._said)

    async def restart(self, *, deadline_s: float = START_S) -> None:
        """As a kubelet does: kill what still runs, start again at the same address."""
        await self.stop()
        await self.start(deadline_s=deadline_s)

    async def stop(self) -> None:
        if self._frontend is None:
            return
        self.kill()
        if self._beside is not None and self._beside.returncode is None:
            self._beside.kill()
        await self.exit_code()
        await self.errors()

    async def _until(self, serving: asyncio.Event, deadline_s: float) -> None:
        assert self._reader is not None
        waiter = asyncio.create_task(serving.wait())
        await asyncio.wait(
            {waiter, self._reader}, timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED
        )
        waiter.cancel()
        if not serving.is_set():
            raise FrontendNotStarted("".join(self._said))

    async def _read(self, process: asyncio.subprocess.Process, serving: asyncio.Event) -> None:
        """Everything it says, so that it never blocks."""
        assert process.stdout is not None
        http = grpc = None
        async for line in process.stdout:
            text = line.decode(errors="replace")
            self._said.append(text)
            http, grpc = _HTTP.search(text) or http, _GRPC.search(text) or grpc
            if http and grpc and not serving.is_set():
                serving.set()

    def _write_command(self) -> Path:
        """What stands for `python` where the frontend starts vLLM: the cores, with our flags."""
        path = self.folder / "cores.sh"
        ours = ("--model", str(self.model), *self.flags, "--scripts", str(self.folder))
        words = shlex.join((sys.executable, "-m", "frontend.serve_cores", *ours))
        python_path = os.pathsep.join((str(TESTS.parent / "operator"), str(TESTS)))
        path.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(python_path)} exec {words} -- "$@"\n')
        path.chmod(0o755)
        return path

    def _environment(self) -> Mapping[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("VLLM_")}
        quiet = {"NO_COLOR": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
        return {**kept, **quiet, "TMPDIR": str(self.folder), **self.environment}

    async def _cores_gone(self) -> None:
        """Orphans end as zombies until the init process takes them: those are gone too."""
        while True:
            try:
                status = Path(f"/proc/{self._pid_of_cores()}/stat").read_text()
            except (ProcessLookupError, FileNotFoundError):
                return
            if status.rpartition(")")[2].split()[0] == "Z":
                return
            await asyncio.sleep(GONE_S)

    def _pid_of_cores(self) -> int:
        return int((self.folder / PID_FILE).read_text())

    def _running(self) -> asyncio.subprocess.Process:
        if self._frontend is None:
            raise RuntimeError("the frontend was not started")
        return self._frontend


@asynccontextmanager
async def frontend_process(
    *,
    model: Path,
    cores: int = 1,
    unmanaged: bool = False,
    drain_seconds: float = 0.0,
    options: Sequence[str] = (),
    scripts: Sequence[Script] = (),
    environment: Mapping[str, str] | None = None,
    **flags: Flag,
) -> AsyncIterator[FrontendProcess]:
    """A serving frontend. `flags` are those of the simulator, `scripts` by rank; `environment` is vllm-rs' own."""
    # A short path: unix sockets live in it.
    folder = Path(tempfile.mkdtemp(prefix="vllm-rs-"))
    if drain_seconds:
        options = (*options, "--shutdown-timeout", f"{drain_seconds:.0f}")
        flags["drain_seconds"] = drain_seconds
    with kept_ports(3, address=ADDRESS) as (http, grpc, rendezvous):
        engine = FrontendProcess(
            *(model, folder, tuple(arguments(flags)), tuple(options), not unmanaged, cores),
            *(http, grpc, rendezvous, environment or {}),
        )
        try:
            for rank, what in enumerate(scripts):
                engine.play(rank, what)
            await engine.start()
            yield engine
        finally:
            await engine.stop()
            shutil.rmtree(folder, ignore_errors=True)
