"""A trainer's calls, one at a time: guarded, journaled, out of service before and back after.

What a call is about to do is in the journal before it is sent. An answer that did not come leaves the
weights incomplete, which only sending them again ends. Whoever asked may go away; the call goes on.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, Final

from weightrollout.agent import state
from weightrollout.agent.engine_watch import EngineSight, EngineWatch
from weightrollout.agent.orders import operator_drives
from weightrollout.agent.rl.calls import READ_S, Calls
from weightrollout.agent.rl.failed import Failed
from weightrollout.agent.rl.guard import UPDATING, Guard, Scene, conflict
from weightrollout.agent.rl.notes import Notes
from weightrollout.agent.rl.routes import Call
from weightrollout.agent.rl.wishes import Wish
from weightrollout.agent.state import Board
from weightrollout.engine.errors import (
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import Lifecycle
from weightrollout.swap.book import Book
from weightrollout.swap.hold import Hold
from weightrollout.swap.journal import Journal

#: It waits for the engine's step.
CONFIRM_S: Final = 10.0
PAUSE_MATTERS: Final = (*UPDATING, Call.RESUME)
#: What EngineRefused says where the payload is why.
MALFORMED: Final = ("InvalidArgument", "OutOfRange")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    journal: Journal
    board: Board
    watch: EngineWatch
    engine: Lifecycle


class RlLifecycle:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._notes = Notes(parts.journal, parts.board, parts.watch)
        self._notes.recover()
        self._calls = Calls(parts.engine, self._notes, self._guard)
        self._turn = asyncio.Lock()
        self._running: Call | None = None
        self._tasks: set[asyncio.Task[dict[str, Any]]] = set()

    def _guard(self) -> Guard:
        return state.guard(self._parts.journal.book, self._parts.board)

    async def stop(self) -> None:
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
        hold = self._notes.hold(sight)
        if self._running is None:
            try:
                return await self._parts.engine.is_paused(deadline_s=READ_S)
            except EngineError as error:
                log.info("is_paused: %s", error)
        return hold.paused or bool(hold.asleep)

    async def _is_sleeping(self, sight: EngineSight) -> bool:
        hold = self._notes.hold(sight)
        if self._running is None:
            try:
                return await self._parts.engine.is_sleeping(deadline_s=READ_S)
            except EngineError as error:
                log.info("is_sleeping: %s", error)
        return hold.paused or bool(hold.asleep)

    async def _version(self, sight: EngineSight) -> str:
        if self._running is None:
            try:
                return await self._parts.engine.version(deadline_s=READ_S)
            except EngineError as error:
                log.info("get_weight_version: %s", error)
        content = state.loaded(self._parts.journal.book, sight)
        return content.version if content is not None else sight.weight_version

    # -- calls that change something ------------------------------------------------------

    async def change(self, wish: Wish) -> dict[str, Any]:
        """The body of the answer. Raises Failed."""
        if self._running in UPDATING and wish.call not in UPDATING:
            await self._look(wish)  # says so, and does not wait for it
        task = asyncio.create_task(self._in_turn(wish), name=f"trainer's {wish.call}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _in_turn(self, wish: Wish) -> dict[str, Any]:
        async with self._turn:
            hold, paused = await self._look(wish)
            self._running = wish.call
            try:
                return await self._calls.do(wish, hold, paused=paused)
            except EngineRefused as error:
                status = 400 if error.reason in MALFORMED else 409
                raise Failed(status, error.reason, error.message) from error
            except EngineUnreachable as error:
                raise Failed(503, error.reason, error.message) from error
            except EngineStateUnknown as error:
                late = error.reason == "DeadlineExceeded"
                raise Failed(504 if late else 502, error.reason, error.message) from error
            finally:
                self._running = None
                self._parts.watch.forget_reading()
                await self._parts.watch.read_back()
                self._parts.board.bell.ring()

    async def _look(self, wish: Wish) -> tuple[Hold, bool]:
        """What the trainer holds now, and whether the engine says that it is paused. Raises Failed."""
        sight = await self._sight()
        hold, book = self._notes.hold(sight), self._parts.journal.book
        paused = self._running is None and wish.call in PAUSE_MATTERS and await self._confirmed()
        scene = Scene(
            hold=hold,
            paused=paused,
            running=self._running,
            swap=_swap(book),
            poisoned=book.poisoned == sight.instance,
            leaving=state.leaving(self._parts.board, sight),
            operator_drives=operator_drives(self._parts.board.orders),
        )
        against = conflict(wish, scene, self._guard())
        if against is not None:
            raise Failed(409, against.code, against.message)
        return hold, paused

    async def _confirmed(self) -> bool:
        """Not by what was noted, but by the engine's own word. Raises Failed."""
        try:
            return await self._parts.engine.is_paused(deadline_s=CONFIRM_S)
        except EngineError as error:
            message = f"whether the engine is paused could not be read: {error}"
            raise Failed(504, "PauseUnknown", message) from error

    async def _sight(self) -> EngineSight:
        sight = await self._parts.watch.fresh(READ_S)
        if not sight.instance or not self._parts.watch.reachable():
            raise Failed(503, "EngineUnreachable", "the engine does not answer")
        return sight


def _swap(book: Book) -> str:
    if book.running is not None:
        return book.running.state.txn
    return book.reservation.txn if book.reservation is not None else ""
