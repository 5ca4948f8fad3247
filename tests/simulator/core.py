"""The engine core: one loop that runs either a utility call or one step of all requests.

So a pause waits for the running step, and everything asked of the core waits behind an update.
A caller that goes away does not stop what it asked for: the core still executes it.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, NamedTuple, TypeVar, cast

from simulator import answers
from simulator.death import CRASHED, die
from simulator.model import Model
from simulator.speculation import Speculation

T = TypeVar("T")

#: Prompts below one KV block never hit the prefix cache.
KV_BLOCK_TOKENS: Final = 16
PREFIX_CACHE_ENTRIES: Final = 4096


class Pause(Enum):
    ABORT = auto()
    WAIT = auto()
    KEEP = auto()


class Finish(Enum):
    LENGTH = "length"
    ABORT = "abort"


class GenerationPaused(Exception):
    """0.33 and newer reject requests in an abort or wait pause; older ones queue them."""

    text: Final = "Generation is paused. Please retry after it resumes."


class Closing(Exception):
    """The engine got SIGTERM."""


class Load(NamedTuple):
    """Requests by their state."""

    running: int = 0
    waiting: int = 0


NO_LOAD: Final = Load()


class Output(NamedTuple):
    text: str  # a token
    finish: Finish | None  # with the last one: how it ended
    weights: int = 0  # fingerprint that it was computed with


@dataclass(eq=False, slots=True)
class Request:
    """One completion."""

    prompt: str
    max_tokens: int
    output: asyncio.Queue[Output] = field(default_factory=asyncio.Queue)
    produced: int = 0
    cached: int | None = None  # fingerprint of the weights that computed its KV; None: none yet


@dataclass(slots=True)
class Core:
    model: Model
    token_seconds: float
    max_running: int
    rejects_while_paused: bool
    speculation: Speculation | None = None

    version: str = "default"
    #: What the frontend was told last, with the outputs of a step. A pause has no steps: what is frozen in it
    #: stays counted as it was, and what arrives in it is not counted.
    told: Load = NO_LOAD
    paused: Pause | None = None
    asleep: set[str] = field(default_factory=set)
    closing: bool = False
    _rejecting: bool = False
    running: list[Request] = field(default_factory=list)
    waiting: deque[Request] = field(default_factory=deque)
    _inbox: deque[tuple[Callable[[], Awaitable[object]], asyncio.Future[object]]] = field(
        default_factory=deque
    )
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _drained: asyncio.Event = field(default_factory=asyncio.Event)
    _prefixes: dict[str, int] = field(default_factory=dict)  # prompt -> fingerprint

    # What the front ends ask for.

    def submit(self, prompt: str, max_tokens: int) -> Request:
        if self.closing:
            raise Closing
        if self._rejecting:
            raise GenerationPaused
        request = Request(prompt, max_tokens)
        self.waiting.append(request)
        self._wake.set()
        return request

    def cancel(self, request: Request) -> None:
        """The client went away."""
        if request in self.running:
            self.running.remove(request)
        elif request in self.waiting:
            self.waiting.remove(request)
        else:
            return
        self._tell()
        self._note_drained()

    async def utility(self, work: Callable[[], Awaitable[T]]) -> T:
        """Have the core run `work` between two steps."""
        return cast("T", await asyncio.shield(self.enqueue(work)))

    def enqueue(self, work: Callable[[], Awaitable[object]]) -> asyncio.Future[object]:
        done: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        # Whoever asked may be gone when it fails.
        done.add_done_callback(lambda future: future.exception())
        self._inbox.append((work, done))
        self._wake.set()
        return done

    async def drained(self) -> None:
        """Until nothing runs; what waits may go on waiting."""
        self._note_drained()
        await self._drained.wait()

    async def close(self, seconds: float) -> None:
        """Take no more requests and let the running ones end; frozen ones never would."""
        self.closing = True
        if self.paused is None:
            try:
                await asyncio.wait_for(self.drained(), seconds)
            except TimeoutError:
                pass  # cut off, as the engine does

    # Utilities: only ever run by the core itself.

    def pause(self, mode: Pause, *, clear_cache: bool, for_sleep: bool = False) -> None:
        """For WAIT this only begins it: the caller then waits for `drained`.

        The pause that sleep brings decides nothing about new requests: they are queued, unless an
        earlier pause rejects them.
        """
        self.paused = mode
        if not for_sleep:
            self._rejecting = self.rejects_while_paused and mode is not Pause.KEEP
        if mode is Pause.ABORT:
            self._abort_all()
        if clear_cache:
            self.clear_cache()

    @property
    def holds_cache(self) -> bool:
        return any(request.cached is not None for request in self.running)

    def clear_cache(self) -> None:
        self._prefixes.clear()
        for request in (*self.running, *self.waiting):
            request.cached = None

    def resume(self) -> None:
        self.paused = None
        self._rejecting = False
        self._wake.set()

    # The loop.

    async def run(self) -> None:
        while True:
            while self._inbox:
                await self._serve(*self._inbox.popleft())
            if self._has_step():
                await self._step()
            else:
                self._wake.clear()
                await self._wake.wait()

    async def _serve(
        self, work: Callable[[], Awaitable[object]], done: asyncio.Future[object]
    ) -> None:
        try:
            done.set_result(await work())
        except Exception as error:  # the core outlives a failed utility call
            done.set_exception(error)

    def _has_step(self) -> bool:
        if self.paused is Pause.WAIT:
            return bool(self.running)
        return self.paused is None and bool(self.running or self.waiting)

    async def _step(self) -> None:
        while self.paused is None and self.waiting and len(self.running) < self.max_running:
            self.running.append(self.waiting.popleft())
        await asyncio.sleep(self.token_seconds)
        if self.running and self.model.half_loaded:
            die(CRASHED, "EngineCore: generated on a half-loaded model")
        weights = (
            self.model.fingerprint()
            if self.model.fresh
            else await asyncio.to_thread(self.model.fingerprint)
        )
        if self.speculation is not None and not self.speculation.fresh:
            await asyncio.to_thread(self.speculation.fits)
        for request in tuple(self.running):
            self._produce(request, weights)
            if self.speculation is not None:
                self.speculation.round()
        self._tell()
        self._note_drained()

    def _produce(self, request: Request, weights: int) -> None:
        """One token. KV made by other weights than the present ones spoils it, as in the engine."""
        if request.cached is None:
            request.cached = self._prefixes.get(request.prompt, weights)
        if len(request.prompt) >= KV_BLOCK_TOKENS:
            if len(self._prefixes) >= PREFIX_CACHE_ENTRIES:
                self._prefixes.clear()
            self._prefixes.setdefault(request.prompt, request.cached)
        seen = weights if request.cached == weights else answers.stale(request.cached, weights)
        text = answers.token(seen, request.prompt, request.produced)
        request.produced += 1
        finish = Finish.LENGTH if request.produced == request.max_tokens else None
        if finish is not None:
            self.running.remove(request)
        request.output.put_nowait(Output(text, finish, seen))

    def _abort_all(self) -> None:
        for request in (*self.running, *self.waiting):
            request.output.put_nowait(Output("", Finish.ABORT))
        self.running.clear()
        self.waiting.clear()
        self._tell()
        self._note_drained()

    def _tell(self) -> None:
        """A request that ended outside a step is told of by a step of its own."""
        self.told = Load(len(self.running), len(self.waiting))

    def _note_drained(self) -> None:
        if self.running:
            self._drained.clear()
        else:
            self._drained.set()
