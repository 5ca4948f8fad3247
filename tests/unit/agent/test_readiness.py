"""The readiness probe, every combination of facts."""

from dataclasses import replace
from itertools import product

import pytest

from weightrollout.agent.readiness import Facts, Swapping, not_ready
from weightrollout.agent.reasons import NotReadyReason
from weightrollout.swap.records import BASELINE, Content

TOLD = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
OTHER = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
READY = Facts(
    answering=True,
    same_instance=True,
    swapping=Swapping.NO,
    poisoned=False,
    paused=False,
    loaded=TOLD,
    wanted=TOLD,
)
EVERY = [
    Facts(*each)
    for each in product(
        (True, False),
        (True, False),
        tuple(Swapping),
        (True, False),
        (True, False),
        (None, BASELINE, OTHER, TOLD),
        (None, BASELINE, OTHER, TOLD),
        (True, False),
        ("", "it is paused"),
        (True, False),
    )
]


def in_words(facts: Facts) -> bool:
    """The rule as the design words it, written apart from the code."""
    right = facts.loaded is not None and facts.wanted is not None and facts.loaded == facts.wanted
    ours = facts.swapping is Swapping.IN_SERVICE and facts.same_instance
    asked = facts.answering  # (a)
    loaded = right or ours  # (b)
    not_taken_out = facts.swapping not in (Swapping.OUT, Swapping.RESERVED_OUT)  # (c)
    not_paused = not facts.paused or ours  # (e)
    stays = not facts.leaving
    free = stays and not facts.held
    awaited = facts.driven and facts.loaded == BASELINE and not ours
    free = free and not awaited
    return asked and loaded and not_taken_out and not facts.poisoned and not_paused and free  # (d)


def test_pod_is_ready_exactly_when_every_rule_holds() -> None:
    assert len(EVERY) == 2 * 2 * 4 * 2 * 2 * 4 * 4 * 2 * 2 * 2
    differing = [facts for facts in EVERY if (not_ready(facts) is None) is not in_words(facts)]
    assert differing == []


def test_every_refusal_has_a_reason_and_a_message() -> None:
    reasons = {why.reason for facts in EVERY if (why := not_ready(facts)) and why.message}
    assert reasons == set(NotReadyReason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"answering": False, "poisoned": True}, NotReadyReason.ENGINE_UNREACHABLE),
        ({"poisoned": True, "paused": True, "loaded": None}, NotReadyReason.POISONED),
        ({"poisoned": True, "leaving": True}, NotReadyReason.POISONED),
        ({"leaving": True, "swapping": Swapping.OUT}, NotReadyReason.LEAVING),
        ({"swapping": Swapping.OUT, "loaded": None}, NotReadyReason.SWAPPING),
        ({"swapping": Swapping.RESERVED_OUT, "paused": True}, NotReadyReason.RESERVED),
        ({"paused": True, "loaded": None}, NotReadyReason.ENGINE_PAUSED),
        ({"loaded": None, "wanted": None}, NotReadyReason.SERVING_UNKNOWN),
        ({"loaded": BASELINE}, NotReadyReason.NOT_SERVING_TOLD),
    ],
)
def test_gravest_reason_is_given(change: dict[str, object], reason: NotReadyReason) -> None:
    why = not_ready(replace(READY, **change))  # type: ignore[arg-type]
    assert why is not None
    assert why.reason is reason


def test_engine_that_restarted_in_a_swap_with_take_out_none_is_out() -> None:
    facts = replace(
        READY, swapping=Swapping.IN_SERVICE, same_instance=False, loaded=BASELINE, wanted=TOLD
    )
    assert not_ready(facts) is not None


def test_same_weights_under_another_revision_name_are_the_same() -> None:
    assert not_ready(replace(READY, loaded=replace(TOLD, revision="rev-9", uri=""))) is None
