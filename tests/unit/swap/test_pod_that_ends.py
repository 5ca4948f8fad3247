"""The engine is about to be ended: what the machine gives up, and what it does not."""

import pytest

from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.swap.events import Answered, Event, Saw, Time
from weightrollout.swap.machine import advance, begin, may_be_left
from weightrollout.swap.records import Content, Holds, Step, SwapRequest, SwapState

NEW = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
OK = Answered()
PAUSED = Saw("engine-1", paused=True, version="v1")
RUNNING = Saw("engine-1", paused=False, version="v1")
UNTIL_PAUSE = (OK, OK, OK)


def play(*events: Event) -> SwapState:
    state = begin(SwapRequest("txn", 1, NEW, None, PauseMode.KEEP, True, 1.0, 10.0, ()), "engine-1")
    for event in events:
        state = advance(state, event, Time.IN_TIME)
    return state


@pytest.mark.parametrize("answers", [(), (OK,), (OK, OK)])
def test_swap_that_has_not_paused_ends_untouched_and_blames_no_version(
    answers: tuple[Event, ...],
) -> None:
    state = advance(play(*answers), OK, Time.LEAVING)
    assert state.outcome is Outcome.UNTOUCHED
    assert state.failure is not None
    told = (state.failure.failure_class, state.failure.reason)
    assert told == (FailureClass.ENVIRONMENT, "PodLeaving")


def test_swap_that_has_paused_resumes_the_old_weights() -> None:
    state = advance(play(*UNTIL_PAUSE), OK, Time.LEAVING)
    state = advance(state, PAUSED, Time.LEAVING)
    assert (state.step, state.holds) == (Step.RESUME, Holds.OLD)
    state = advance(advance(state, OK, Time.LEAVING), RUNNING, Time.LEAVING)
    assert state.outcome is Outcome.UNTOUCHED


def test_swap_is_not_left_any_more_once_a_start_may_have_been_sent() -> None:
    state = play(*UNTIL_PAUSE, OK, PAUSED)
    assert state.step is Step.START
    assert not may_be_left(state)
    assert not may_be_left(advance(state, OK, Time.IN_TIME))
