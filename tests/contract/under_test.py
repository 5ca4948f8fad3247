"""An engine under test, whatever it is: the wire, its weights, and how to stop it.

Everything here is public behaviour, so that one suite is pointed at the simulator and at a real vLLM.
"""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import aiohttp
import grpc.aio
from google.protobuf.message import Message

from contract.weights import PlannedWeights, Weights
from simulator import answers
from simulator.process import EngineProcess, Flag, engine_process
from weightrollout.api.spec import PauseMode
from weightrollout.engine.dynamo import Dynamo
from weightrollout.engine.errors import EngineError, EngineUnreachable
from weightrollout.engine.protocol import Driven, PauseWay
from weightrollout.engine.rl_http import RlHttp
from weightrollout.engine.vllm_http import VllmHttp
from weightrollout.engine.vllm_lifecycle import VllmLifecycle
from weightrollout.handover.records import EngineReport, InitInfo, Prepared, Receipt

Answer = TypeVar("Answer", bound=Message)

#: Far longer than anything takes here: a real engine on a busy machine is slow, and that is no fault of it.
CALL_S: Final = 100.0
EXIT_S: Final = 100.0  # a real engine tears its workers down first
TOKEN_S: Final = 0.002
POLL_S: Final = 0.005
ROUND_TRIPS: Final = 50
NO_LOGPROBS: Final = "requested logprobs but generation returned none"


class Process(Protocol):
    """What a kubelet could do to an engine."""

    @property
    def grpc_target(self) -> str:
        """host:port of vllm.Control."""

    @property
    def http_url(self) -> str:
        """Of the OpenAI routes."""

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        """Signal the container's first process."""

    async def exit_code(self, *, deadline_s: float = EXIT_S) -> int:
        """Wait for its end."""

    async def restart(self) -> None:
        """End what runs, start again at the same address."""


@dataclass(slots=True)
class EngineUnderTest:
    process: Process
    weights: Weights
    control: Driven
    inference: VllmHttp
    channel: grpc.aio.Channel
    http: aiohttp.ClientSession
    words: bool = False  # its tokens are words; else ids

    @property
    def handover(self) -> Path:
        return self.weights.handover

    @property
    def staging(self) -> Path:
        return self.weights.staging

    @property
    def simulation(self) -> EngineProcess:
        """The simulator's own controls, for tests of the simulator."""
        assert isinstance(self.process, EngineProcess)
        return self.process

    # Weights, as an agent would bring them.

    def reports(self) -> list[EngineReport]:
        return self.weights.reports()

    def staged(self, checkpoint: Path, draft: Path | None = None) -> InitInfo:
        """Make `checkpoint` available to the engine under a new transaction; `draft`: of its draft, too."""
        return self.weights.staged(checkpoint, draft)

    async def prepare(self, info: InitInfo) -> Prepared:
        """Init, and wait for what rank 0 says of it."""
        payload = self.weights.init_payload(info)
        await self.control.init_transfer(payload, deadline_s=CALL_S)

        async def answered() -> bool:
            return self.weights.prepared(info) is not None

        await eventually(answered, what="prepared file")
        prepared = self.weights.prepared(info)
        assert prepared is not None
        return prepared

    async def update(self, info: InitInfo, *, deadline_s: float = CALL_S) -> None:
        await self.control.update(self.weights.update_payload(info), deadline_s=deadline_s)

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
        return self.weights.receipt(info, rank)

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

    async def pause_as(self, way: PauseWay, *, clear_cache: bool | None = None) -> None:
        await self.control.pause_as(way, clear_cache=clear_cache, deadline_s=CALL_S)

    async def wake_up(self, *tags: str) -> None:
        await self.control.wake_up(tags, deadline_s=CALL_S)

    async def sleep(self, level: int = 1, way: PauseWay = PauseWay.KEEP) -> None:
        await self.control.sleep(level, way, deadline_s=CALL_S)

    async def is_sleeping(self) -> bool:
        return await self.control.is_sleeping(deadline_s=CALL_S)

    async def resume(self) -> None:
        await self.control.resume(deadline_s=CALL_S)

    async def is_paused(self) -> bool:
        return await self.control.is_paused(deadline_s=CALL_S)

    async def complete(self, prompt: str, max_tokens: int = 6) -> str:
        return await self.inference.complete(prompt, max_tokens=max_tokens, deadline_s=CALL_S)

    async def hears(self) -> None:
        """Give what was sent a chance to arrive: nothing tells of a request that waits in a pause."""
        for _ in range(ROUND_TRIPS):
            await self.is_paused()

    async def busy(self) -> bool:
        """As its metrics have it, which stand still in a pause."""
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

    async def stream(
        self, prompt: str | list[int], max_tokens: int
    ) -> AsyncIterator[tuple[str, str | None]]:
        """Tokens of a greedy completion as they arrive, each with its finish_reason.

        The simulator's are words, whatever frontend is before it. A real engine's are ids ("token_id:67"), because bytes that
        are no text yet are held back.
        """
        body = {
            "model": await self.control.model(deadline_s=CALL_S),
            "prompt": prompt,
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            **({} if self.words else {"logprobs": 1, "return_tokens_as_token_ids": True}),
        }
        async with self.http.post("/v1/completions", json=body) as response:
            assert response.status == 200, await response.text()
            async for line in response.content:
                if line.startswith(b"data: {"):
                    event = json.loads(line.removeprefix(b"data: "))
                    if "error" in event:  # an aborted stream that asked for logprobs (seen in 0.32)
                        assert NO_LOGPROBS in event["error"]["message"]
                        yield "", "abort"
                        continue
                    for choice in event["choices"]:
                        for part in _parts(choice):
                            yield part

    async def tokens(self, prompt: str | list[int], max_tokens: int) -> list[str]:
        """A whole answer."""
        return [token async for token, _ in self.stream(prompt, max_tokens) if token]

    async def settle(self, checkpoint: Path) -> None:
        """Back to a living, resumed engine with an open session closed and `checkpoint` loaded."""
        if not await self._alive():
            await self.restart()
        self.weights.update_seconds = 0.0
        await self.close_session()
        await self.pause(PauseMode.ABORT)  # whose clients left, and nobody noticed
        await self.resume()
        await self.swap(checkpoint, "settled")

    async def close_session(self) -> None:
        try:
            await self.control.finish_update(None, deadline_s=CALL_S)
        except EngineError:
            pass  # none was open

    async def _alive(self) -> bool:
        try:
            await self.is_paused()
        except EngineError:
            return False
        return True


def _parts(choice: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The tokens of one event; how it ended rides on the last of them."""
    end: str | None = choice.get("finish_reason")
    said = choice.get("logprobs")
    tokens: list[str] = said["tokens"] if said else answers.pieces(choice["text"])
    if not tokens:
        return [("", end)] if end else []
    return [*((token, None) for token in tokens[:-1]), (tokens[-1], end)]


Adapter = Callable[[Process], Driven]


def by_grpc(process: Process) -> Driven:
    return VllmLifecycle(process.grpc_target)


def by_http(process: Process, token: Path | None = None) -> Driven:
    return RlHttp(process.http_url, token=token)


def by_dynamo(process: Process) -> Driven:
    assert isinstance(process, EngineProcess)
    return Dynamo(f"http://{process.sidecar}", process.grpc_target)


@asynccontextmanager
async def connected(
    process: Process, weights: Weights, adapter: Adapter = by_grpc, *, words: bool = False
) -> AsyncIterator[EngineUnderTest]:
    """A running engine with the clients that the suite asks it through."""
    async with AsyncExitStack() as stack:
        control = adapter(process)
        stack.push_async_callback(control.close)
        inference = VllmHttp(process.http_url)
        stack.push_async_callback(inference.close)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(process.grpc_target))
        http = await stack.enter_async_context(aiohttp.ClientSession(process.http_url))
        yield EngineUnderTest(process, weights, control, inference, channel, http, words)


@asynccontextmanager
async def planned(
    start: Callable[..., AbstractAsyncContextManager[Process]],
    folder: Path,
    checkpoint: Path,
    adapter: Adapter = by_grpc,
    **flags: Any,
) -> AsyncIterator[EngineUnderTest]:
    """An engine with the simulator's core that serves `checkpoint`, with its volumes below `folder`."""
    handover, staging = folder / "handover", folder / "staging"
    flags = {"token_seconds": TOKEN_S, "handover": handover, "staging": staging, **flags}
    weights = PlannedWeights(handover, staging)
    async with (
        start(model=checkpoint, **flags) as process,
        connected(process, weights, adapter, words=True) as engine,
    ):
        yield engine


def simulated(
    folder: Path, checkpoint: Path, **flags: Flag
) -> AbstractAsyncContextManager[EngineUnderTest]:
    """The simulator, where a test is about the simulator."""
    return planned(engine_process, folder, checkpoint, by_grpc, **flags)


async def eventually(
    holds: Callable[[], Awaitable[bool]], *, within_s: float = CALL_S, what: str = "condition"
) -> None:
    """Wait until `holds`; a test that waits for a fact never sleeps for a time."""
    ends = time.monotonic() + within_s
    while not await holds():
        assert time.monotonic() < ends, f"{what} did not come true within {within_s} s"
        await asyncio.sleep(POLL_S)
