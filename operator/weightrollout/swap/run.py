"""Do what the machine says, against a real engine.

In: a state, the hands (engine, inference, backend, clock) and who wants to know. Out: the ended
state. Decides nothing: it sends one call, or reads back, and gives the machine the event.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from weightrollout.api.reasons import HoldReason
from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import FailureClass
from weightrollout.clock import Clock
from weightrollout.engine.errors import (
    CONNECTION_CUT,
    LABEL_NOT_SET,
    EngineError,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import Engine, Inference
from weightrollout.handover.records import DRAFT
from weightrollout.swap import machine
from weightrollout.swap.backends.protocol import Backend, BackendError, Transfer
from weightrollout.swap.book import Transaction, view
from weightrollout.swap.events import Answered, Blind, Event, Failed, Saw, Time
from weightrollout.swap.journal import JournalUnwritable
from weightrollout.swap.machine import Todo
from weightrollout.swap.patience import Patience
from weightrollout.swap.phases import phase
from weightrollout.swap.records import Answer, Failure, Holds, Source, Step, SwapState
from weightrollout.swap.steps import EFFECTS, REASONS, WAITS
from weightrollout.swap.stopwatch import Stopwatch
from weightrollout.swap.verify import complaint

log = logging.getLogger(__name__)

#: Pause between two looks at an engine that does not answer.
BLIND_PACE_S: Final = 0.2
DRAIN_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Hands:
    engine: Engine
    inference: Inference
    backend: Backend
    clock: Clock
    patience: Patience = field(default_factory=Patience)


class SwapRun:
    """One transaction. `record` journals a state before its call and may raise JournalUnwritable;
    `changed` hears of every new phase, not of the end."""

    def __init__(
        self,
        hands: Hands,
        state: SwapState,
        *,
        record: Callable[[SwapState], None],
        changed: Callable[[Transaction], None],
    ) -> None:
        self._hands = hands
        self.state = state
        self._record = record
        self._changed = changed
        self._watch = Stopwatch(hands.clock)
        self._deadline_at = hands.clock.monotonic() + state.request.deadline_s
        self._blind_since: float | None = None
        self._left = asyncio.Event()

    def leave(self) -> None:
        """The engine is about to be ended: before Start give up, at once; after it go on."""
        self._left.set()

    def transaction(self) -> Transaction:
        return view(self.state, self._watch.pause_millis, self._watch.timings())

    async def run(self) -> SwapState:
        self._moved(None)
        while True:
            before = self.state
            match machine.todo(before):
                case Todo.END:
                    return before
                case Todo.CALL:
                    event = await self._call(before)
                case Todo.LOOK:
                    event = await self._look(before)
                case never:
                    assert_never(never)
            _log(before, event)
            self.state = machine.advance(before, event, self._time(event))
            self._moved(before)

    def _moved(self, before: SwapState | None) -> None:
        now = phase(self.state)
        if self.state.step is Step.PROMPTS or self.state.outcome is not None:
            self._watch.pause_ends()
        if before is None or phase(before) is not now:
            self._watch.enter(now)
            if (
                self.state.outcome is None
            ):  # who runs this tells the end, once it is true everywhere
                self._changed(self.transaction())

    # -- time -----------------------------------------------------------------------------

    def _time(self, event: Event) -> Time:
        now = self._hands.clock.monotonic()
        if not isinstance(event, Blind):
            self._blind_since = None
            if self._left.is_set() and machine.may_be_left(self.state):
                return Time.LEAVING
            return Time.IN_TIME if now < self._deadline_at else Time.LATE
        if self._blind_since is None:
            self._blind_since = now
        if now < self._deadline_at:
            return Time.IN_TIME
        waited = now - max(self._deadline_at, self._blind_since)
        return Time.OVER if waited >= self._hands.patience.grace_s else Time.LATE

    def _limit(self, state: SwapState) -> float:
        """Deadline of the next call. What undoes a late attempt gets as much as the attempt had."""
        whole = state.request.deadline_s
        left = self._deadline_at - self._hands.clock.monotonic()
        if left <= 0 or state.source is not Source.TARGET:
            left = whole
        patience = self._hands.patience
        return max(patience.least_s, min(left, patience.call_s.get(state.step, left)))

    # -- calls ----------------------------------------------------------------------------

    async def _call(self, state: SwapState) -> Event:
        try:
            if state.step in EFFECTS:
                self._note(state)
            sending = self._send(state, self._limit(state))
            if state.step in WAITS and machine.may_be_left(state):
                sending = self._unless_left(sending)
            await sending
        except BackendError as error:
            return self._failed(state, error.answer, error.failure)
        except EngineError as error:
            self._mind(error)
            known = Answer.UNKNOWN if isinstance(error, EngineStateUnknown) else Answer.REFUSED
            if state.step is Step.FINISH and error.reason == LABEL_NOT_SET:
                known = Answer.UNLABELLED
            message = f"{state.step}: {error.reason}: {error.message}"
            return self._failed(
                state, known, Failure(FailureClass.POD, REASONS[state.step], message)
            )
        except JournalUnwritable as error:
            failure = Failure(FailureClass.ENVIRONMENT, "JournalUnwritable", str(error))
            return Failed(Answer.REFUSED, failure)
        if state.step is Step.RESUME:
            self._watch.pause_ends()
        return Answered()

    async def _unless_left(self, wait: Coroutine[None, None, None]) -> None:
        waiting = asyncio.ensure_future(wait)
        left = asyncio.ensure_future(self._left.wait())
        try:
            await asyncio.wait({waiting, left}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                waiting.result()
        finally:
            waiting.cancel()
            left.cancel()
            await asyncio.gather(waiting, left, return_exceptions=True)

    def _failed(self, state: SwapState, answer: Answer, failure: Failure) -> Failed:
        """A call that was cut by the attempt's own deadline says so."""
        late = self._hands.clock.monotonic() >= self._deadline_at
        if late and state.source is Source.TARGET and failure.failure_class is FailureClass.POD:
            failure = replace(failure, reason="PodDeadlineExceeded")
        return Failed(answer, failure)

    def _note(self, state: SwapState) -> None:
        """Intent before effect. Once weights may be gone, going on is safer than an older book."""
        try:
            self._record(state)
        except JournalUnwritable:
            if state.step in (Step.PAUSE, Step.START) and state.holds is Holds.OLD:
                raise

    async def _send(self, state: SwapState, limit_s: float) -> None:
        engine, request = self._hands.engine, state.request
        match state.step:
            case Step.INIT:
                if state.holds is Holds.OLD:
                    # Read now: a volume that fails after the pause must not undo good weights.
                    self._hands.backend.golden(_transfer(state))
                info = self._hands.backend.init_info(_transfer(state))
                await engine.init_transfer(info, deadline_s=limit_s)
            case Step.PREPARED:
                await self._prepared(state, limit_s)
            case Step.DRAIN:
                await self._drain(min(request.drain_s, limit_s), request.pause_mode)
            case Step.PAUSE:
                self._watch.pause_begins()
                undoing = state.holds is not Holds.OLD
                clear = request.clear_cache or undoing  # its caches are of weights that failed
                await engine.pause(request.pause_mode, clear_cache=clear, deadline_s=limit_s)
            case Step.CLOSE:
                await engine.finish_update(None, deadline_s=limit_s)
            case Step.START:
                await engine.start_update(deadline_s=limit_s)
            case Step.UPDATE:
                info = self._hands.backend.update_info(_transfer(state))
                await engine.update(info, deadline_s=limit_s)
            case Step.RECEIPTS:
                self._hands.backend.prove(_transfer(state))
            case Step.FINISH:
                version = _transfer(state).content.version
                await engine.finish_update(version, deadline_s=limit_s)
            case Step.LABEL:
                version = _transfer(state).content.version
                await engine.set_version(version, deadline_s=limit_s)
            case Step.DRAFT_START:
                await engine.start_draft_update(deadline_s=limit_s)
            case Step.DRAFT_UPDATE:
                info = self._hands.backend.update_info(_transfer(state), session=DRAFT)
                await engine.update(info, deadline_s=limit_s)
            case Step.DRAFT_RECEIPTS:
                self._hands.backend.prove(_transfer(state), session=DRAFT)
            case Step.DRAFT_FINISH | Step.DRAFT_CLOSE:
                await engine.finish_update(None, deadline_s=limit_s)
            case Step.RESUME:
                await engine.resume(deadline_s=limit_s)
            case Step.PROMPTS:
                await self._ask(state)
            case _:
                assert_never(state.step)

    async def _prepared(self, state: SwapState, limit_s: float) -> None:
        """A process that is gone answers in no file: ask it meanwhile whether it is there."""
        backend, patience = self._hands.backend, self._hands.patience
        ready = asyncio.ensure_future(backend.prepared(_transfer(state), deadline_s=limit_s))
        ready.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            while not (await asyncio.wait({ready}, timeout=patience.alive_every_s))[0]:
                await self._check_alive(state)
            ready.result()
        finally:
            ready.cancel()

    async def _check_alive(self, state: SwapState) -> None:
        """Raises EngineError where the process is gone. One that is only busy says nothing."""
        try:
            info = await self._hands.engine.info(deadline_s=self._hands.patience.info_s)
        except EngineStateUnknown:
            return
        if info.instance != state.instance:
            raise EngineStateUnknown("EngineRestarted", f"{info.instance} is another process")

    async def _drain(self, drain_s: float, mode: PauseMode) -> None:
        """Watch until nothing runs or waits; what is left then is paused with the rest.

        With GiveUp nothing is paused before it was seen to be idle. Raises BackendError (Busy).
        """
        until = self._hands.clock.monotonic() + drain_s
        while True:
            left = until - self._hands.clock.monotonic()
            if left <= 0 and mode is not PauseMode.GIVE_UP:
                return
            load = await self._hands.inference.load(deadline_s=self._hands.patience.read_back_s)
            if load.idle:
                return
            if left <= 0:
                message = f"{load.running} running and {load.waiting} waiting requests after {drain_s:g} s"
                failure = Failure(FailureClass.ENVIRONMENT, HoldReason.REQUESTS_RUNNING, message)
                raise BackendError(Answer.BUSY, failure)
            await asyncio.sleep(min(DRAIN_POLL_S, left))

    async def _ask(self, state: SwapState) -> None:
        """Raises BackendError where an answer is not what it must be."""
        wrong = await complaint(
            self._hands.inference,
            state.request.prompts,
            self._hands.backend.golden(_transfer(state)),
            lambda: self._limit(state),
        )
        if wrong is not None:
            failure = Failure(FailureClass.WEIGHTS, REASONS[Step.PROMPTS], wrong)
            raise BackendError(Answer.WRONG, failure)

    # -- read back ------------------------------------------------------------------------

    async def _look(self, state: SwapState) -> Event:
        """All three at once: two of these looks lie in the pause. The other two answers count only
        where GetServerInfo names the process that was asked about."""
        engine, patience = self._hands.engine, self._hands.patience
        asked_paused = asyncio.ensure_future(engine.is_paused(deadline_s=patience.read_back_s))
        asked_version = asyncio.ensure_future(engine.version(deadline_s=patience.read_back_s))
        try:
            info = await engine.info(deadline_s=patience.info_s)
            if info.instance != state.instance:
                return Saw(info.instance, paused=False, version="")
            paused, version = await asked_paused, await asked_version
        except EngineError as error:
            self._mind(error)
            await asyncio.sleep(BLIND_PACE_S)
            return Blind(f"{error.reason}: {error.message}")
        finally:
            asked_paused.cancel()
            asked_version.cancel()
            await asyncio.gather(asked_paused, asked_version, return_exceptions=True)
        self._watch.engine_found()
        return Saw(info.instance, paused, version)

    def _mind(self, error: EngineError) -> None:
        """An engine that died pauses nobody any more, however long its restart takes."""
        if isinstance(error, EngineUnreachable) or error.reason == CONNECTION_CUT:
            self._watch.engine_lost()


def _log(state: SwapState, event: Event) -> None:
    """What went wrong is for people at once, the rest for whoever asks for it."""
    wrong = isinstance(event, Failed) and event.answer is not Answer.BUSY
    level = logging.WARNING if wrong else logging.DEBUG
    log.log(level, "swap %s: %s, holds %s: %s", state.txn, state.step, state.holds, event)


def _transfer(state: SwapState) -> Transfer:
    content = state.content
    assert content is not None, f"{state.step} with nothing to load"
    draft = state.draft
    return Transfer(state.transfer_id, content, state.instance, draft.digest if draft else "")
