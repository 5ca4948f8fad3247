"""What users of other rollout controllers filed: stories in which each of those bugs would show.

docs/peers.md says which issue is which. Each runs in a fixed and in seeded random orders, with all
invariants checked after every pass.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, Final

import pytest

from planning.stories import Story
from planning.worlds import (
    CRASHED,
    PROMPT_FAILED,
    UNDONE,
    digest,
    new_pod,
    ref_of,
    uri,
    weights,
    world_of,
)
from weightrollout.api.spec import Step, Strategy
from weightrollout.api.status import AnalysisOutcome, Phase
from weightrollout.rollout.actions import Plan, SwapPod
from weightrollout.rollout.fleet import AgentFault, Memory
from weightrollout.rollout.plan import plan as planned
from weightrollout.rollout.simulate import Answer, Checkpoint, Choose, ToyWorld, first

ORDERS: Final[dict[str, Choose]] = {
    "in order": first,
    "shuffled": Random(1).randrange,
    "shuffled again": Random(2).randrange,
}
in_any_order = pytest.mark.parametrize("choose", ORDERS.values(), ids=ORDERS)
BAD: Final = Answer(2.0)
ANALYSIS: Final = {
    "analysis": {
        "prometheus": {"query": "failed", "max": 1, "failAbove": 1},
        "intervalSeconds": 5,
        "count": 2,
        "failureLimit": 0,
    }
}


def strategy(*steps: dict[str, Any], **fields: Any) -> Strategy:
    found = tuple(Step.model_validate(each) for each in steps)
    return Strategy(**{"max_unavailable": 1, "steps": found, **fields})


def is_in(*phases: Phase) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.phase in phases


complete = is_in(Phase.COMPLETE)
rolled_back = is_in(Phase.ROLLED_BACK)


def ask(world: ToyWorld, verb: str, place: str = "") -> None:
    assert world.status.desired is not None
    world.action = f"{verb}:{world.status.desired.revision}{place}@{verb}"


def serve(world: ToyWorld, version: str) -> bool:
    return all(pod.loaded == ref_of(version) and pod.ready for pod in world.pods)


def crashes_after(world: ToyWorld, name: str, version: str, seconds: float) -> None:
    """Its engine comes up, serves this version for so long, ends, and comes up again, for ever."""
    pod = world.pod(name)

    def crash() -> None:
        if pod.loaded == ref_of(version):
            pod.restart()
        world.later(seconds, f"{name} crashes", crash)

    world.later(seconds, f"{name} crashes", crash)


@in_any_order
def test_engine_that_crashes_again_and_again_is_no_progress(choose: Choose) -> None:
    """It gets the new version, serves it, ends, and counts as updated in between."""
    soaking = strategy(soak_seconds=30)
    world = world_of("b", 4, on="a", strategy=soaking, progress_deadline_seconds=200, choose=choose)
    crashes_after(world, "chat-0", "b", 10.0)
    story = Story(world)
    story.until(is_in(Phase.ROLLING_BACK, Phase.ROLLED_BACK))
    assert world.now < 800
    story.until(rolled_back)
    assert serve(world, "a")


@in_any_order
def test_engine_that_crashes_in_every_swap_uses_up_its_attempts(choose: Choose) -> None:
    world = world_of("b", 4, on="a", strategy=strategy(max_failed=0), choose=choose)
    world.pod("chat-0").fates = [CRASHED] * 3
    story = Story(world)
    story.until(rolled_back)
    assert serve(world, "a")
    assert world.pod("chat-0").attempts[digest("b")].attempts == 3


@in_any_order
def test_node_that_dies_with_updated_pods_never_rolls_the_fleet_back(choose: Choose) -> None:
    world = world_of("b", 4, on="a", progress_deadline_seconds=60, choose=choose)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    lost = next(pod for pod in world.pods if pod.loaded == ref_of("b"))
    lost.fault, lost.ready = AgentFault.UNREACHABLE, False
    plan = story.for_seconds(600)
    assert plan.status.phase is Phase.PROGRESSING
    assert plan.status.hold is not None
    lost.fault = None
    story.until(complete)


@in_any_order
def test_analysis_that_failed_does_not_fail_the_next_try(choose: Choose) -> None:
    steps = strategy({"updated": 1}, ANALYSIS)
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    world.answers = [BAD]
    story = Story(world)
    plan = story.until(rolled_back)
    story.quiet()
    assert plan.status.analysis[-1].outcome is AnalysisOutcome.FAILED
    ask(world, "retry")
    story.until(complete)
    assert serve(world, "b")


@in_any_order
def test_next_version_after_a_failed_analysis_is_measured_anew(choose: Choose) -> None:
    steps = strategy({"updated": 1}, ANALYSIS)
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    world.answers = [BAD]
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    world.change_spec(weights=weights("c"))
    story.until(complete)
    assert serve(world, "c")


@in_any_order
@pytest.mark.parametrize("updated", [1, 2, 3, 4])
def test_abort_works_at_any_share_of_the_fleet(choose: Choose, updated: int) -> None:
    """Also when the last pod is about to follow: there is no phase that cannot be left."""
    world = world_of("b", 4, on="a", choose=choose)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == updated)
    ask(world, "abort")
    story.until(rolled_back)
    assert serve(world, "a")


@in_any_order
def test_canary_whose_pods_never_answer_is_given_up_in_time(choose: Choose) -> None:
    """Its engine never becomes ready with the new version."""
    steps = strategy({"updated": 2}, {"pause": {}})
    world = world_of("b", 4, on="a", strategy=steps, progress_deadline_seconds=300, choose=choose)
    crashes_after(world, "chat-0", "b", 0.5)
    story = Story(world)
    story.until(is_in(Phase.ROLLING_BACK, Phase.ROLLED_BACK))
    assert world.now < 1200


@in_any_order
@pytest.mark.parametrize("setting", ["0%", "1%", "10%", 0])
def test_budget_that_rounds_to_nothing_still_moves_one_pod(
    choose: Choose, setting: int | str
) -> None:
    world = world_of("b", 4, on="a", strategy=strategy(max_unavailable=setting), choose=choose)
    story = Story(world)
    story.until(complete)
    assert serve(world, "b")


@in_any_order
def test_canary_that_rounds_to_nothing_still_has_one_pod(choose: Choose) -> None:
    steps = strategy({"updated": "1%"}, {"pause": {}})
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(is_in(Phase.PAUSED))
    assert sum(pod.loaded == ref_of("b") for pod in world.pods) == 1


@in_any_order
@pytest.mark.parametrize("gated", [False, True])
def test_pod_taken_out_for_what_is_not_wanted_any_more_comes_back(
    choose: Choose, gated: bool
) -> None:
    """The spec goes back while it is out and before its swap began."""
    world = world_of("b", 2, on="a", gated=gated, choose=choose)
    story = Story(world)
    story.until(lambda _: any(pod.reserved_txn and not pod.ready for pod in world.pods))
    world.change_spec(weights=weights("a"))
    story.until(complete)
    story.quiet()
    assert serve(world, "a")
    assert all(pod.transaction is None for pod in world.pods)
    assert all(pod.gate_open is (True if gated else None) for pod in world.pods)


@in_any_order
@pytest.mark.parametrize("gated", [False, True])
def test_pod_taken_out_comes_back_when_the_step_has_no_room_for_it_any_more(
    choose: Choose, gated: bool
) -> None:
    steps = strategy({"updated": 3}, {"pause": {}})
    world = world_of("b", 4, on="a", strategy=steps, gated=gated, choose=choose)
    story = Story(world)
    story.until(
        lambda plan: (
            plan.status.pods.updated == 1
            and any(pod.reserved_txn and not pod.ready and not pod.swapping for pod in world.pods)
        )
    )
    world.change_spec(strategy=strategy({"updated": 1}, {"pause": {}}))
    plan = story.until(is_in(Phase.PAUSED))
    plan = story.quiet()
    assert plan.status.pods.available == 4
    assert all(pod.ready for pod in world.pods)


@in_any_order
def test_drain_is_not_skipped_by_what_a_stale_picture_shows(choose: Choose) -> None:
    """A pod that is still shown as unready from before its reservation has not left its endpoints."""
    world = world_of("b", 2, on="a", choose=choose)
    world.spec = world.spec.model_copy(
        update={"swap": world.spec.swap.model_copy(update={"settle_seconds": 5})}
    )
    story = Story(world)
    story.until(lambda _: any(pod.reserved_txn for pod in world.pods))
    pod = next(pod for pod in world.pods if pod.reserved_txn)
    shown = replace(world.observe(), memory=world.memory)
    stale = replace(
        shown,
        pods=tuple(
            replace(each, ready=True) if each.uid == pod.uid else each for each in shown.pods
        ),
    )

    swaps = [each for each in planned(stale).actions if isinstance(each, SwapPod)]
    assert swaps == []
    story.until(complete)


@in_any_order
def test_gate_that_nobody_has_answered_yet_is_answered_without_a_rollout(choose: Choose) -> None:
    world = world_of("a", 2, on="a", gated=True, choose=choose)
    story = Story(world)
    story.until(complete)
    world.pods.append(new_pod(2, gated=True))
    world.pod("chat-0").gate_open = None
    story.until(lambda plan: plan.status.pods.available == 3)
    assert all(pod.gate_open for pod in world.pods)


@in_any_order
def test_new_leader_takes_out_no_more_than_the_old_one(choose: Choose) -> None:
    """After each pass another leader that remembers nothing; the budget is an invariant of every pass."""
    world = world_of("b", 6, on="a", strategy=strategy(max_unavailable=2), choose=choose)
    story = Story(world)
    for _ in range(120):
        story.one_pass()
        world.memory = Memory()
        world.advance()
    world.spec = world.spec.model_copy(update={"progress_deadline_seconds": 1800})
    story.until(complete)
    assert serve(world, "b")


@in_any_order
def test_pod_that_comes_back_in_mid_rollout_serves_one_version_and_never_its_base_weights(
    choose: Choose,
) -> None:
    """Another one is not through yet: it gets what the fleet verified, whole."""
    steps = strategy({"updated": 1}, {"pause": {}})
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(is_in(Phase.PAUSED))
    old = next(pod for pod in world.pods if pod.loaded == ref_of("a"))
    old.restart()
    assert not old.agent_ready(world.published)
    story.until(lambda plan: plan.status.pods.available == 3)
    assert old.loaded == ref_of("a")


@in_any_order
def test_old_pods_that_are_not_ready_do_not_stop_the_version_that_mends_them(
    choose: Choose,
) -> None:
    """None of them could be waited for: they cost nothing and go first."""
    world = world_of("b", 3, on="a", choose=choose)
    for pod in world.pods:
        pod.restart()
        pod.ready = False
    story = Story(world)
    story.until(complete)
    assert serve(world, "b")


@in_any_order
def test_pod_that_is_not_ready_is_not_paid_for_with_one_that_is(choose: Choose) -> None:
    world = world_of("b", 2, on="a", choose=choose)
    world.pod("chat-0").fault = AgentFault.UNREACHABLE
    world.pod("chat-0").ready = False
    story = Story(world)
    plan = story.for_seconds(120)
    assert world.pod("chat-1").ready
    assert world.pod("chat-1").transaction is None
    assert plan.status.hold is not None
    assert plan.status.hold.reason == "BudgetUsedByUnreadyPods"


@in_any_order
@pytest.mark.parametrize("way", ["spec", "abort"])
def test_broken_middle_is_left_by_going_back_without_touching_a_pod_by_hand(
    choose: Choose, way: str
) -> None:
    """Pods half through, poisoned, and out: going back needs nothing else from a person."""
    world = world_of(
        "b", 4, on="a", strategy=strategy(max_unavailable=2, max_failed=4), choose=choose
    )
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated >= 1)
    for pod in world.pods:
        pod.fates = [UNDONE, CRASHED, UNDONE, CRASHED]
    story.for_seconds(20)
    for pod in world.pods:
        pod.fates = []
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    if way == "spec":
        world.change_spec(weights=weights("a"))
    else:
        ask(world, "abort")
    story.until(is_in(Phase.COMPLETE if way == "spec" else Phase.ROLLED_BACK))
    story.quiet()
    assert serve(world, "a")


@in_any_order
def test_second_version_whose_engine_crashes_is_given_up_like_the_first(choose: Choose) -> None:
    """The deadline of a rollout begins anew with each version, whatever became of the one before."""
    world = world_of("b", 3, on="a", progress_deadline_seconds=60, choose=choose)
    story = Story(world)
    for version in ("b", "c"):
        world.change_spec(weights=weights(version))
        crashes_after(world, "chat-0", version, 0.9)
        began = world.now
        story.until(is_in(Phase.ROLLING_BACK, Phase.ROLLED_BACK))
        assert world.now < began + 300
        story.until(rolled_back)


@in_any_order
def test_swap_of_every_version_has_a_deadline_of_its_own(choose: Choose) -> None:
    world = world_of("b", 2, on="a", pod_deadline_seconds=77, choose=choose)
    story = Story(world)
    seen: dict[str, set[float]] = {}
    for version in ("b", "c", "d"):
        world.change_spec(weights=weights(version))

        def swaps(plan: Plan) -> bool:
            for each in plan.actions:
                if isinstance(each, SwapPod):
                    seen.setdefault(each.weights.version, set()).add(each.deadline_s)
            return complete(plan)

        story.until(swaps)
    assert seen == {"b": {77.0}, "c": {77.0}, "d": {77.0}}


@in_any_order
def test_abort_is_heard_after_everything_was_promoted(choose: Choose) -> None:
    steps = strategy({"updated": 1}, {"pause": {}}, {"updated": "50%"}, {"pause": {}})
    world = world_of("b", 4, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(is_in(Phase.PAUSED))
    ask(world, "promote", place=":full")
    for pod in world.pods:
        pod.fates = [UNDONE] * 2
    story.until(lambda _: any(pod.fates == [UNDONE] for pod in world.pods))
    for pod in world.pods:
        pod.fates = []
    ask(world, "abort")
    story.until(rolled_back)
    story.quiet()
    assert serve(world, "a")


@in_any_order
def test_first_version_that_never_works_gives_way_to_the_one_that_does(choose: Choose) -> None:
    world = world_of("a", 3, progress_deadline_seconds=60, choose=choose)
    crashes_after(world, "chat-0", "a", 0.9)
    story = Story(world)
    story.until(lambda _: world.pod("chat-0").instance > 3)
    world.change_spec(weights=weights("b"))
    story.until(complete)


@in_any_order
def test_going_back_touches_no_pod_that_never_left(choose: Choose) -> None:
    world = world_of(
        "b", 4, on="a", strategy=strategy({"updated": 2}, {"pause": {}}), choose=choose
    )
    story = Story(world)
    story.until(is_in(Phase.PAUSED))
    stayed = [pod for pod in world.pods if pod.loaded == ref_of("a")]
    ask(world, "abort")
    story.until(rolled_back)
    story.quiet()
    assert len(stayed) == 2
    assert all(pod.transaction is None for pod in stayed)
    assert serve(world, "a")


@in_any_order
def test_same_content_under_another_version_is_an_ordinary_rollout(choose: Choose) -> None:
    world = world_of("b", 3, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("a"))
    story = Story(world)
    story.until(complete)
    story.quiet()
    assert {pod.version_label for pod in world.pods} == {"b"}
    assert all(pod.ready for pod in world.pods)
