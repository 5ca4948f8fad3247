"""Run the sidecar as a process on free ports of loopback, and never leave it behind.

async with engine_behind_dynamo(model=folder, ...) as engine:
    engine.sidecar        # HOST:PORT of its system server
async with engine_process(...) as engine, sidecar(engine, "file") as folder:
    registered(folder)
"""

import asyncio
import re
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from localcluster.waiting import eventually
from simulator.process import EngineProcess, engine_process
from wheelmember import Member

#: docs/frontends.md names the version.
DYNAMO_RUNTIME: Final = Member(
    *("ai-dynamo-runtime", "1.6.1", "dynamo/_core.abi3.so"),
    sha256={"x86_64": "49b77fd5a676d08d0983869c5882dac53c794b67b7e5b6e0bea6cd2c5587ba9b"},
    wheel_mb=75,
    name="dynamo",
    kept_as="dynamo/_core.abi3.so",
)
ADDRESS: Final = "127.0.0.1"
START_S: Final = 30.0
#: What `python -m dynamo.vllm.sidecar` does, whose package adds logging and needs more of Dynamo.
_PROGRAM: Final = (
    "import sys; from dynamo._core import backend; backend._run_vllm_sidecar(sys.argv[1:])"
)
_BOUND: Final = re.compile(r"system status server bound to: (\S+:\d+)")
#: The last that it says when it has started; the routes were opened just before.
_OPEN: Final = "Registered endpoint 'dynamo.backend.rl'"


class SidecarNotStarted(Exception):
    """With what it printed."""


@asynccontextmanager
async def engine_behind_dynamo(*, model: Path, **flags: Any) -> AsyncIterator[EngineProcess]:
    """A serving simulated engine behind Dynamo's own sidecar. `flags` are those of the simulator."""
    async with engine_process(model=model, **flags) as engine, sidecar(engine):
        yield engine


def registered(folder: Path) -> bool:
    """Whether Dynamo would send the worker requests, with discovery by files."""
    instances = folder / "v1" / "instances"
    return any("%2Fgenerate%2F" in each.name for each in instances.iterdir())


@asynccontextmanager
async def sidecar(engine: EngineProcess, discovery: str = "mem") -> AsyncIterator[Path]:
    """In front of this engine; its folder, with discovery "file". There, but not in "mem", a second pause in a row is refused."""
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _PROGRAM, "--enable-rl", "--grpc-endpoint", engine.grpc_target),
            *("--discovery-backend", discovery, "--request-plane", "tcp", "--event-plane", "zmq"),
            env=_environment(Path(folder)),
            stdout=PIPE,
            stderr=STDOUT,
        )
        assert process.stdout is not None
        said: list[str] = []
        reader = asyncio.create_task(_read(process.stdout, said))
        try:
            await eventually(
                partial(_ready, process, said, engine), START_S, "Dynamo's sidecar is ready"
            )
            yield Path(folder)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            await reader


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": str(DYNAMO_RUNTIME.fetched().parent.parent),
        "DYN_SYSTEM_HOST": ADDRESS,
        "DYN_SYSTEM_PORT": "0",  # any: a number above 32767 is none, for it
        "DYN_TCP_RPC_HOST": ADDRESS,
        "DYN_FILE_KV": str(folder),
        "DYN_LOG": "info",
        # No publisher of events, which would listen on every address: it warns, and goes on.
        "DYN_ZMQ_BROKER_URL": "none",
    }


async def _read(output: asyncio.StreamReader, said: list[str]) -> None:
    while line := await output.readline():
        said.append(line.decode(errors="replace"))


def _ready(process: Process, said: list[str], engine: EngineProcess) -> bool:
    """Whether its routes are open; then also where. Its /health says so before they are."""
    text = "".join(said)
    if process.returncode is not None:
        raise SidecarNotStarted(text)
    bound = _BOUND.search(text)
    if bound is None or _OPEN not in text:
        return False
    engine.sidecar = bound[1]
    return True
