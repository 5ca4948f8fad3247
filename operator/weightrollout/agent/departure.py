"""The kubelet is about to end the engine: out of service at once, nothing new begins, what runs may end.

The answer of /prestop is what it waits for before it sends SIGTERM to the engine. The agent is a native sidecar, which the
kubelet ends after the engine.
"""

import asyncio
import logging
from enum import StrEnum
from typing import Final

from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.reasons import Refused
from weightrollout.agent.state import Board
from weightrollout.agent.swaps import Swaps
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.clock import Clock
from weightrollout.engine.errors import EngineError, EngineUnreachable
from weightrollout.engine.protocol import Inference
from weightrollout.swap.journal import Journal

#: Where the hook does not say: the usual grace of a pod, less what the engine needs after it.
GRACE_S: Final = 25.0
MAX_GRACE_S: Final = 86400.0
#: For clients that have not heard yet that the pod is leaving, as in a swap.
SETTLE_S: Final = float(WeightRolloutSpec().swap.settle_seconds)
#: The kubelet ends the engine at once. One that serves on for so long was announced by somebody else: whoever reaches the
#: port can ask, and must not take a pod out for good by one question.
STAYS_S: Final = 60.0
LOOK_S: Final = 0.1
LOAD_S: Final = 2.0

log = logging.getLogger(__name__)


class Left(StrEnum):
    """Why there is nothing more to wait for."""

    IDLE = "Idle"
    GRACE_OVER = "GraceOver"  # requests or a swap are still running
    ENGINE_GONE = "EngineGone"
    POISONED = "Poisoned"  # what is frozen in it can't end


class Departure:
    def __init__(
        self,
        journal: Journal,
        board: Board,
        watch: EngineWatch,
        swaps: Swaps,
        inference: Inference,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._board = board
        self._watch = watch
        self._swaps = swaps
        self._inference = inference
        self._clock = clock
        self._going: set[asyncio.Task[Left]] = set()
        self._staying: asyncio.TimerHandle | None = None

    async def leave(self, grace_s: float) -> Left:
        """Every call waits for itself, so it can be repeated. A caller that goes away changes nothing."""
        task = asyncio.create_task(self._leave(grace_s), name="departure")
        self._going.add(task)
        task.add_done_callback(self._gone)
        return await asyncio.shield(task)

    def _gone(self, task: asyncio.Task[Left]) -> None:
        self._going.discard(task)
        if self._staying is not None:
            self._staying.cancel()
        self._staying = asyncio.get_running_loop().call_later(STAYS_S, self._stays)

    def _stays(self) -> None:
        if self._going or not self._board.leaving:
            return
        log.warning("engine %s was not ended: it serves on", self._board.leaving)
        self._board.leaving = ""
        self._board.bell.ring()

    async def over(self) -> None:
        """Until nobody leaves any more: an agent that must end meanwhile lets the engine drain first."""
        while self._going:
            await asyncio.wait(self._going)
        if self._staying is not None:
            self._staying.cancel()

    async def _leave(self, grace_s: float) -> Left:
        begun = self._clock.monotonic()
        sight = await self._watch.fresh(LOAD_S)
        instance = sight.instance
        # An engine in its update may be late; one that is late for no reason hangs.
        busy = self._journal.book.running is not None
        if sight.answered_at is None or not (busy or self._watch.reachable()):
            return Left.ENGINE_GONE
        if self._board.leaving != instance:
            log.info("engine %s is about to be ended: at most %g s", instance, grace_s)
            self._board.leaving = instance
            self._board.bell.ring()
        self._swaps.leave()
        try:
            await self._swaps.release("")
        except Refused as refused:
            log.warning("the reservation ends by its ttl: %s", refused)
        while (left_s := begun + grace_s - self._clock.monotonic()) > 0:
            settled = self._clock.monotonic() - begun >= SETTLE_S
            why = await self._why_over(instance, settled=settled)
            if why is not None:
                log.info("engine %s can be ended: %s", instance, why)
                return why
            await asyncio.sleep(min(LOOK_S, left_s))
        log.warning("engine %s is still at work after %g s", instance, grace_s)
        return Left.GRACE_OVER

    async def _why_over(self, instance: str, *, settled: bool) -> Left | None:
        book = self._journal.book
        if self._watch.sight.instance != instance:
            return Left.ENGINE_GONE
        if book.running is not None:
            return None
        if book.poisoned == instance:
            return Left.POISONED
        try:
            load = await self._inference.load(deadline_s=LOAD_S)
        except EngineUnreachable:
            return Left.ENGINE_GONE
        except EngineError:
            return None  # nobody knows, so it is waited for
        return Left.IDLE if load.idle and settled else None
