"""Should the kubelet start this engine anew? The truth table of the liveness probe, and who asks the engine. Never of the
operator, of staging, of a pause or of what is loaded."""

import asyncio
from dataclasses import dataclass
from typing import Final

from weightrollout.agent.reasons import NotLiveReason
from weightrollout.clock import Clock
from weightrollout.engine.errors import EngineError
from weightrollout.engine.protocol import Vital

#: An engine that says nothing for so long hangs. The kubelet's own threshold comes on top.
SILENT_S: Final = 30.0
#: What was asked to end needs a moment for its workers.
ENDS_S: Final = 30.0
ASK_EVERY_S: Final = 2.0
#: A frontend under load answers late; late is not dead.
ASK_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Life:
    """All that the answer depends on."""

    swapping: bool  # a transaction runs
    asked_to_end_s: (
        float | None
    )  # this engine process was asked to end so long ago; None: it was not
    dead: bool  # by its own word
    silent_s: float  # since its last answer of any kind; the agent's start counts as one


@dataclass(frozen=True, slots=True)
class NotLive:
    reason: NotLiveReason
    message: str


def not_live(life: Life) -> NotLive | None:
    """None: let it live."""
    if life.swapping:
        # It ends by its own deadlines. An engine that hung in it is then Poisoned and asked to end; one that cannot
        # even hear that is found below.
        return None
    if life.asked_to_end_s is not None and life.asked_to_end_s > ENDS_S:
        return NotLive(
            NotLiveReason.DOES_NOT_END,
            f"asked to end {life.asked_to_end_s:.0f} s ago, and still there",
        )
    if life.dead:
        return NotLive(NotLiveReason.DEAD, "its health service says that it does not serve")
    if life.silent_s > SILENT_S:
        return NotLive(NotLiveReason.SILENT, f"no answer for {life.silent_s:.0f} s")
    return None


class Pulse:
    """Asks the engine's health service, in its own time: a probe is answered at once from what is known."""

    def __init__(self, engine: Vital, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self.answered_at = clock.monotonic()
        self.dead = False

    async def run(self) -> None:
        """Never ends by itself."""
        while True:
            await self.ask()
            await asyncio.sleep(ASK_EVERY_S)

    async def ask(self) -> None:
        try:
            serving = await self._engine.serving(deadline_s=ASK_S)
        except EngineError:
            return
        self.answered_at = self._clock.monotonic()
        self.dead = not serving
