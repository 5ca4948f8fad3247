"""A client in the Python that has vLLM, and what it said of each call."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from realvllm import venv
from toytrainer import TOKEN

PROGRAM: Final = Path(__file__).with_name("drive.py")
#: The import of vLLM alone takes half a minute on a busy machine.
ANSWERS_S: Final = 300.0
#: Trainers advertise the address that vLLM finds for them.
OF_VLLM: Final = {"VLLM_NO_USAGE_STATS": "1", "VLLM_HOST_IP": "127.0.0.1"}


class TheyFailed(Exception):
    """In the client's own words."""


@dataclass
class Theirs:
    process: asyncio.subprocess.Process
    log: Path

    async def call(self, method: str, *arguments: Any) -> None:
        """Raises TheyFailed."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([method, arguments]).encode() + b"\n")
        await self.heard()

    async def heard(self) -> None:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), ANSWERS_S)
        assert line, f"it ended: {self.log.read_text()[-4000:]}"
        if error := json.loads(line)["error"]:
            raise TheyFailed(error)


@asynccontextmanager
async def theirs(folder: Path, kind: str, url: str, *arguments: str) -> AsyncIterator[Theirs]:
    """`url`: of the agent; the token goes into it, because their clients take nothing else."""
    with_token = url.replace("://", f"://trainer:{TOKEN.replace(' ', '%20')}@")
    log = folder / f"{kind}.log"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VLLM_"))}
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(str(venv.python()), str(PROGRAM), kind, with_token, *arguments),
            env={**kept, "no_proxy": "*", "HF_HUB_OFFLINE": "1", **OF_VLLM},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    try:
        they = Theirs(process, log)
        await they.heard()
        yield they
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
