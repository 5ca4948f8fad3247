"""Which pods a PodDisruptionBudget selects, and how many more it allows: row by row."""

from dataclasses import replace

import pytest

from planning.worlds import world_of
from weightrollout.api.disruption import DisruptionBudget, Requirement
from weightrollout.rollout.disruption import disruptions_of
from weightrollout.rollout.fleet import Doing, Fleet, Work
from weightrollout.rollout.memory import remember_pods
from weightrollout.rollout.plan import _assess
from weightrollout.rollout.target import choose_goal


@pytest.mark.parametrize(
    ("requirement", "labels", "selected"),
    [
        (Requirement("app", "In", frozenset({"a", "b"})), {"app": "b"}, True),
        (Requirement("app", "In", frozenset({"a", "b"})), {"app": "c"}, False),
        (Requirement("app", "In", frozenset({"a", "b"})), {}, False),
        (Requirement("app", "NotIn", frozenset({"a"})), {"app": "b"}, True),
        (Requirement("app", "NotIn", frozenset({"a"})), {"app": "a"}, False),
        (Requirement("app", "NotIn", frozenset({"a"})), {}, True),
        (Requirement("app", "Exists"), {"app": ""}, True),
        (Requirement("app", "Exists"), {"tier": "a"}, False),
        (Requirement("app", "DoesNotExist"), {"tier": "a"}, True),
        (Requirement("app", "DoesNotExist"), {"app": "a"}, False),
        (Requirement("app", "LikeNothingKnown"), {}, True),
    ],
)
def test_selector_means_what_policy_v1_says(
    requirement: Requirement, labels: dict[str, str], selected: bool
) -> None:
    assert DisruptionBudget("pdb", (requirement,), observed=True).selects(labels) == selected


def test_empty_selector_selects_all_an_absent_one_none_and_all_lines_count() -> None:
    both = (Requirement("app", "Exists"), Requirement("tier", "DoesNotExist"))
    assert DisruptionBudget("pdb", (), observed=True).selects({})
    assert not DisruptionBudget("pdb", None, observed=True).selects({})
    assert not DisruptionBudget("pdb", both, observed=True).selects({"app": "a", "tier": "b"})
    assert DisruptionBudget("pdb", both, observed=True).selects({"app": "a"})


def fleet_of(ready: str, ours: str = "", budget: DisruptionBudget | None = None) -> Fleet:
    """One letter per pod: `r` Ready, `u` not; in `ours` an `x` for a pod that a swap of ours has."""
    world = world_of("b", len(ready), on="a")
    work = set()
    for pod, letter, mark in zip(world.pods, ready, ours.ljust(len(ready)), strict=True):
        pod.ready = letter == "r"
        if mark == "x":
            work.add(Work(Doing.RESERVE, pod.uid, "chat-b"))
    seen = () if budget is None else (budget,)
    return replace(world.observe(), work=frozenset(work), disruption_budgets=seen)


def left(fleet: Fleet) -> int:
    situation = _assess(fleet, remember_pods(fleet), choose_goal(fleet))
    (share,) = disruptions_of(fleet, situation.pods).shares
    return share.left


def counted(healthy: int, expected: int, desired: int) -> DisruptionBudget:
    allowed = max(0, healthy - desired)
    return DisruptionBudget("pdb", (), True, allowed, healthy, desired, expected)


@pytest.mark.parametrize(
    ("ready", "ours", "budget", "expected"),
    [
        ("rrrr", "", counted(4, 4, 3), 1),
        ("rrrr", "x", counted(4, 4, 3), 0),  # leaving: its controller cannot know
        ("urrr", "x", counted(4, 4, 3), 0),  # left, and its controller is behind
        ("urrr", "x", counted(3, 4, 3), 0),  # left, and counted: not twice
        ("urrr", "x", counted(3, 4, 2), 1),
        ("uurr", "x ", counted(3, 4, 1), 1),  # another one broke; only one of the two is counted
        ("rrrr", "xx", counted(4, 4, 1), 1),
        ("rrru", "", counted(3, 3, 2), 1),  # a pod beyond what is expected is not missed
        ("rr", "", counted(5, 5, 4), 1),  # pods of others
        ("ur", "x", counted(4, 5, 3), 1),  # pods of others, and ours is counted
    ],
)
def test_swap_of_ours_is_counted_once(
    ready: str, ours: str, budget: DisruptionBudget, expected: int
) -> None:
    assert left(fleet_of(ready, ours, budget)) == expected


def test_budget_that_selects_no_pod_of_the_fleet_says_nothing() -> None:
    foreign = DisruptionBudget("db", (Requirement("app", "In", frozenset({"db"})),), observed=False)
    fleet = fleet_of("rr", "", foreign)
    situation = _assess(fleet, remember_pods(fleet), choose_goal(fleet))
    assert disruptions_of(fleet, situation.pods).shares == ()
