"""What a pass does for a fleet of any size. Work is counted in lines of Python, never in seconds."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from planning.large import SITUATIONS
from planning.worlds import world_of
from weightrollout.api.spec import Strategy
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import RecordRevision, Reserve
from weightrollout.rollout.decide import MOST_RESERVED
from weightrollout.rollout.fleet import Fleet
from weightrollout.rollout.plan import plan


@pytest.mark.parametrize("situation", SITUATIONS)
def test_ten_times_the_pods_are_ten_times_the_work_of_a_pass(situation: str) -> None:
    few, many = (lines_of_a_pass(SITUATIONS[situation](count)) for count in (20, 200))
    assert many < 10.5 * few


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_is_said_about_a_large_fleet_stays_short(situation: str) -> None:
    done = plan(SITUATIONS[situation](1000))
    assert len(done.status.model_dump_json(exclude_none=True)) < 10_000
    records = [each for each in done.actions if isinstance(each, RecordRevision)]
    assert all(len(each.message) < 1000 for each in records)


def test_a_fleet_that_is_rejected_as_a_whole_can_be_written_to_the_history() -> None:
    fleet = SITUATIONS["every pod failed"](1000)
    strict = fleet.spec.strategy.model_copy(update={"max_failed": 0})
    done = plan(with_spec(fleet, strategy=strict))
    (record,) = [each for each in done.actions if isinstance(each, RecordRevision)]
    assert "chat-1, chat-10, chat-100 and 996 more failed for good" in record.message
    assert len(record.message) < 1000


def test_failures_that_stay_do_not_take_turns_in_the_list() -> None:
    """A fleet with more of them than are listed had its status written anew in every second."""
    fleet = SITUATIONS["every pod failed"](40)
    first = plan(fleet)
    seen = replace(fleet, memory=first.memory, status=first.status)
    later = replace(seen, now=fleet.now + 5, wall="2026-11-29T10:00:05Z")
    assert len(first.status.failures) == 10
    assert plan(later).status.failures == first.status.failures


def test_first_pods_of_many_do_not_pause_behind_calls_for_all_others() -> None:
    fleet = SITUATIONS["all begin"](1000)
    first = plan(fleet)
    reserved = [each for each in first.actions if isinstance(each, Reserve)]
    assert len(reserved) == MOST_RESERVED


def test_all_pods_of_a_large_fleet_get_their_turn() -> None:
    strategy = Strategy(max_unavailable="100%")
    world = world_of("b", 3 * MOST_RESERVED, on="a", strategy=strategy)
    planned = world.one_pass()
    while planned.status.phase is not Phase.COMPLETE:
        assert world.advance(), "it stands still"
        planned = world.one_pass()
    assert planned.status.pods.updated == 3 * MOST_RESERVED


def with_spec(fleet: Fleet, **fields: Any) -> Fleet:
    return replace(fleet, spec=fleet.spec.model_copy(update=fields))


def lines_of_a_pass(fleet: Fleet) -> int:
    """A loop counts each of its turns, also in a comprehension."""
    counted = 0

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        nonlocal counted
        counted += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plan(fleet)
    finally:
        sys.settrace(before)
    return counted
