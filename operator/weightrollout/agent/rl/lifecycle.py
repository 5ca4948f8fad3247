"""A trainer's calls, one at a time: guarded, journaled, out of service before and back after.

What a call is about to do is in the journal before it is sent. An answer that did not come leaves the
weights incomplete, which only sending them again ends. Whoever asked may go away; the call goes on.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from weightrollout.agent import state
from weightrollout.agent.engine_watch import EngineSight, EngineWatch
from weightrollout.agent.orders import operator_drives
from weightrollout.agent.rl.calls import DRAIN_S, LATE, READ_S, Calls
from weightrollout.agent.rl.failed import Failed
from weightrollout.agent.rl.guard import LONG, UPDATING, Scene, conflict, swap_of
from weightrollout.agent.rl.images import Images
from weightrollout.agent.rl.notes import Notes
from weightrollout.agent.rl.routes import Call
from weightrollout.agent.rl.wishes import Wish
from weightrollout.agent.state import Board
from weightrollout.api.guard import Guard
from weightrollout.engine.errors import (
    CONNECTION_CUT,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import Lifecycle
from weightrollout.swap.hold import Hold
from weightrollout.swap.journal import Journal

#: It waits for the engine's step.
CONFIRM_S: Final = 10.0
PAUSE_MATTERS: Final = (*UPDATING, Call.RESUME)
#: What EngineRefused says where the payload is why.
MALFORMED: Final = ("InvalidArgument", "OutOfRange")

log = logging.getLogger(__name__)


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Read(Protocol[T_co]):
    async def __call__(self, *, deadline_s: float) -> T_co: ...


@dataclass(frozen=True, slots=True)
class Parts:
    journal: Journal
    board: Board
    watch: EngineWatch
    engine: Lifecycle
    images: Images
    drain_s: float = DRAIN_S


class RlLifecycle:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._notes = Notes(parts.journal, parts.board, parts.watch)
        self._notes.recover()
        self._calls = Calls(parts.engine, self._notes, parts.images, self._guard, parts.drain_s)
        self._running: Call | None = None  # whose turn it is
        self._before: Hold | None = None  # that call
        self._label = ("", "")  # instance, and its version before that call
        self._left = asyncio.Event()  # it has ended
        self._tasks: set[asyncio.Task[dict[str, Any]]] = set()
        self._stopping = False

    def _guard(self) -> Guard:
        return state.guard(self._parts.journal.book, self._parts.board)

    async def stop(self) -> None:
        """What runs is left to the engine, and is in the journal for the next agent."""
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- reads ----------------------------------------------------------------------------

    async def read(self, call: Call) -> dict[str, Any]:
        """Never waits for a call that runs: what the agent knows then is what was true before it."""
        sight = await self._sight()
        match call:
            case Call.IS_PAUSED:
                return {"is_paused": await self._is_paused(sight)}
            case Call.IS_SLEEPING:
                return {"is_sleeping": await self._is_sleeping(sight)}
            case Call.GET_VERSION:
                return {"weight_version": await self._version(sight)}
            case _:
                return {"world_size": sight.world_size}

    async def _is_paused(self, sight: EngineSight) -> bool:
        """A pause that waits for requests is none before it has ended, whatever the engine says."""
        known = self._known(sight)
        said = await self._asked(self._parts.engine.is_paused)
        if said is None:
            return (known.paused and not known.draining) or bool(known.asleep)
        return said and not known.draining

    async def _is_sleeping(self, sight: EngineSight) -> bool:
        known = self._known(sight)
        said = await self._asked(self._parts.engine.is_sleeping)
        return known.paused or bool(known.asleep) if said is None else said

    async def _version(self, sight: EngineSight) -> str:
        said = await self._asked(self._parts.engine.version)
        if said is not None:
            return said
        if self._running is not None and self._label[0] == sight.instance:
            return self._label[1]
        return self._noted(sight)

    def _noted(self, sight: EngineSight) -> str:
        content = state.loaded(self._parts.journal.book, sight)
        return content.version if content is not None else sight.weight_version

    async def _keep_label(self) -> None:
        """For readers while a call runs: nobody can say then what is loaded, but which label the engine has."""
        sight = self._parts.watch.sight
        label = sight.weight_version
        if not label:
            try:
                label = await self._parts.engine.version(deadline_s=READ_S)
            except EngineError:
                label = self._noted(sight)
        self._label = (sight.instance, label)

    async def _asked(self, read: Read[T]) -> T | None:
        """None: a call runs, or the engine is busy. Raises Failed: it is not there."""
        if self._running is not None:
            return None
        try:
            return await read(deadline_s=READ_S)
        except EngineUnreachable as error:
            raise Failed(503, error.reason, error.message) from error
        except EngineError as error:
            if error.reason == CONNECTION_CUT:
                raise Failed(503, "EngineUnreachable", error.message) from error
            log.info("a trainer's read: %s", error)
            return None

    def _known(self, sight: EngineSight) -> Hold:
        before = self._before
        if before is not None and before.instance == sight.instance:
            return before
        return self._notes.hold(sight)

    # -- calls that change something ------------------------------------------------------

    async def change(self, wish: Wish) -> dict[str, Any]:
        """The body of the answer. Raises Failed."""
        if self._stopping:
            raise Failed(503, "stopping", "the agent is about to end")
        task = asyncio.create_task(self._in_turn(wish), name=f"trainer's {wish.call}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            message = f"the agent ended in {wish.call}, which may go on in the engine"
            raise Failed(503, "stopping", message) from None

    async def _in_turn(self, wish: Wish) -> dict[str, Any]:
        await self._take_turn(wish)
        try:
            hold, paused = await self._look(wish, None)
            await self._keep_label()
            self._before = hold
            return await self._done(wish, hold, paused=paused)
        finally:
            self._running = self._before = None
            self._label = ("", "")
            left, self._left = self._left, asyncio.Event()
            left.set()

    async def _take_turn(self, wish: Wish) -> None:
        """One at a time. But nobody waits for a call that waits for its trainer: that is said at once. Raises Failed."""
        while self._running is not None:
            if self._running in LONG and wish.call not in LONG:
                await self._look(wish, self._running)
            await self._left.wait()
        self._running = wish.call

    async def _done(self, wish: Wish, hold: Hold, *, paused: bool) -> dict[str, Any]:
        try:
            return await self._calls.do(wish, hold, paused=paused)
        except EngineRefused as error:
            status = 400 if error.reason in MALFORMED else 409
            raise Failed(status, error.reason, error.message) from error
        except EngineUnreachable as error:
            raise Failed(503, error.reason, error.message) from error
        except EngineStateUnknown as error:
            raise Failed(
                504 if error.reason == LATE else 502, error.reason, error.message
            ) from error
        finally:
            self._parts.watch.forget_reading()
            await self._parts.watch.read_back()
            self._parts.board.bell.ring()

    async def _look(self, wish: Wish, running: Call | None) -> tuple[Hold, bool]:
        """What the trainer holds now, and whether the engine says that it is paused. Raises Failed."""
        sight = await self._sight()
        hold, book = self._notes.hold(sight), self._parts.journal.book
        paused = running is None and wish.call in PAUSE_MATTERS and await self._confirmed()
        scene = Scene(
            hold=hold,
            paused=paused,
            running=running,
            swap=swap_of(book),
            poisoned=book.poisoned == sight.instance,
            leaving=state.leaving(self._parts.board, sight),
            operator_drives=operator_drives(self._parts.board.orders),
            images=self._parts.images.are_taken,
        )
        against = conflict(wish, scene, self._guard())
        if against is not None:
            raise Failed(409, against.code, against.message)
        return hold, paused

    async def _confirmed(self) -> bool:
        """Not by what was noted, but by the engine's own word. Raises Failed."""
        try:
            return await self._parts.engine.is_paused(deadline_s=CONFIRM_S)
        except EngineUnreachable as error:
            raise Failed(503, error.reason, error.message) from error
        except EngineError as error:
            message = f"whether the engine is paused could not be read: {error}"
            raise Failed(504, "PauseUnknown", message) from error

    async def _sight(self) -> EngineSight:
        sight = await self._parts.watch.fresh(READ_S)
        if not sight.instance or not self._parts.watch.reachable():
            raise Failed(503, "EngineUnreachable", "the engine does not answer")
        return sight
