"""No boundary of the product is forgotten by the kills, and a pair of kills can be repeated."""

from dataclasses import replace
from typing import get_args

import pytest

from killing.boundaries import (
    OUT_OF_REACH,
    Entry,
    boundaries,
    entry_of,
    occasion_of,
    pairs,
    single_points,
)
from weightrollout.api.spec import PauseMode, TakeOut
from weightrollout.engine.protocol import Engine
from weightrollout.rollout.actions import Action
from weightrollout.rollout.fleet import Doing
from weightrollout.swap.book import Book, Reservation, begun
from weightrollout.swap.machine import begin
from weightrollout.swap.records import BASELINE, Content, Step, SwapRequest
from weightrollout.swap.steps import EFFECTS
from weightrollout.wire.agent import agent_pb2

WEIGHTS = Content("chat-1", "v1", "file:///models/chat/", f"sha256:{'0' * 64}")
RESERVATION = Reservation("txn", TakeOut.ENDPOINT, 30.0, WEIGHTS)
REQUEST = SwapRequest("txn", 1, WEIGHTS, None, PauseMode.KEEP, True, 1.0, 60.0, ())


@pytest.mark.parametrize("step", Step)
def test_agent_is_killed_before_and_after_every_step(step: Step) -> None:
    assert {f"agent/step/{step}/before", f"agent/step/{step}/after"} <= set(single_points())


@pytest.mark.parametrize(
    "call", [each.name for each in agent_pb2.DESCRIPTOR.services_by_name["Agent"].methods]
)
def test_both_sides_are_killed_around_every_call_of_the_agent(call: str) -> None:
    wanted = {
        f"{side}/call/{call}/{when}"
        for side in ("agent", "operator")
        for when in ("before", "after")
    }
    assert wanted <= set(single_points())


def test_operator_is_killed_around_every_action_of_a_plan() -> None:
    joins = f"operator/action/{Doing.PACE}"  # a Stage that joins one that runs
    actions = [each for each in boundaries() if each.startswith("operator/action/")]
    actions.remove(joins)
    assert len(actions) == len(get_args(Action)), "one boundary for each class of action"


def test_engine_is_killed_around_every_call_that_the_agent_can_make() -> None:
    calls = [each for each in boundaries() if each.startswith("engine/")]
    made = [name for name in vars(Engine) if not name.startswith("_") and name != "close"]
    assert len(calls) == len(made)


def test_what_is_out_of_reach_exists_and_changes_no_engine() -> None:
    assert set(OUT_OF_REACH) <= set(boundaries())
    assert not {f"agent/step/{step}" for step in EFFECTS} & set(OUT_OF_REACH)


def test_every_point_has_its_own_name() -> None:
    assert len(single_points()) == len(set(single_points()))
    assert all(occasion_of(point) for point in single_points())


def test_the_same_seed_gives_the_same_hundred_pairs() -> None:
    assert pairs(100, seed=4) == pairs(100, seed=4)
    assert len(set(pairs(100, seed=4))) == 100
    assert pairs(100, seed=4)[:10] == pairs(10, seed=4), "a sample is the beginning of the whole"


def test_journal_entries_are_told_apart() -> None:
    owned = replace(Book(), owner_uid="uid", epoch=1)
    reserved = replace(owned, reservation=RESERVATION)
    running = begun(reserved, begin(REQUEST, "instance"), TakeOut.ENDPOINT)
    assert running.running is not None
    noted = replace(
        running,
        running=replace(
            running.running, state=replace(running.running.state, step=Step.PAUSE, pause_sent=True)
        ),
    )
    changes = [
        (Book(), owned, Entry.ADOPTED),
        (owned, replace(owned, told=BASELINE), Entry.TOLD),
        (owned, reserved, Entry.RESERVED),
        (reserved, owned, Entry.RELEASED),
        (reserved, running, Entry.BEGUN),
        (running, noted, Entry.NOTED),
        (noted, owned, Entry.ENDED),
        (owned, owned, None),
    ]
    assert [entry_of(old, new) for old, new, _ in changes] == [entry for *_, entry in changes]
    assert {entry for *_, entry in changes if entry is not None} == set(Entry)
