"""One engine core: joins the frontend, answers its calls, sends tokens, and follows its script."""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import zmq
import zmq.asyncio

from frontend import messages, script, utilities
from frontend.messages import Call, Completion, Kind, Load
from frontend.script import Script
from frontend.utilities import Utilities
from frontend.workers import workers
from simulator.core import Closing, Core, Finish, GenerationPaused, Pause, Request
from simulator.death import CRASHED, die
from simulator.model import Model
from simulator.plugin import Plugin
from simulator.settings import REJECTS_WHILE_PAUSED_SINCE, Settings

LOAD_S: Final = 0.01  # how often a changed number of requests is told
LINGER_MS: Final = 100  # for what was sent last; its reader may be gone
FINISHES: Final = {Finish.LENGTH: messages.Finish.LENGTH, Finish.ABORT: messages.Finish.ABORT}


@dataclass(slots=True)
class Link:
    """The sockets of a core that has joined."""

    rank: int
    input: zmq.asyncio.Socket
    output: zmq.asyncio.Socket

    async def send(self, message: bytes) -> None:
        await self.output.send(message)


@dataclass(slots=True)
class EngineCore:
    core: Core
    utilities: Utilities
    link: Link
    script: Path
    _requests: dict[str, Request] = field(default_factory=dict)

    async def serve(self) -> None:
        """Until cancelled. A bug in one answer ends all, loudly."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.core.run())
            group.create_task(self._tell_load())
            while True:
                kind, data, *_ = await self.link.input.recv_multipart()
                match Kind(kind):
                    case Kind.ADD:
                        # Known before the next message is read, which may be its abort.
                        asked = messages.parse_completion(data)
                        if (request := await self._admitted(asked)) is not None:
                            group.create_task(self._complete(asked, request))
                    case Kind.ABORT:
                        self._abort(messages.parse_abort(data))
                    case Kind.UTILITY:
                        group.create_task(self._answer(messages.parse_call(data)))

    async def sent(self, within_s: float) -> None:
        """Until the last token of every request went out."""
        ends = time.monotonic() + within_s
        while self._requests and time.monotonic() < ends:
            if self.core.paused is not None:
                return
            await asyncio.sleep(LOAD_S)

    async def _answer(self, call: Call) -> None:
        called, rank = utilities.name(call), self.link.rank
        now = Script.read(self.script)
        if called in now.dies_at:
            die(CRASHED, f"script: died at {called}")
        if called in now.gives_up_at:
            await self.link.send(messages.ENGINE_CORE_DEAD)
            return
        if called in now.hangs:
            return
        try:
            if called in now.fails:
                raise RuntimeError(now.fails[called])
            result = await self.utilities.run(call)
            if called in now.fails_after:
                raise RuntimeError(now.fails_after[called])
        except Exception as error:  # whatever it is, the core outlives it and says so
            await self.link.send(messages.failed(rank, call, str(error)))
            return
        await self.link.send(messages.answered(rank, call, result))

    async def _admitted(self, asked: Completion) -> Request | None:
        """None: it was answered with a refusal."""
        rank = self.link.rank
        try:
            request = self.core.submit(asked.prompt, asked.max_tokens)
        except GenerationPaused:
            await self.link.send(messages.rejected(rank, asked.id))
            return None
        except Closing:
            ended = messages.produced(rank, asked.id, "", messages.Finish.ABORT, self._load())
            await self.link.send(ended)
            return None
        self._requests[asked.id] = request
        return request

    async def _complete(self, asked: Completion, request: Request) -> None:
        rank, finish = self.link.rank, None
        while finish is None:
            text, end, _ = await request.output.get()
            finish = FINISHES[end] if end else None
            await self.link.send(messages.produced(rank, asked.id, text, finish, self._load()))
        self._requests.pop(asked.id, None)

    def _abort(self, requests: list[str]) -> None:
        """Their clients went away."""
        for name in requests:
            if request := self._requests.pop(name, None):
                self.core.cancel(request)

    async def _tell_load(self) -> None:
        told = Load()
        while True:
            await asyncio.sleep(LOAD_S)
            if (now := self._load()) != told:
                told = now
                await self.link.send(messages.loaded(self.link.rank, now))

    def _load(self) -> Load:
        return Load(*self.core.told)


@dataclass(frozen=True, slots=True)
class Place:
    """Of one core in its deployment."""

    handshake: str  # the frontend's address
    rank: int
    cores: int
    scripts: Path


async def run(settings: Settings, place: Place, ending: asyncio.Event) -> None:
    """Load the model, join the frontend, and serve until `ending` and what runs then has ended."""
    path = script.path(place.scripts, place.rank)
    model = await asyncio.to_thread(Model.load, settings.model)
    core = _core(settings, model, Script.read(path))
    its = await asyncio.to_thread(workers, settings, model)
    if isinstance(its, Plugin):
        its.announce()
    with zmq.asyncio.Context() as context:
        context.setsockopt(zmq.LINGER, LINGER_MS)
        link = await _join(context, place, _facts(settings, Script.read(path)))
        async with asyncio.TaskGroup() as group:
            engine = EngineCore(core, Utilities(core, its), link, path)
            tasks = [group.create_task(engine.serve())]
            if isinstance(its, Plugin):
                tasks.append(group.create_task(its.obey_exit_requests()))
            await ending.wait()
            await core.close(settings.drain_seconds)
            await engine.sent(settings.drain_seconds)
            for task in tasks:
                task.cancel()


def _core(settings: Settings, model: Model, begins: Script) -> Core:
    core = Core(
        model,
        token_seconds=settings.token_seconds,
        max_running=settings.max_running,
        rejects_while_paused=settings.version >= REJECTS_WHILE_PAUSED_SINCE,
    )
    core.version = begins.version
    if begins.paused:
        core.pause(Pause.KEEP, clear_cache=False)
    return core


def _facts(settings: Settings, begins: Script) -> dict[str, object]:
    backend = settings.backend if begins.backend is None else begins.backend
    facts: dict[str, object] = {
        "vllm_version": begins.engine_version or settings.engine_version,
        "world_size": settings.ranks,
        "tensor_parallel_size": settings.ranks,
        "instance_id": settings.instance,
        "max_loras": settings.loras,
        "weight_transfer_backend": backend or None,
        "enable_sleep_mode": settings.enable_sleep_mode,
        "supports_draft_weight_updates": settings.has_draft,
    }
    return {name: value for name, value in facts.items() if name not in begins.lacks}


async def _join(context: zmq.asyncio.Context, place: Place, facts: dict[str, object]) -> Link:
    name = messages.identity(place.rank)
    door = _connected(context, zmq.DEALER, place.handshake, name)
    await door.send(messages.greeting("HELLO"))
    inputs, outputs = messages.addresses(await door.recv())
    input_socket = _connected(context, zmq.DEALER, inputs, name)
    await input_socket.send(messages.registration(place.rank, place.cores, facts))
    output_socket = _connected(context, zmq.PUSH, outputs, name)
    await door.send(messages.greeting("READY"))
    return Link(place.rank, input_socket, output_socket)


def _connected(
    context: zmq.asyncio.Context, kind: int, address: str, name: bytes
) -> zmq.asyncio.Socket:
    socket = context.socket(kind)
    socket.setsockopt(zmq.IDENTITY, name)
    socket.connect(address)
    return socket
