"""End the engine's process, so that the kubelet starts it anew with its base weights."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import Final

from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.state import Board
from weightrollout.agent.swaps import write
from weightrollout.clock import Clock
from weightrollout.engine.errors import EngineError
from weightrollout.engine.protocol import Engine
from weightrollout.handover import files, records
from weightrollout.handover.records import ExitRequest
from weightrollout.swap.journal import Journal
from weightrollout.swap.records import Content

#: The plugin takes an exit request away within a quarter of a second; after this it is not listening.
EXIT_S: Final = 3.0
#: One that was heard ends a worker at once, and the frontend of a big engine some time later.
HEARD_S: Final = 30.0
SHUTDOWN_S: Final = 5.0

log = logging.getLogger(__name__)


class Restarter:
    def __init__(
        self,
        journal: Journal,
        board: Board,
        watch: EngineWatch,
        engine: Engine,
        handover: Path,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._board = board
        self._watch = watch
        self._engine = engine
        self._handover = handover
        self._insisting: asyncio.Task[None] | None = None
        self._clock = clock
        self._asked = ("", 0.0)  # instance, and when it was asked first

    async def restart(self, serve: Content, reason: str) -> str:
        """The instance that was asked to end; "" when none is known. Raises Refused."""
        running = self._journal.book.running
        if running is not None:
            raise Refused(RefusalReason.BUSY, f"transaction {running.state.txn} is running")
        await write(self._journal, replace(self._journal.book, told=serve))
        self._board.bell.ring()
        instance = self._watch.sight.instance
        if not instance:
            return ""
        if self._asked[0] != instance:
            self._asked = (instance, self._clock.monotonic())
        log.warning("engine %s is asked to end: %s", instance, reason)
        request = ExitRequest(instance=instance, reason=reason)
        asked = True
        try:
            records.write(files.exit_request(self._handover), request)
        except OSError as error:
            log.error("exit request: %s", error)  # the Shutdown call is left
            asked = False
        if self._insisting is None or self._insisting.done():
            insisting = self._insist(instance, asked=asked)
            self._insisting = asyncio.create_task(insisting, name="restart engine")
        return instance

    def asked_s(self, instance: str) -> float | None:
        """Since when this process was asked to end; None: it was not."""
        asked, at = self._asked
        return self._clock.monotonic() - at if instance and asked == instance else None

    async def stop(self) -> None:
        if self._insisting is not None:
            self._insisting.cancel()
            await asyncio.gather(self._insisting, return_exceptions=True)

    async def _insist(self, instance: str, *, asked: bool) -> None:
        """Call Shutdown where the plugin did not hear. Refused by engines that are not managed.

        Not before: vLLM's frontend outlives its core by seconds, and logs the refusal as an ERROR.
        """
        await asyncio.sleep(EXIT_S)
        if asked and self._was_heard():
            await asyncio.sleep(HEARD_S - EXIT_S)
        sight = await self._watch.fresh(0.0)
        if sight.instance != instance or not self._watch.reachable():
            return
        log.warning("engine %s is still there: Shutdown is called", instance)
        try:
            await self._engine.shutdown(deadline_s=SHUTDOWN_S)
        except EngineError as error:
            log.error("engine %s does not end: %s", instance, error)

    def _was_heard(self) -> bool:
        """The plugin removes what it has read. A volume that fails says nothing."""
        try:
            return not files.exit_request(self._handover).exists()
        except OSError:
            return False
