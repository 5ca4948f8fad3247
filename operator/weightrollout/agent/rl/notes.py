"""What a trainer holds, in the journal: written before a call, and after it by what its end says."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from weightrollout.agent.engine_watch import EngineSight, EngineWatch
from weightrollout.agent.reasons import Refused
from weightrollout.agent.rl.failed import Failed
from weightrollout.agent.rl.guard import UPDATING, swap_conflict, swap_of
from weightrollout.agent.rl.routes import Call
from weightrollout.agent.state import Board
from weightrollout.agent.swaps import write
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown, EngineUnreachable
from weightrollout.swap import book as books
from weightrollout.swap.hold import TARGET, Hold
from weightrollout.swap.journal import Journal

log = logging.getLogger(__name__)


class Notes:
    def __init__(self, journal: Journal, board: Board, watch: EngineWatch) -> None:
        self._journal = journal
        self._board = board
        self._watch = watch

    def hold(self, sight: EngineSight) -> Hold:
        return books.held(self._journal.book, sight.instance) or Hold(sight.instance)

    @property
    def serving(self) -> str:
        """Version of what was loaded last and could be named."""
        serving = self._journal.book.serving
        return serving.content.version if serving is not None else ""

    def recover(self) -> None:
        """After a start of this agent: a call that was under way has ended somehow."""
        hold = self._journal.book.hold
        if hold is None or not hold.calling:
            return
        log.warning("a trainer's %s was under way: nobody knows how it ended", hold.calling)
        self.learn(_unknown(hold))

    @asynccontextmanager
    async def calling(self, call: Call, held: Hold) -> AsyncIterator[None]:
        """Noted before the call; after it, what its end says. A call that was refused changed nothing.

        Raises Failed, also where a swap has got the engine since the guard looked: that awaited the engine.
        """
        before = self._journal.book.hold
        await self.begin(replace(held, calling=call))
        try:
            yield
        except (EngineRefused, EngineUnreachable, Failed):
            self.learn(before)
            raise
        except EngineStateUnknown:
            self.learn(_unknown(replace(held, calling=call)))
            raise
        except asyncio.CancelledError:
            raise  # the agent ends: the next one finds it in the journal
        self.learn(held)

    async def begin(self, hold: Hold) -> None:
        """Durable; by itself for what begins in the agent alone. Raises Failed, as `calling` does."""
        if against := swap_conflict(swap_of(self._journal.book)):
            raise Failed(409, against.code, against.message)
        try:
            await write(self._journal, replace(self._journal.book, hold=hold))
        except Refused as refused:
            raise Failed(503, refused.reason, refused.message) from refused
        self._board.bell.ring()

    async def keep(self, hold: Hold, *, version: str | None = None) -> None:
        """After a call that has ended: learnt even where the disk is full."""
        book = self._journal.book
        if version is not None:
            self._watch.forget_reading()  # the label that was read before is not the one of these weights
            book = books.named(book, hold.instance, version)
        self._journal.learn(replace(book, hold=None if hold.is_over else hold))
        self._board.bell.ring()

    def learn(self, hold: Hold | None) -> None:
        over = hold is None or hold.is_over
        self._journal.learn(replace(self._journal.book, hold=None if over else hold))
        self._board.bell.ring()


def _unknown(hold: Hold) -> Hold:
    """After a call that may have been executed, or not."""
    ended = replace(hold, calling="")
    if hold.calling in UPDATING:
        model = hold.session or TARGET
        lost = tuple(sorted({*hold.incomplete, model}))
        return replace(ended, session="", incomplete=lost)
    return ended
