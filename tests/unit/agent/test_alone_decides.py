"""Without an operator, every combination of facts: what the agent does by itself, and what never."""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from weightrollout.agent.alone import Decision, Step, View, decide, goal
from weightrollout.agent.reasons import AloneReason, NotReadyReason
from weightrollout.agent.stable import ABSENT, Stable
from weightrollout.swap.book import Book, Serving
from weightrollout.swap.hold import from_trainer
from weightrollout.swap.records import BASELINE, Content

TRAINERS = from_trainer("7")
V2 = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
V3 = Content("rev-3", "v3", "file:///v3", "sha256:" + "3" * 64)
YES_NO = (True, False)
EVERY = [
    View(*each)
    for each in product(
        YES_NO,
        (None, *NotReadyReason),
        YES_NO,
        YES_NO,
        (None, BASELINE, V2, TRAINERS),
        YES_NO,
        YES_NO,
        YES_NO,
        (0, 1, 2),
        YES_NO,
        YES_NO,
    )
]
#: Restarted while no operator is there: the common case.
RESTARTED = View(
    silent=True,
    out=NotReadyReason.NOT_SERVING_TOLD,
    left=True,
    driven=False,
    goal=V2,
    read_back=True,
    fit=True,
    staged=True,
    attempts=0,
    backing_off=False,
    asked_to_end=False,
)


def in_words(view: View) -> Step:
    """The rule as the design words it, written apart from the code."""
    alone = view.silent and view.out is not None and view.left
    hands_off = (
        NotReadyReason.ENGINE_UNREACHABLE,
        NotReadyReason.ENGINE_PAUSED,
        NotReadyReason.SWAPPING,
        NotReadyReason.RESERVED,
        NotReadyReason.LEAVING,
        NotReadyReason.HELD_BY_TRAINER,
    )
    may = not view.backing_off and view.attempts < 2 and view.goal is not None
    if not alone or not may or view.out in hands_off:
        return Step.NOTHING
    poisoned = view.out is NotReadyReason.POISONED
    if poisoned or (view.goal == BASELINE and view.read_back):
        return Step.NOTHING if view.asked_to_end else Step.RESTART
    if not view.read_back or not view.fit or view.goal == TRAINERS:
        return Step.NOTHING
    return Step.SWAP if view.staged else Step.STAGE


def test_agent_acts_exactly_when_every_rule_holds() -> None:
    differing = [view for view in EVERY if decide(view).step is not in_words(view)]
    assert differing == []
    assert set(Counter(decide(view).step for view in EVERY)) == set(Step)


def test_engine_that_serves_is_never_touched() -> None:
    assert {decide(view).step for view in EVERY if view.out is None} == {Step.NOTHING}


def test_nothing_is_done_beside_an_operator() -> None:
    assert {decide(view).step for view in EVERY if not view.silent} == {Step.NOTHING}


@pytest.mark.parametrize(
    ("change", "step", "reason"),
    [
        ({}, Step.SWAP, AloneReason.STAGED),
        ({"staged": False}, Step.STAGE, AloneReason.NOT_STAGED),
        ({"staged": False, "fit": False}, Step.NOTHING, AloneReason.INCOMPATIBLE),
        ({"read_back": False, "fit": False}, Step.NOTHING, AloneReason.NOT_READ_BACK),
        ({"left": False}, Step.NOTHING, AloneReason.LEAVING),
        ({"attempts": 2, "backing_off": True}, Step.NOTHING, AloneReason.GAVE_UP),
        ({"backing_off": True}, Step.NOTHING, AloneReason.BACK_OFF),
        ({"goal": None}, Step.NOTHING, AloneReason.GOAL_UNKNOWN),
        ({"goal": None, "driven": True}, Step.NOTHING, AloneReason.NOTHING_PROVEN),
        ({"goal": BASELINE}, Step.RESTART, AloneReason.BACK_TO_BASELINE),
        ({"out": NotReadyReason.POISONED}, Step.RESTART, AloneReason.POISONED),
        (
            {"out": NotReadyReason.POISONED, "asked_to_end": True},
            Step.NOTHING,
            AloneReason.ASKED_TO_END,
        ),
        (
            {"out": NotReadyReason.POISONED, "attempts": 2},
            Step.NOTHING,
            AloneReason.GAVE_UP,
        ),
        ({"out": NotReadyReason.SERVING_UNKNOWN}, Step.SWAP, AloneReason.STAGED),
        ({"out": NotReadyReason.ENGINE_PAUSED}, Step.NOTHING, NotReadyReason.ENGINE_PAUSED),
        ({"out": NotReadyReason.RESERVED}, Step.NOTHING, NotReadyReason.RESERVED),
    ],
)
def test_every_step_and_every_wait_has_its_reason(
    change: dict[str, object], step: Step, reason: AloneReason | NotReadyReason
) -> None:
    assert decide(replace(RESTARTED, **change)) == Decision(step, reason)  # type: ignore[arg-type]


def test_no_reason_is_unused() -> None:
    assert {decide(view).reason for view in EVERY} >= set(AloneReason)


PUBLISHED = Stable(V2, "cr", 5)


@pytest.mark.parametrize(
    ("book", "stable", "leads_to"),
    [
        (Book(), PUBLISHED, V2),  # never heard of an operator
        (Book(owner_uid="cr", epoch=9), PUBLISHED, V2),  # greeted, told nothing: no order is older
        (Book(owner_uid="cr", epoch=5, told=V3), PUBLISHED, V2),
        (Book(owner_uid="cr", epoch=4, told=V3), PUBLISHED, V2),
        (Book(owner_uid="cr", epoch=6, told=V3), PUBLISHED, V3),  # published by an older leader
        (Book(owner_uid="cr2", epoch=1, told=V3), PUBLISHED, V3),  # by another WeightRollout
        (Book(owner_uid="cr", epoch=5, serving=Serving(V3, "e-1")), ABSENT, V3),
        (Book(owner_uid="cr", epoch=5, told=V3), ABSENT, V3),  # a lost ConfigMap orders nothing
        (Book(owner_uid="cr", epoch=5, told=V3), Stable(None), V3),
        (Book(owner_uid="cr", epoch=5, told=BASELINE), Stable(V2, "cr", 4), BASELINE),
        (Book(), ABSENT, BASELINE),
        (Book(), Stable(None), None),
    ],
)
def test_order_of_a_newer_leader_is_never_undone_by_an_older_publication(
    book: Book, stable: Stable, leads_to: Content | None
) -> None:
    assert goal(book, stable) == leads_to
