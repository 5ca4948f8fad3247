"""An engine under test, whatever it is: the wire, the plugin's volumes, and how to stop it.

Everything here is public behaviour, so that the same suite can be pointed at a real vLLM; `subjects`
says at what.
"""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import aiohttp
import grpc.aio
from google.protobuf.message import Message

from contract.staged import stage
from contract.subjects import Process, Subject
from simulator.process import EngineProcess, Flag, engine_process
from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import EngineError, EngineUnreachable
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.engine.vllm_http import VllmHttp
from weightrollout.handover import files, records
from weightrollout.handover.records import EngineReport, InitInfo, Prepared, Receipt, UpdateInfo

Answer = TypeVar("Answer", bound=Message)
Record = TypeVar("Record")
Under = TypeVar("Under", bound="EngineUnderTest")

CALL_S: Final = 10.0
TOKEN_S: Final = 0.002
POLL_S: Final = 0.005
_transactions = itertools.count(1)


@dataclass(slots=True)
class EngineUnderTest:
    process: Process
    handover: Path
    staging: Path
    control: VllmGrpc
    inference: VllmHttp
    channel: grpc.aio.Channel
    http: aiohttp.ClientSession

    # Weights, as an agent would bring them.

    def reports(self) -> list[EngineReport]:
        first = _read(EngineReport, files.report(self.handover, 0))
        others = range(1, first.world_size)
        return [first, *(_read(EngineReport, files.report(self.handover, r)) for r in others)]

    def staged(self, checkpoint: Path) -> InitInfo:
        """Put an image of `checkpoint` on the staging volume under a new transaction."""
        plans = [report.plan for report in self.reports()]
        return stage(checkpoint, plans, self.staging, txn=f"uid/1/pod/{next(_transactions)}")

    async def prepare(self, info: InitInfo) -> Prepared:
        """Init, and wait for what rank 0 says of it."""
        await self.control.init_transfer(records.dumps(info), deadline_s=CALL_S)
        path = files.prepared(self.handover, info.txn, 0)

        async def written() -> bool:
            return path.exists()

        await eventually(written, what="prepared file")
        return _read(Prepared, path)

    async def update(self, info: InitInfo, *, deadline_s: float = CALL_S) -> None:
        payload = records.dumps(UpdateInfo(info.txn, info.digest))
        await self.control.update(payload, deadline_s=deadline_s)

    async def transfer(self, checkpoint: Path, version: str | None) -> InitInfo:
        """All of a swap but pause and resume."""
        info = self.staged(checkpoint)
        prepared = await self.prepare(info)
        assert prepared.ok, prepared.message
        await self.control.start_update(deadline_s=CALL_S)
        await self.update(info)
        await self.control.finish_update(version, deadline_s=CALL_S)
        return info

    async def swap(self, checkpoint: Path, version: str) -> InitInfo:
        await self.pause(PauseMode.KEEP)
        info = await self.transfer(checkpoint, version)
        await self.resume()
        return info

    def receipt(self, info: InitInfo, rank: int = 0) -> Receipt:
        return _read(Receipt, files.receipt(self.handover, info.txn, rank))

    # Shorthands.

    async def restart(self) -> None:
        """Kill it, start it again, wait until it answers at the old address."""
        await self.process.restart()

        async def answers() -> bool:
            try:
                return bool(await self.control.info(deadline_s=CALL_S))
            except EngineUnreachable:
                return False

        await eventually(answers, what="engine answers after its restart")

    async def pause(self, mode: PauseMode = PauseMode.KEEP, *, clear_cache: bool = True) -> None:
        await self.control.pause(mode, clear_cache=clear_cache, deadline_s=CALL_S)

    async def resume(self) -> None:
        await self.control.resume(deadline_s=CALL_S)

    async def is_paused(self) -> bool:
        return await self.control.is_paused(deadline_s=CALL_S)

    async def complete(self, prompt: str, max_tokens: int = 6) -> str:
        return await self.inference.complete(prompt, max_tokens=max_tokens, deadline_s=CALL_S)

    async def busy(self) -> bool:
        return not (await self.inference.load(deadline_s=CALL_S)).idle

    async def call(
        self, name: str, request: Message, answer: type[Answer], *, deadline_s: float = CALL_S
    ) -> Answer:
        """A raw call, for what the adapter never sends. Raises grpc.aio.AioRpcError."""
        call: Any = self.channel.unary_unary(
            f"/vllm.Control/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        reply: Answer = await call(request, timeout=deadline_s)
        return reply

    async def stream(self, prompt: str, max_tokens: int) -> AsyncIterator[tuple[str, str | None]]:
        """Pieces of a completion as they arrive; the last one has the finish_reason."""
        model = self.reports()[0].model
        body = {"model": model, "prompt": prompt, "max_tokens": max_tokens, "stream": True}
        async with self.http.post("/v1/completions", json=body) as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                if line.startswith(b"data: {"):
                    choice = json.loads(line.removeprefix(b"data: "))["choices"][0]
                    yield choice["text"], choice.get("finish_reason")

    async def settle(self, checkpoint: Path) -> None:
        """Back to a resumed engine with an open session closed and `checkpoint` loaded."""
        await self.close_session()
        await self.swap(checkpoint, "settled")

    async def close_session(self) -> None:
        try:
            await self.control.finish_update(None, deadline_s=CALL_S)
        except EngineError:
            pass  # none was open


class Simulated(EngineUnderTest):
    """With what only the simulator tells: its state, and its faults."""

    process: EngineProcess


def started(
    subject: Subject, folder: Path, checkpoint: Path, **flags: Any
) -> AbstractAsyncContextManager[EngineUnderTest]:
    """An engine that serves `checkpoint`, with its volumes below `folder`."""
    return _connected(EngineUnderTest, subject.start, folder, checkpoint, flags)


def simulated(
    folder: Path, checkpoint: Path, **flags: Flag
) -> AbstractAsyncContextManager[Simulated]:
    """The simulator, where a test is about the simulator."""
    return _connected(Simulated, engine_process, folder, checkpoint, flags)


@asynccontextmanager
async def _connected(
    kind: type[Under],
    start: Callable[..., AbstractAsyncContextManager[Any]],
    folder: Path,
    checkpoint: Path,
    flags: dict[str, Any],
) -> AsyncIterator[Under]:
    handover, staging = folder / "handover", folder / "staging"
    flags = {"token_seconds": TOKEN_S, "handover": handover, "staging": staging, **flags}
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(start(model=checkpoint, **flags))
        control = VllmGrpc(process.grpc_target)
        stack.push_async_callback(control.close)
        inference = VllmHttp(process.http_url)
        stack.push_async_callback(inference.close)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(process.grpc_target))
        http = await stack.enter_async_context(aiohttp.ClientSession(process.http_url))
        yield kind(process, handover, staging, control, inference, channel, http)


async def eventually(
    holds: Callable[[], Awaitable[bool]], *, within_s: float = CALL_S, what: str = "condition"
) -> None:
    """Wait until `holds`; a test that waits for a fact never sleeps for a time."""
    ends = time.monotonic() + within_s
    while not await holds():
        assert time.monotonic() < ends, f"{what} did not come true within {within_s} s"
        await asyncio.sleep(POLL_S)


def _read(kind: type[Record], path: Path) -> Record:
    record = records.read(kind, path)
    assert record is not None, f"{path} is absent"
    return record
