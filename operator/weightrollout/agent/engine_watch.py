"""Which engine process is there, and what does it say about itself? Asks all the time, cheaply.

GetServerInfo is answered at once, also in mid-update. IsPaused and GetWeightVersion wait behind an
update, so they are asked only while no transaction runs.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from weightrollout import __version__
from weightrollout.agent.handover_volume import reports_in, was_visited
from weightrollout.agent.reasons import IncompatibleReason
from weightrollout.api.names import BASELINE_VERSION
from weightrollout.clock import Clock
from weightrollout.engine.errors import (
    CONNECTION_CUT,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import NO_CAPABILITIES, Capabilities, Engine, EngineInfo
from weightrollout.handover import records
from weightrollout.handover.records import BACKEND, EngineReport
from weightrollout.weights.preflight import Refusal, engine_refusal

#: The readiness probe's period is 1 s: two questions in each.
POLL_S: Final = 0.5
#: The probe itself waits for one question and its own timeout is 1 s.
INFO_S: Final = 0.6
#: IsPaused and GetWeightVersion wait for the engine's step; a missing answer changes nothing.
READ_EVERY_S: Final = 1.0
READ_S: Final = 1.0
#: Without an answer for so long the engine counts as unreachable.
UNREACHABLE_S: Final = 2.0
#: First release with the weight-transfer calls (vLLM 0.28.0, pull request 51316).
OLDEST_ENGINE: Final = (0, 28)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineSight:
    """What is known about the process that answered last."""

    answered_at: float | None = None  # monotonic seconds; None: never, or nobody listens
    instance: str = ""
    engine_version: str = ""
    backend: str = ""
    model: str = ""
    weight_version: str = ""  # as read back since the last transaction; "" for not yet
    paused: bool = False  # as read back last, outside transactions
    reports: tuple[EngineReport, ...] = ()
    plan_id: str = ""  # "" where the engine cannot be swapped
    draft_plan_id: str = ""  # and where it has no draft
    visited: bool = False  # its plugin has answered an Init or Update: a swap was under way
    refusal: Refusal | None = None  # why it cannot be swapped
    plugin_version: str = ""  # as rank 0's report says; "" for none
    capabilities: Capabilities = NO_CAPABILITIES
    world_size: int = 1

    @property
    def layouts(self) -> tuple[str, str, str]:
        """What decides which images fit: a new process may have other files beside the same layout."""
        return self.plan_id, self.draft_plan_id, self.instance

    def answered_within(self, seconds: float, now: float) -> bool:
        return self.answered_at is not None and now - self.answered_at <= seconds


class EngineWatch:
    def __init__(
        self,
        engine: Engine,
        handover: Path,
        clock: Clock,
        *,
        in_transaction: Callable[[], bool],
        changed: Callable[[], None],
    ) -> None:
        self.sight = EngineSight()
        self._engine = engine
        self._handover = handover
        self._clock = clock
        self._in_transaction = in_transaction
        self._changed = changed
        self._asking = asyncio.Lock()
        self._asked = 0  # questions answered or given up so far
        self._transactions = 0  # begun so far: an answer from before one is worthless after it
        self._reachable = False
        self._why = ""  # the last question got no answer

    def reachable(self) -> bool:
        return self.sight.answered_within(UNREACHABLE_S, self._clock.monotonic())

    async def run(self) -> None:
        """Never ends by itself. Two loops: a long engine step must not delay GetServerInfo."""
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._ask_for_ever())
            loops.create_task(self._read_for_ever())

    async def _ask_for_ever(self) -> None:
        while True:
            await self.ask()
            await asyncio.sleep(POLL_S)

    async def _read_for_ever(self) -> None:
        while True:
            if not self._in_transaction():
                await self.read_back()
            await asyncio.sleep(READ_EVERY_S)

    async def ask(self) -> None:
        """GetServerInfo; a new process is looked at closely."""
        asked = self._asked
        async with self._asking:
            if self._asked != asked:
                return  # someone else asked while we waited: that answer is as new as ours
            await self._ask()
            self._asked += 1

    async def _info(self) -> EngineInfo:
        """A connection that is cut under the question says nothing: the next one does."""
        try:
            return await self._engine.info(deadline_s=INFO_S)
        except EngineStateUnknown as error:
            if error.reason != CONNECTION_CUT:
                raise
        return await self._engine.info(deadline_s=INFO_S)

    async def _ask(self) -> None:
        try:
            info = await self._info()
        except EngineUnreachable as error:
            self._tell_why(error)
            # Nobody listens: that is a fact now, not the silence of a busy engine. A pod whose swap
            # ends with a dead engine must not be put in on what it answered a second ago.
            self._set(replace(self.sight, answered_at=None))
            self._tell_reachability()
            return
        except EngineError as error:
            self._tell_why(error)
            self._tell_reachability()
            return
        self._why = ""
        known = self.sight
        if info.instance != known.instance or known.refusal is not None:
            await self._look_closely(info)
        else:
            self.sight = replace(known, answered_at=self._clock.monotonic())
        self._tell_reachability()

    async def fresh(self, seconds: float) -> EngineSight:
        """The sight, asked again when the last answer is older."""
        if not self.sight.answered_within(seconds, self._clock.monotonic()):
            await self.ask()
        return self.sight

    async def read_back(self) -> None:
        """IsPaused and GetWeightVersion. An engine that does not answer changes nothing here."""
        instance, transactions = self.sight.instance, self._transactions
        if not instance:
            return
        try:
            paused = await self._engine.is_paused(deadline_s=READ_S)
            version = await self._engine.version(deadline_s=READ_S)
        except EngineRefused:
            # Without these calls nobody can pause it or give it other weights.
            paused, version = False, BASELINE_VERSION
        except EngineError:
            return
        if (self.sight.instance, self._transactions) != (instance, transactions):
            return
        self._set(replace(self.sight, paused=paused, weight_version=version))

    def forget_reading(self) -> None:
        """A transaction starts: what was read back says nothing from now on."""
        self._transactions += 1
        self._set(replace(self.sight, paused=False, weight_version=""))

    async def _look_closely(self, info: EngineInfo) -> None:
        """The plugin writes its reports before the engine serves; a late one is found next time."""
        found = await asyncio.to_thread(reports_in, self._handover)
        reports = found.reports
        visited = await asyncio.to_thread(was_visited, self._handover, info.instance)
        refusal = found.explained(incompatible(info, reports))
        known = self.sight
        sight = replace(
            known if known.instance == info.instance else EngineSight(),
            answered_at=self._clock.monotonic(),
            instance=info.instance,
            engine_version=info.engine_version,
            backend=info.transfer_backend,
            reports=reports if refusal is None else (),
            plan_id=reports[0].plan.plan_id() if refusal is None else "",
            draft_plan_id=_draft_plan_id(reports) if refusal is None else "",
            visited=visited,
            refusal=refusal,
            model=reports[0].model if reports else "",
            plugin_version=reports[0].plugin_version if reports else "",
            capabilities=info.capabilities,
            world_size=info.world_size,
        )
        if known.instance != info.instance:
            log.info("engine instance %s, vLLM %s", info.instance, info.engine_version)
        if sight.plugin_version not in ("", known.plugin_version, __version__):
            log.warning(
                "the plugin in engine %s is of release %s, this agent of %s: it is used, because they"
                " speak handover schema %d; the engine's next restart brings them together",
                *(info.instance, sight.plugin_version, __version__, records.SCHEMA),
            )
        self._set(sight)

    def _set(self, sight: EngineSight) -> None:
        before, self.sight = self.sight, sight
        if replace(before, answered_at=None) != replace(sight, answered_at=None):
            self._changed()

    def _tell_why(self, error: EngineError) -> None:
        """Once for each reason: it asks every second."""
        if error.reason != self._why:
            self._why = error.reason
            log.warning("engine: %s", error)

    def _tell_reachability(self) -> None:
        if self._reachable is not self.reachable():
            self._reachable = self.reachable()
            self._changed()


def _draft_plan_id(reports: Sequence[EngineReport]) -> str:
    draft = reports[0].draft
    return draft.plan.plan_id() if draft is not None else ""


def incompatible(info: EngineInfo, reports: Sequence[EngineReport]) -> Refusal | None:
    """Why this engine cannot be swapped, whatever the weights; None when it can."""
    if _version(info.engine_version) < OLDEST_ENGINE:
        return Refusal(
            IncompatibleReason.ENGINE_TOO_OLD,
            f"vLLM {info.engine_version or 'of unknown version'} has no weight-transfer calls:"
            f" 0.28 is the first that does",
        )
    if info.transfer_backend != BACKEND:
        return Refusal(
            IncompatibleReason.NO_TRANSFER_BACKEND,
            f"weight transfer is {info.transfer_backend or 'not configured'}: start vLLM with"
            f""" --weight-transfer-config '{{"backend": "{BACKEND}"}}'""",
        )
    return engine_refusal(reports, info.instance) or _too_few(reports, info)


def _too_few(reports: Sequence[EngineReport], info: EngineInfo) -> Refusal | None:
    """A rank that wrote no report writes no receipt either, and the others do not know of it."""
    if len(reports) >= info.world_size:
        return None
    return Refusal(
        "RanksMissing",
        f"the engine says that it has {info.world_size} ranks, and {len(reports)} wrote a report",
    )


def _version(text: str) -> tuple[int, int]:
    """(0, 0) where it cannot be read: unknown is refused."""
    found = re.match(r"v?(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)
