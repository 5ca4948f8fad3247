"""PodDisruptionBudgets and pods beyond repair, as golden logs.

Each story also runs in seeded random orders, where only the invariants and its ending must hold.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from planning.stories import Story, compare
from planning.worlds import POISONED, TAKE_OUT_NONE, new_pod, ref_of, world_of
from weightrollout.api.disruption import Requirement
from weightrollout.api.spec import Repair, Strategy
from weightrollout.api.status import Phase
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AttemptsView, Doing, Memory
from weightrollout.rollout.simulate import Choose, ToyWorld, first
from weightrollout.rollout.toybudget import ToyBudget

FOLDER = Path(__file__).parent / "stories" / "disruption"
Tell = Callable[[Choose], Story]
REPLACE = Repair(retries=1, allow_delete=True)


def complete(plan: Plan) -> bool:
    return plan.status.phase is Phase.COMPLETE


def held_for(reason: str) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.hold is not None and plan.status.hold.reason == reason


def guarded(choose: Choose, budget: ToyBudget, count: int = 4, **fields: object) -> ToyWorld:
    """Pods that serve a, with b desired, and with no limit but the budget's."""
    strategy = Strategy(max_unavailable="100%", prove_first=False)
    world = world_of("b", count, on="a", choose=choose, **({"strategy": strategy} | fields))
    world.budgets = [budget]
    return world


def one_at_a_time_gets_through(choose: Choose) -> Story:
    """maxUnavailable would let all go."""
    story = Story(guarded(choose, ToyBudget("chat", min_available=3)))
    plan = story.until(complete)
    assert plan.status.updated == "4/4"
    return story


def two_at_a_time_where_two_are_allowed(choose: Choose) -> Story:
    story = Story(guarded(choose, ToyBudget("chat", max_unavailable=2), count=5))
    story.until(complete)
    return story


def none_left_holds_until_a_pod_is_back(choose: Choose) -> Story:
    world = guarded(choose, ToyBudget("chat", min_available=3))
    story = Story(world)
    world.pod("chat-3").engine_up = False
    story.until(held_for("NoDisruptionLeft"))
    story.say("the engine of chat-3 comes up")
    world.pod("chat-3").restart()
    story.until(complete)
    return story


def budget_that_never_allows_one_holds_until_it_is_changed(choose: Choose) -> Story:
    budget = ToyBudget("chat", max_unavailable=0)
    story = Story(guarded(choose, budget, count=2))
    story.until(held_for("NoDisruptionLeft"))
    plan = story.for_seconds(4000)
    assert plan.status.phase is Phase.PROGRESSING, "no version is blamed for it"
    story.say("it allows one")
    budget.change(max_unavailable=1)
    story.until(held_for("DisruptionBudgetUnknown"))
    story.until(complete)
    return story


def ignored_when_a_person_says_so(choose: Choose) -> Story:
    world = guarded(choose, ToyBudget("chat", max_unavailable=0), count=2)
    story = Story(world)
    story.until(held_for("NoDisruptionLeft"))
    story.say("strategy.ignorePDB: true")
    world.change_spec(strategy=world.spec.strategy.model_copy(update={"ignore_pdb": True}))
    story.until(complete)
    return story


def swap_in_its_endpoints_costs_nothing(choose: Choose) -> Story:
    world = guarded(choose, ToyBudget("chat", max_unavailable=0), count=2, swap=TAKE_OUT_NONE)
    story = Story(world)
    story.until(complete)
    return story


def pod_out_of_service_costs_nothing(choose: Choose) -> Story:
    world = guarded(choose, ToyBudget("chat", max_unavailable=0), count=2)
    world.spec = world.spec.model_copy(update={"weights": None})
    world.pods.append(new_pod(2))
    story = Story(world)
    story.until(lambda _: world.pod("chat-2").loaded == ref_of("a"))
    return story


def other_pods_go_meanwhile(choose: Choose) -> Story:
    """Of two kinds of pods only one is guarded."""
    canary = Requirement("tier", "In", frozenset({"gold"}))
    world = guarded(choose, ToyBudget("gold", max_unavailable=0, selector=(canary,)), count=3)
    world.pod("chat-0").labels = {"tier": "gold"}
    story = Story(world)
    story.until(lambda plan: plan.status.updated == "2/3" and held_for("NoDisruptionLeft")(plan))
    return story


def rights_are_missing(choose: Choose) -> Story:
    world = guarded(choose, ToyBudget("chat"), count=2)
    budgets, world.budgets = world.budgets, []
    world.budgets_denied = "GET poddisruptionbudgets: 403"
    story = Story(world)
    story.until(held_for("DisruptionBudgetsUnreadable"))
    story.say("the chart is upgraded")
    world.budgets_denied, world.budgets = "", budgets
    story.until(complete)
    return story


def takeover_in_mid_swap(choose: Choose) -> Story:
    world = guarded(choose, ToyBudget("chat", max_unavailable=1), count=3)
    story = Story(world)
    story.until(lambda _: any(pod.reserved_txn for pod in world.pods))
    story.say("a new leader")
    world.memory = Memory()
    story.until(complete)
    return story


def _hangs(choose: Choose, repair: Repair) -> tuple[ToyWorld, Story]:
    world = world_of("b", 3, on="a", choose=choose, repair=repair)
    world.pod("chat-1").fates, world.pod("chat-1").hangs = [POISONED], True
    return world, Story(world)


def engine_that_does_not_restart_is_told(choose: Choose) -> Story:
    world, story = _hangs(choose, Repair(retries=1))
    story.until(held_for("BeyondRepair"))
    story.say("repair.allowDelete: true")
    world.change_spec(repair=REPLACE)
    story.until(complete)
    assert world.pod("chat-1").uid == "pod-1+"
    return story


def pod_that_poisons_again_and_again_is_evicted(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose, repair=REPLACE)
    world.pod("chat-1").fates = [POISONED] * 9
    story = Story(world)
    story.until(complete)
    assert world.pod("chat-1").uid == "pod-1+"
    return story


def evictions_are_one_at_a_time(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=2)
    world = world_of("b", 4, on="a", choose=choose, repair=REPLACE, strategy=strategy)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated >= 1)
    for pod in world.pods:
        if pod.loaded != ref_of("b"):
            pod.fates, pod.hangs = [POISONED], True
    story.until(complete)
    return story


def eviction_waits_for_its_budget(choose: Choose) -> Story:
    world, story = _hangs(choose, REPLACE)
    budget = ToyBudget("chat", max_unavailable=1)
    world.budgets = [budget]
    story.until(lambda _: world.pod("chat-1").poisoned)
    budget.change(min_available=3)
    story.until(held_for("EvictionRefused"))
    story.say("the budget has room")
    budget.change(max_unavailable=1)
    story.until(complete)
    return story


def eviction_is_forbidden(choose: Choose) -> Story:
    world, story = _hangs(choose, REPLACE)
    world.refused = {Doing.EVICT}
    story.until(held_for("Refused"))
    story.say("the operator may evict")
    world.refused = set()
    story.until(complete)
    return story


def pod_that_nobody_would_replace_is_told(choose: Choose) -> Story:
    world, story = _hangs(choose, REPLACE)
    world.pod("chat-1").controlled = False
    story.until(held_for("NoController"))
    return story


def stranded_pod_without_tries_is_evicted(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=1, max_failed="100%")
    world = world_of("b", 3, on="a", choose=choose, repair=Repair(retries=0), strategy=strategy)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated >= 1)
    broken = next(pod for pod in world.pods if pod.loaded != ref_of("b") and not pod.swapping)
    for version in ("a", "b"):
        tried = AttemptsView(1, FailureClass.POD, "EngineCrashed", "the engine process ended")
        broken.attempts[ref_of(version).digest or ""] = tried
    broken.restart()
    story.until(held_for("BeyondRepair"))
    story.say("repair.allowDelete: true")
    world.change_spec(repair=Repair(retries=0, allow_delete=True))
    story.until(complete)
    return story


STORIES: dict[str, Tell] = {
    tell.__name__: tell
    for tell in (
        one_at_a_time_gets_through,
        two_at_a_time_where_two_are_allowed,
        none_left_holds_until_a_pod_is_back,
        budget_that_never_allows_one_holds_until_it_is_changed,
        ignored_when_a_person_says_so,
        swap_in_its_endpoints_costs_nothing,
        pod_out_of_service_costs_nothing,
        other_pods_go_meanwhile,
        rights_are_missing,
        takeover_in_mid_swap,
        engine_that_does_not_restart_is_told,
        pod_that_poisons_again_and_again_is_evicted,
        evictions_are_one_at_a_time,
        eviction_waits_for_its_budget,
        eviction_is_forbidden,
        pod_that_nobody_would_replace_is_told,
        stranded_pod_without_tries_is_evicted,
    )
}


@pytest.mark.parametrize("name", STORIES)
def test_disruption_reads_as_its_golden_log(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", STORIES)
def test_disruption_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


def test_every_golden_log_of_a_disruption_has_a_story() -> None:
    assert {path.stem for path in FOLDER.glob("*.story")} == set(STORIES)
