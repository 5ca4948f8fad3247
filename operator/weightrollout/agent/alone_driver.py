"""Without an operator: take the step that `alone` decides, then look again.

It goes through the same doors as an operator's calls, so that both keep each other out. An operator
that comes back finds a transaction like any other; what has begun ends by its own rules, and nothing
more begins.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Final, assert_never

from weightrollout.agent.alone import Decision, Step, View, decide, goal
from weightrollout.agent.drafts import holds
from weightrollout.agent.readiness import NotReady, not_ready
from weightrollout.agent.reasons import Refused
from weightrollout.agent.service import Desk
from weightrollout.agent.state import AloneNote, facts, is_driven, refusal, undo_content
from weightrollout.api.spec import TakeOut, WeightRolloutSpec
from weightrollout.api.swap import ALONE, Outcome
from weightrollout.metrics import AGENT_ALONE, AGENT_ALONE_STEPS
from weightrollout.swap.book import Reservation, Transaction
from weightrollout.swap.records import Content, SwapRequest

#: Longer than a fail-over of the operator takes, with its lease of 15 s.
ALONE_AFTER_S: Final = 30.0
#: The probe fails three times in 3 s, then the endpoints follow: only then nobody asks it any more.
LEAVES_S: Final = 5.0
BACK_OFF_S: Final = (5.0, 300.0)  # first, longest; doubled after every failure
LOOK_S: Final = 0.5
#: Only a bug or an end of the agent leaves a reservation unused.
RESERVE_S: Final = 30.0
#: The WeightRollout's own policy is not known here.
DEFAULTS: Final = WeightRolloutSpec()

log = logging.getLogger(__name__)


def why_out(desk: Desk) -> NotReady | None:
    """As the readiness port sees it, smoothed as the kubelet does: one late answer is not the end."""
    answering = desk.watch.reachable() and not desk.pulse.dead
    return not_ready(facts(desk.journal.book, desk.board, desk.watch.sight, answering=answering))


@dataclass(frozen=True, slots=True)
class Trouble:
    """Failures in a row on the way to one goal."""

    goal: Content | None = None
    failures: int = 0
    again_at: float = 0.0
    reason: str = ""
    message: str = ""


class Failed(Exception):
    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message


class Alone:
    """Owns `board.alone`."""

    def __init__(self, desk: Desk, after_s: float) -> None:
        self._desk = desk
        self._after_s = after_s
        self._out_since: float | None = None
        self._trouble = Trouble()
        self._asked_to_end = ""  # instance

    async def run(self) -> None:
        """Never ends by itself."""
        while True:
            view = self._look()
            decision = decide(view)
            self._show(view, decision)
            if decision.step is not Step.NOTHING and view.goal is not None:
                await self._take(decision, view.goal)
            await asyncio.sleep(LOOK_S)

    # -- what is ----------------------------------------------------------------------------

    def _look(self) -> View:
        desk = self._desk
        book, sight, now = desk.journal.book, desk.watch.sight, desk.clock.monotonic()
        why = why_out(desk)
        if why is None:
            self._out_since = None
        elif self._out_since is None:
            self._out_since = now
        driven = is_driven(book, desk.board)
        wanted = goal(book, desk.board.stable, trainer_drives=driven)
        if wanted != self._trouble.goal:
            self._trouble = Trouble(wanted)
        tried = [each.attempts for each in book.attempts if wanted and each.digest == wanted.digest]
        return View(
            silent=self._is_alone(),
            out=why.reason if why else None,
            left=self._out_since is not None and now - self._out_since >= LEAVES_S,
            driven=driven,
            goal=wanted,
            read_back=sight.weight_version != "",
            fit=refusal(desk.board, sight) is None,
            staged=wanted is not None and holds(desk.board, wanted, sight),
            attempts=sum(tried),
            backing_off=now < self._trouble.again_at,
            asked_to_end=sight.instance == self._asked_to_end,
        )

    def _is_alone(self) -> bool:
        return self._desk.presence.silent_s() >= self._after_s

    def _show(self, view: View, decision: Decision) -> None:
        self._desk.metrics.gauge(AGENT_ALONE).set(1 if view.silent else 0)
        note = None
        if view.silent and view.out is not None:
            trouble = self._trouble
            version = view.goal.version if view.goal else ""
            note = AloneNote(
                decision.step, decision.reason, version, trouble.failures, trouble.message
            )
        if note != self._desk.board.alone:
            self._desk.board.alone = note
            if note is not None:
                log.info("without an operator: %s: %s: %s", note.step, note.reason, note.version)

    # -- what is done -----------------------------------------------------------------------

    async def _take(self, decision: Decision, wanted: Content) -> None:
        try:
            match decision.step:
                case Step.STAGE:
                    await self._stage(wanted)
                case Step.SWAP:
                    await self._swap(wanted)
                case Step.RESTART:
                    asked = await self._desk.restarter.restart(wanted, decision.reason)
                    self._asked_to_end = asked
                case Step.NOTHING:
                    pass
                case _:
                    assert_never(decision.step)
        except (Refused, Failed) as error:
            self._failed(decision.step, error.reason, error.message)
        except Exception as error:  # a bug here must not end an agent whose engine may yet serve
            log.exception("without an operator: %s", decision.step)
            self._failed(decision.step, "AgentCrashed", repr(error))
        else:
            self._desk.metrics.counter(AGENT_ALONE_STEPS).labels(decision.step, "").inc()
            if decision.step is Step.SWAP:
                self._trouble = Trouble()

    def _failed(self, step: Step, reason: str, message: str) -> None:
        if not self._is_alone():
            log.info("%s is left to the operator, who is back: %s", step, reason)
            return
        self._desk.metrics.counter(AGENT_ALONE_STEPS).labels(step, reason).inc()
        first, longest = BACK_OFF_S
        wait_s = min(first * 2.0 ** min(self._trouble.failures, 16), longest)
        self._trouble = replace(
            self._trouble,
            failures=self._trouble.failures + 1,
            again_at=self._desk.clock.monotonic() + wait_s,
            reason=reason,
            message=f"{step}: {reason}: {message}",
        )
        log.warning("without an operator: %s (again in %g s)", self._trouble.message, wait_s)

    async def _stage(self, wanted: Content) -> None:
        book = self._desk.journal.book
        held = (each for each in (book.last_good, book.told, wanted) if each is not None)
        keep = frozenset[str]().union(*(each.digests for each in held))
        job = await self._desk.stager.stage(wanted, self._desk.watch.sight, keep)
        await asyncio.wait({job.task})
        if job.progress.reason:
            raise Failed(job.progress.reason, job.progress.message)

    async def _swap(self, wanted: Content) -> None:
        swaps, request = self._desk.swaps, self._request(wanted)
        await swaps.reserve(Reservation(request.txn, TakeOut.ENDPOINT, RESERVE_S, wanted))
        try:
            if not self._is_alone():
                raise Failed("OperatorThere", "it came back before the swap began")
            await swaps.start(request)
        except (Refused, Failed):
            await swaps.release(request.txn)
            raise
        ended = await self._ended(request.txn)
        if ended.outcome is not Outcome.COMMITTED:
            failure = ended.failure
            raise Failed(
                failure.reason if failure else str(ended.outcome),
                f"{ended.outcome}: {failure.message if failure else ''}",
            )

    def _request(self, wanted: Content) -> SwapRequest:
        """As the API's defaults have it, without prompts: the whole fleet has verified these weights.

        The attempt counts on from the operator's, so that its next one has a name of its own.
        """
        desk, swap = self._desk, DEFAULTS.swap
        book = desk.journal.book
        attempt = max((each.attempt for each in book.finished), default=0) + 1
        return SwapRequest(
            txn=f"{ALONE}{wanted.revision}/{desk.watch.sight.instance}/{attempt}",
            attempt=attempt,
            target=wanted,
            last_good=undo_content(book, desk.board),
            pause_mode=swap.pause_mode,
            clear_cache=swap.clear_cache,
            drain_s=float(swap.drain_seconds),
            deadline_s=float(DEFAULTS.pod_deadline_seconds),
            prompts=(),
        )

    async def _ended(self, txn: str) -> Transaction:
        while True:
            rung = self._desk.board.bell.next()
            found = self._desk.swaps.find(txn)
            if found is None:
                raise Failed("TransactionLost", f"{txn} is not remembered any more")
            if found.outcome is not None and self._desk.board.live is None:
                return found
            await rung.wait()
