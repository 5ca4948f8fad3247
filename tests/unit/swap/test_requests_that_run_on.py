"""pauseMode GiveUp: what still runs is neither paused nor ended, and nobody is to blame for it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from modelled.clockwork import StoryClock, StoryLoop
from weightrollout.api.spec import PauseMode, TakeOut
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.engine.errors import EngineError, EngineRefused
from weightrollout.engine.protocol import EngineInfo, EngineLoad
from weightrollout.handover.records import BACKEND
from weightrollout.swap import machine
from weightrollout.swap.book import Book, begun, ended, view
from weightrollout.swap.events import Answered, Blind, Failed, Saw, Time
from weightrollout.swap.records import Answer, Content, Failure, Step, SwapRequest, SwapState
from weightrollout.swap.run import Hands, SwapRun

NEW: Final = Content("rev-2", "v2", "file:///v2/", "sha256:" + "2" * 64)
DRAIN_S: Final = 5.0
REQUEST: Final = SwapRequest(
    "cr/rev-2/pod/1", 1, NEW, None, PauseMode.GIVE_UP, True, DRAIN_S, 300.0, ()
)
BUSY: Final = Failed(Answer.BUSY, Failure(FailureClass.ENVIRONMENT, "RequestsRunning", "1 running"))
IDLE: Final = EngineLoad(0, 0)
UNREADABLE: Final = EngineRefused("MetricUnreadable", "/metrics has no number")


def busy(event: Saw | Blind) -> SwapState:
    state = machine.begin(REQUEST, "engine-1")
    for each in (Answered(), Answered(), BUSY, event):
        state = machine.advance(state, each, Time.IN_TIME)
    return state


@pytest.mark.parametrize("paused", [False, True])
def test_requests_that_run_on_end_it_before_any_pause_of_ours(paused: bool) -> None:
    state = busy(Saw("engine-1", paused=paused, version="v1"))
    assert state.outcome is Outcome.GAVE_UP
    assert not state.pause_sent
    assert state.failure == BUSY.failure


def test_giving_up_is_no_attempt_and_changes_nothing_of_what_is_known() -> None:
    state = busy(Saw("engine-1", paused=False, version="v1"))
    before = begun(Book(told=NEW, touched="engine-1"), state, TakeOut.ENDPOINT)
    after = ended(before, state, view(state, 0.0, ()))
    assert after.attempts == ()
    assert (after.running, after.reservation) == (None, None)
    assert replace(after, finished=(), running=before.running) == before


def test_engine_that_restarted_meanwhile_is_not_called_busy() -> None:
    assert busy(Saw("engine-2", paused=False, version="v1")).outcome is Outcome.RESTARTED


def test_engine_that_is_gone_is_not_called_busy() -> None:
    state = busy(Blind("nobody listens"))
    assert state.outcome is Outcome.UNTOUCHED
    assert state.failure is not None
    assert state.failure.reason == "EngineUnreachable"


class Loaded:
    """An engine whose metrics say the given loads one after the other, and then the last of them."""

    def __init__(self, said: Sequence[EngineLoad | EngineError]) -> None:
        self._said = list(said)
        self.asked = 0
        self.pauses: list[PauseMode] = []
        self.resumed = False

    async def load(self, *, deadline_s: float) -> EngineLoad:
        said = self._said[min(self.asked, len(self._said) - 1)]
        self.asked += 1
        if isinstance(said, EngineError):
            raise said
        return said

    async def info(self, *, deadline_s: float) -> EngineInfo:
        return EngineInfo("engine-1", "0.33.0", BACKEND, 1)

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        self.pauses.append(mode)

    async def resume(self, *, deadline_s: float) -> None:
        self.resumed = True

    async def is_paused(self, *, deadline_s: float) -> bool:
        return bool(self.pauses) and not self.resumed

    async def version(self, *, deadline_s: float) -> str:
        return "v2" if self.pauses else "v1"

    async def nothing(self, *_: object, **__: object) -> None:
        """Always done."""

    init_transfer = start_update = update = finish_update = nothing


class Believed:
    """A backend whose images and receipts are always right."""

    def init_info(self, *_: object) -> bytes:
        return b""

    def golden(self, *_: object) -> None:
        return None

    async def prepared(self, *_: object, **__: object) -> None:
        return None

    update_info, prove = init_info, golden


def swapped(engine: Loaded, *, drain_s: float, mode: PauseMode = PauseMode.GIVE_UP) -> SwapState:
    loop = StoryLoop()
    parts: Any = {"engine": engine, "inference": engine, "backend": Believed()}
    run = SwapRun(
        Hands(**parts, clock=StoryClock(loop)),
        machine.begin(replace(REQUEST, drain_s=drain_s, pause_mode=mode), "engine-1"),
        record=lambda _: None,
        changed=lambda _: None,
    )
    state: SwapState = loop.run_until_complete(run.run())
    loop.close()
    return state


@pytest.mark.parametrize("load", [EngineLoad(1, 0), EngineLoad(0, 1)])
@pytest.mark.parametrize("drain_s", [0.0, DRAIN_S])
def test_waiting_requests_count_as_running_ones_do(load: EngineLoad, drain_s: float) -> None:
    engine = Loaded([load])
    state = swapped(engine, drain_s=drain_s)
    assert (state.outcome, state.step) == (Outcome.GAVE_UP, Step.DRAIN)
    assert state.failure is not None
    assert f"{load.running} running and {load.waiting} waiting" in state.failure.message
    assert engine.pauses == []


@pytest.mark.parametrize("drain_s", [0.0, DRAIN_S])
def test_engine_that_is_idle_is_swapped(drain_s: float) -> None:
    engine = Loaded([EngineLoad(2, 1), EngineLoad(0, 1), IDLE] if drain_s else [IDLE])
    assert swapped(engine, drain_s=drain_s).outcome is Outcome.COMMITTED
    assert engine.pauses == [PauseMode.GIVE_UP]


def test_request_that_ends_at_the_last_moment_is_not_one_that_runs_on() -> None:
    polls = round(DRAIN_S / 0.1)
    engine = Loaded([*[EngineLoad(1, 0)] * polls, IDLE])
    assert swapped(engine, drain_s=DRAIN_S).outcome is Outcome.COMMITTED


@pytest.mark.parametrize("mode", list(PauseMode))
def test_engine_whose_metrics_cannot_be_read_is_never_taken_for_idle(mode: PauseMode) -> None:
    engine = Loaded([EngineLoad(1, 0), UNREADABLE])
    state = swapped(engine, drain_s=DRAIN_S, mode=mode)
    assert state.outcome is Outcome.UNTOUCHED
    assert state.failure is not None
    assert state.failure.reason == "DrainFailed"
    assert engine.pauses == []


@pytest.mark.parametrize("mode", [PauseMode.KEEP, PauseMode.ABORT])
def test_other_modes_pause_what_runs_on(mode: PauseMode) -> None:
    engine = Loaded([EngineLoad(1, 0)])
    assert swapped(engine, drain_s=DRAIN_S, mode=mode).outcome is Outcome.COMMITTED
    assert engine.pauses == [mode]
