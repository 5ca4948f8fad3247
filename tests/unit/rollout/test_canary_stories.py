"""Canaries as golden logs: steps, what people ask for, and what happens to the pods meanwhile.

Each story also runs in seeded random orders, where only the invariants and its ending must hold.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planning.stories import Story, compare
from planning.worlds import (
    CRASHED,
    PROMPT_FAILED,
    REFUSED,
    UNDONE,
    digest,
    new_pod,
    uri,
    weights,
    world_of,
)
from weightrollout.api.spec import Mode, OnFailure, Step, Strategy, Supersede
from weightrollout.api.status import ActionOutcome, Phase, WeightRolloutStatus
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AgentFault, Memory
from weightrollout.rollout.simulate import Checkpoint, Choose, ToyWorld, first
from weightrollout.rollout.toypod import COMMITTED

FOLDER = Path(__file__).parent / "stories" / "canary"
Tell = Callable[[Choose], Story]


def strategy(*steps: dict[str, Any], **fields: Any) -> Strategy:
    made = tuple(Step.model_validate(step) for step in steps)
    return Strategy(max_unavailable=fields.pop("max_unavailable", 1), steps=made, **fields)


ONE_THEN_ASK = strategy({"updated": 1}, {"pause": {}})


def is_in(*phases: Phase) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.phase in phases


complete, paused = is_in(Phase.COMPLETE), is_in(Phase.PAUSED)
rolled_back = is_in(Phase.ROLLED_BACK)


def held_for(reason: str) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.hold is not None and plan.status.hold.reason == reason


def ask(world: ToyWorld, verb: str, arg: str = "", nonce: str = "1") -> str:
    """Write the slot as the CLI does."""
    assert world.status.target is not None
    desired = world.status.desired or world.status.target
    world.action = f"{verb}:{desired.revision}{arg}@{nonce}"
    return world.action


def on(world: ToyWorld, version: str) -> set[str]:
    """Names of the pods that really hold it."""
    return {pod.name for pod in world.pods if pod.loaded and pod.loaded.version == version}


def answered(outcome: ActionOutcome) -> Callable[[Plan], bool]:
    return lambda plan: (
        plan.status.last_action is not None and plan.status.last_action.outcome is outcome
    )


def canary_with_approval(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {}}, {"updated": "50%"}, {"pause": {}})
    story = Story(world_of("b", 4, on="a", strategy=steps, choose=choose))
    story.until(paused)
    story.quiet()
    assert len(on(story.world, "b")) == 1
    story.say("promote")
    ask(story.world, "promote", ":1")
    story.until(lambda plan: paused(plan) and plan.status.pods.updated == 2)
    story.quiet()
    assert len(on(story.world, "b")) == 2
    story.say("promote")
    ask(story.world, "promote", ":3", "2")
    story.until(complete)
    return story


def timed_pause_goes_on_by_itself(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {"durationSeconds": 60}})
    story = Story(world_of("b", 3, on="a", strategy=steps, choose=choose))
    story.until(held_for("StepTimed"))
    began = story.world.now
    story.until(lambda plan: plan.status.pods.updated == 2)
    assert story.world.now >= began + 60
    story.until(complete)
    return story


#: A percentage that rounds to no pod would stand still for ever (OpenKruise 369, 196).
def percent(count: int, tenth: int, half: int) -> Tell:
    def tell(choose: Choose) -> Story:
        steps = strategy({"updated": "10%"}, {"pause": {}}, {"updated": "50%"}, {"pause": {}})
        story = Story(world_of("b", count, on="a", strategy=steps, choose=choose))
        story.until(paused)
        story.quiet()
        assert len(on(story.world, "b")) == tenth
        ask(story.world, "promote", ":1")
        story.until(lambda plan: paused(plan) and plan.status.step.index == 3)  # type: ignore[union-attr]
        story.quiet()
        assert len(on(story.world, "b")) == half
        ask(story.world, "promote", ":3", "2")
        story.until(complete)
        return story

    return tell


def approval_before_the_first_pod(choose: Choose) -> Story:
    steps = strategy({"pause": {}})
    story = Story(world_of("b", 3, on="a", strategy=steps, choose=choose))
    story.until(paused)
    story.quiet()
    assert not on(story.world, "b")
    assert all(pod.transaction is None for pod in story.world.pods)
    ask(story.world, "promote", ":0")
    story.until(complete)
    return story


def whole_fleet_waits_for_the_last_approval(choose: Choose) -> Story:
    steps = strategy({"updated": "100%"}, {"pause": {}})
    story = Story(world_of("b", 2, on="a", strategy=steps, choose=choose))
    plan = story.until(lambda plan: paused(plan) and plan.status.updated == "2/2")
    plan = story.quiet()
    assert plan.status.phase is Phase.PAUSED
    assert plan.status.stable is not None
    assert plan.status.stable.version == "a"
    ask(story.world, "promote")
    story.until(complete)
    return story


def canary_that_dies_is_replaced_in_the_pause(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    (canary,) = on(world, "b")
    story.say("the canary is deleted, and its replacement joins")
    world.pods = [pod for pod in world.pods if pod.name != canary]
    world.pods.append(new_pod(4))
    story.until(lambda plan: paused(plan) and plan.status.pods.available == 4)
    story.quiet()
    assert len(on(world, "b")) == 1
    assert on(world, "a") | on(world, "b") == {pod.name for pod in world.pods}
    return story


def canary_whose_engine_restarts_gets_it_again(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    (canary,) = on(world, "b")
    story.say("the engine of the canary restarts")
    world.pod(canary).restart()
    story.until(lambda plan: paused(plan) and plan.status.pods.available == 3)
    story.quiet()
    assert len(on(world, "b")) == 1
    return story


def silent_canary_keeps_its_place(choose: Choose) -> Story:
    """Its agent does not answer, and Kubernetes goes on sending it requests: it is still a canary."""
    room = strategy({"updated": 1}, {"pause": {}}, max_unavailable=2)
    world = world_of("b", 4, on="a", strategy=room, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    (canary,) = on(world, "b")
    story.say("nobody reaches the agent of the canary, and a new leader begins")
    world.pod(canary).fault, world.memory = AgentFault.UNREACHABLE, Memory()
    story.for_seconds(900)
    assert on(world, "b") == {canary}
    story.say("it answers again")
    world.pod(canary).fault = None
    story.until(paused)
    ask(world, "promote", ":1")
    story.until(complete)
    return story


def pod_that_cannot_load_stable_is_the_canary(choose: Choose) -> Story:
    """It has no place before it holds b, and nothing to load but b."""
    world = world_of("a", 3, on="a", strategy=ONE_THEN_ASK, choose=choose)
    broken = world.pod("chat-1")
    broken.fates = [CRASHED] * 3
    story = Story(world)
    story.one_pass()
    broken.restart()
    story.until(held_for("BeyondRepair"))
    story.quiet()
    story.say("version b is published, and chat-0 holds it from an earlier day")
    world.pod("chat-0").staged.add(digest("b"))
    world.change_spec(weights=weights("b", digest("b")))
    story.until(paused)
    assert on(world, "b") == {"chat-1"}
    return story


def joiners_load_stable_in_the_pause(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.say("three pods more")
    world.pods += [new_pod(index) for index in (3, 4, 5)]
    story.until(lambda plan: plan.status.pods.available == 6)
    story.quiet()
    assert len(on(world, "b")) == 1
    assert len(on(world, "a")) == 5
    return story


def joiners_of_a_first_rollout_keep_their_base_weights(choose: Choose) -> Story:
    world = world_of("a", 3, strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.say("two pods more")
    world.pods += [new_pod(index) for index in (3, 4)]
    plan = story.until(lambda plan: plan.status.pods.available == 5)
    story.quiet()
    assert plan.status.pods.updated == 1
    ask(world, "promote")
    story.until(complete)
    return story


def more_pods_make_room_in_a_percentage(choose: Choose) -> Story:
    steps = strategy({"updated": "20%"}, {"pause": {}})
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(paused)
    assert len(on(world, "b")) == 1
    story.say("six pods more: 20 % of nine are two")
    world.pods += [new_pod(index) for index in range(3, 9)]
    story.until(lambda plan: paused(plan) and plan.status.pods.available == 9)
    story.quiet()
    assert len(on(world, "b")) == 2
    return story


def scale_in_that_eats_the_canary(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    story.say("two pods less, the canary among them")
    keep = sorted(on(world, "a"))[:2]
    world.pods = [pod for pod in world.pods if pod.name in keep]
    story.until(lambda plan: paused(plan) and plan.status.pods.updated == 1)
    story.quiet()
    assert len(on(world, "b")) == 1
    return story


def scale_to_zero_and_back(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {}}, {"updated": "50%"}, {"pause": {}})
    world = world_of("b", 4, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(paused)
    ask(world, "promote", ":1")
    story.until(lambda plan: paused(plan) and plan.status.pods.updated == 2)
    story.quiet()
    story.say("no pods")
    world.pods = []
    plan = story.quiet()
    assert plan.status.step is not None
    assert plan.status.step.index == 3
    assert plan.status.phase is not Phase.COMPLETE
    story.say("four pods")
    world.pods = [new_pod(index) for index in range(10, 14)]
    story.until(lambda plan: paused(plan) and plan.status.pods.available == 4)
    story.quiet()
    assert (len(on(world, "a")), len(on(world, "b"))) == (2, 2)
    return story


def pause_beside_no_canary_begins_again(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {"durationSeconds": 100}})
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(held_for("StepTimed"))
    story.for_seconds(90)
    story.say("the canary is deleted")
    canary = on(world, "b")
    world.pods = [pod for pod in world.pods if pod.name not in canary]
    story.until(held_for("StepTimed"))
    again = world.now
    story.until(lambda plan: plan.status.step is not None and plan.status.step.index == 2)
    assert world.now >= again + 100
    return story


def steps_edited_in_the_pause(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    story.say("other steps; then comes a promote that was meant for the old ones")
    edited = strategy({"updated": 2}, {"pause": {}})
    world.change_spec(strategy=edited)
    ask(world, "promote", ":1")
    story.until(answered(ActionOutcome.STALE))
    story.until(lambda plan: paused(plan) and plan.status.pods.updated == 2)
    story.quiet()
    assert len(on(world, "b")) == 2
    return story


def promote_full(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {}}, {"updated": 2}, {"pause": {}})
    story = Story(world_of("b", 4, on="a", strategy=steps, choose=choose))
    story.until(paused)
    ask(story.world, "promote", ":full")
    story.until(complete)
    return story


def promote_that_stays_in_the_slot_acts_once(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {}}, {"pause": {}})
    story = Story(world_of("b", 3, on="a", strategy=steps, choose=choose))
    story.until(paused)
    ask(story.world, "promote")
    story.until(answered(ActionOutcome.ACCEPTED))
    story.say("a new leader reads the same slot")
    story.world.memory = Memory()
    plan = story.for_seconds(60)
    assert plan.status.step is not None
    assert plan.status.step.index == 2
    return story


def promote_is_not_replayed_after_the_status_is_wiped(choose: Choose) -> Story:
    story = Story(world_of("b", 3, on="a", strategy=ONE_THEN_ASK, choose=choose))
    world = story.world
    story.until(paused)
    story.quiet()
    ask(world, "promote", ":full")
    story.say(
        "before anybody looks, the object is replaced: its annotation stays, its status is gone"
    )
    world.status, world.memory = WeightRolloutStatus(), Memory()
    story.until(answered(ActionOutcome.STALE))
    plan = story.for_seconds(60)
    assert plan.status.phase is Phase.PAUSED
    assert len(on(world, "b")) == 1
    return story


def abort_in_the_pause(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    story.say("abort")
    ask(world, "abort")
    plan = story.until(rolled_back)
    story.quiet()
    assert len(on(world, "a")) == 4
    story.say("the status is lost")
    world.status, world.memory, world.action = WeightRolloutStatus(), Memory(), ""
    plan = story.for_seconds(60)
    assert plan.status.phase is Phase.ROLLED_BACK
    assert len(on(world, "a")) == 4
    story.say("retry")
    ask(world, "retry", nonce="2")
    story.until(lambda plan: paused(plan) and plan.status.pods.updated == 1)
    ask(world, "promote", ":1", "3")
    story.until(complete)
    return story


def abort_in_mid_swap(choose: Choose) -> Story:
    """Flagger 413 (abort by hand); OpenKruise 1156, 1183 (stuck when it turns round in mid-update)."""
    world = world_of("b", 3, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(lambda _: any(pod.swapping for pod in world.pods))
    story.say("abort while the canary swaps")
    ask(world, "abort")
    story.until(rolled_back)
    story.quiet()
    assert len(on(world, "a")) == 3
    return story


def new_leader_in_the_pause_moves_nothing(choose: Choose) -> Story:
    """LeaderWorkerSet 225: a restarted controller updated everything at once."""
    world = world_of("b", 4, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    before = [pod.transaction for pod in world.pods]
    for _ in range(3):
        story.say("a new leader")
        world.memory = Memory()
        assert story.for_seconds(100).status.phase is Phase.PAUSED
    assert [pod.transaction for pod in world.pods] == before
    return story


def retry_after_others_came_between(choose: Choose) -> Story:
    """a, b (aborted), a, b (still aborted), and b again because a person asked."""
    world = world_of("b", 2, on="a", choose=choose)
    story = Story(world)
    story.until(complete)
    story.quiet()
    ask(world, "abort")
    story.until(rolled_back)
    for version in ("a", "b"):
        story.say(f"version {version} in the spec")
        world.change_spec(weights=weights(version))
        story.until(is_in(Phase.COMPLETE if version == "a" else Phase.ROLLED_BACK))
        story.quiet()
        assert len(on(world, "a")) == 2
    story.say("retry")
    ask(world, "retry", nonce="2")
    story.until(complete)
    assert len(on(world, "b")) == 2
    return story


def deadline_holds_for_the_second_bad_version(choose: Choose) -> Story:
    """Argo Rollouts 3988."""
    world = world_of("b", 3, on="a", progress_deadline_seconds=600, choose=choose)
    world.pod("chat-1").fates = [REFUSED] * 200
    story = Story(world)
    for version in ("b", "c"):
        story.say(f"version {version}, which chat-1 never takes")
        world.change_spec(weights=weights(version))
        began = world.now
        story.until(lambda plan: plan.status.phase is Phase.ROLLING_BACK)
        assert world.now < began + 1000
        story.until(rolled_back)
        story.quiet()
        assert len(on(world, "a")) == 3
    return story


def abort_after_complete(choose: Choose) -> Story:
    """The spec stays as it is, so that a Git that is synchronised has nothing to put back."""
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(complete)
    story.quiet()
    story.say("abort")
    ask(world, "abort")
    plan = story.until(rolled_back)
    story.quiet()
    assert len(on(world, "a")) == 3
    assert plan.status.desired is not None
    assert plan.status.desired.version == "b"
    assert world.published is not None
    assert world.published.version == "a"
    return story


def abort_although_failures_hold(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", on_failure=OnFailure.HOLD, choose=choose)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    ask(world, "abort")
    story.until(rolled_back)
    story.quiet()
    assert len(on(world, "a")) == 3
    return story


def abort_of_the_first_version(choose: Choose) -> Story:
    world = world_of("a", 2, strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    ask(world, "abort")
    story.until(rolled_back)
    story.quiet()
    assert all(pod.loaded is None for pod in world.pods)
    return story


def abort_waits_while_suspended(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.quiet()
    world.change_spec(mode=Mode.SUSPENDED)
    ask(world, "abort")
    plan = story.for_seconds(60)
    assert plan.status.phase is Phase.SUSPENDED
    assert len(on(world, "b")) == 1
    story.say("Run")
    world.change_spec(mode=Mode.RUN)
    story.until(rolled_back)
    return story


def retry_of_what_its_first_pod_refuted(choose: Choose) -> Story:
    """The failed swap is still the newest one that the agent reports, and must not reject again
    (Argo Rollouts 841, Flagger 1152: no way to try again, or one that deadlocks)."""
    world = world_of("b", 3, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    story.say("the prompt was wrong, and is right now: retry")
    world.checkpoints[uri("b")] = Checkpoint(digest("b"))
    ask(world, "retry")
    story.until(complete)
    assert len(on(world, "b")) == 3
    return story


def retry_gives_pods_their_attempts_again(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", strategy=strategy(max_failed=0), choose=choose)
    for pod in world.pods:
        pod.fates = [UNDONE] * 3
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    for pod in world.pods:
        pod.fates = [UNDONE, COMMITTED]
    story.say("retry")
    ask(world, "retry")
    story.until(complete)
    return story


def bad_canary_goes_back(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", strategy=ONE_THEN_ASK, choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(rolled_back)
    assert len(on(world, "a")) == 4
    return story


def undo_by_spec_goes_straight_back(choose: Choose) -> Story:
    """What the whole fleet verified before goes through no steps."""
    world = world_of("b", 3, on="a", strategy=ONE_THEN_ASK, choose=choose)
    story = Story(world)
    story.until(paused)
    story.say("version a again")
    world.change_spec(weights=weights("a"))
    plan = story.until(complete)
    assert plan.status.step is None
    return story


def after_complete_skips_the_middle(choose: Choose) -> Story:
    world = world_of(
        "b", 4, on="a", strategy=strategy(supersede=Supersede.AFTER_COMPLETE), choose=choose
    )
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    story.say("version c, and a moment later d")
    world.change_spec(weights=weights("c"))
    story.for_seconds(3)
    world.change_spec(weights=weights("d"))
    plan = story.until(
        lambda plan: plan.status.stable is not None and plan.status.stable.version == "b"
    )
    assert len(on(world, "b")) == 4
    plan = story.until(lambda plan: complete(plan) and plan.status.desired.version == "d")  # type: ignore[union-attr]
    assert {each.ref.version for each in world.revisions} == {"a", "b", "d"}
    assert plan.status.updated == "4/4"
    return story


def after_complete_waits_for_no_silent_pod(choose: Choose) -> Story:
    world = world_of(
        "b", 4, on="a", strategy=strategy(supersede=Supersede.AFTER_COMPLETE, max_unavailable=2)
    )
    world.choose = choose
    story = Story(world)
    world.pod("chat-3").fault = AgentFault.UNREACHABLE
    story.until(lambda plan: plan.status.pods.updated == 1)
    story.say("version c")
    world.change_spec(weights=weights("c"))
    story.until(lambda plan: len(on(world, "c")) == 3)
    return story


def after_complete_waits_for_no_failed_pod_at_a_step(choose: Choose) -> Story:
    """The level can never be reached, and the fix is queued behind it."""
    fields: dict[str, Any] = {"supersede": Supersede.AFTER_COMPLETE, "max_failed": 1}
    world = world_of("b", 3, on="a", strategy=strategy({"updated": "100%"}, **fields))
    world.choose = choose
    world.pod("chat-2").fates = [UNDONE] * 3
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    story.say("version c")
    world.change_spec(weights=weights("c"))
    story.until(lambda plan: complete(plan) and len(on(world, "c")) == 3)
    return story


def after_complete_waits_for_no_pod_that_keeps_the_budget(choose: Choose) -> Story:
    """It can load neither b nor what is stable; c may bring it back, and is queued behind b."""
    fields: dict[str, Any] = {"supersede": Supersede.AFTER_COMPLETE, "max_failed": 1}
    world = world_of("b", 3, on="a", strategy=strategy(**fields), choose=choose)
    broken = world.pod("chat-1")
    broken.fates = [CRASHED] * 6
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    story.say("the engine of chat-1 restarts, and crashes whatever it loads")
    broken.restart()
    story.until(held_for("BeyondRepair"))
    story.say("version c")
    world.change_spec(weights=weights("c"))
    story.until(lambda plan: complete(plan) and len(on(world, "c")) == 3)
    return story


def after_complete_gives_way_to_the_next_when_aborted(choose: Choose) -> Story:
    steps = strategy({"updated": 1}, {"pause": {}}, supersede=Supersede.AFTER_COMPLETE)
    world = world_of("b", 3, on="a", strategy=steps, choose=choose)
    story = Story(world)
    story.until(paused)
    story.say("version c is published")
    world.change_spec(weights=weights("c"))
    plan = story.for_seconds(60)
    assert plan.status.phase is Phase.PAUSED
    story.say("abort of what is queued, then of what runs")
    ask(world, "abort")
    story.until(answered(ActionOutcome.STALE))
    assert plan.status.target is not None
    world.action = f"abort:{plan.status.target.revision}@2"
    story.until(lambda plan: paused(plan) and len(on(world, "c")) == 1)
    return story


STORIES: dict[str, Tell] = {
    tell.__name__: tell
    for tell in (
        canary_with_approval,
        timed_pause_goes_on_by_itself,
        approval_before_the_first_pod,
        whole_fleet_waits_for_the_last_approval,
        canary_that_dies_is_replaced_in_the_pause,
        canary_whose_engine_restarts_gets_it_again,
        silent_canary_keeps_its_place,
        pod_that_cannot_load_stable_is_the_canary,
        joiners_load_stable_in_the_pause,
        joiners_of_a_first_rollout_keep_their_base_weights,
        more_pods_make_room_in_a_percentage,
        scale_in_that_eats_the_canary,
        scale_to_zero_and_back,
        pause_beside_no_canary_begins_again,
        steps_edited_in_the_pause,
        promote_full,
        promote_that_stays_in_the_slot_acts_once,
        promote_is_not_replayed_after_the_status_is_wiped,
        abort_in_the_pause,
        abort_in_mid_swap,
        new_leader_in_the_pause_moves_nothing,
        retry_after_others_came_between,
        deadline_holds_for_the_second_bad_version,
        abort_after_complete,
        abort_although_failures_hold,
        abort_of_the_first_version,
        abort_waits_while_suspended,
        retry_of_what_its_first_pod_refuted,
        retry_gives_pods_their_attempts_again,
        bad_canary_goes_back,
        undo_by_spec_goes_straight_back,
        after_complete_skips_the_middle,
        after_complete_waits_for_no_silent_pod,
        after_complete_waits_for_no_failed_pod_at_a_step,
        after_complete_waits_for_no_pod_that_keeps_the_budget,
        after_complete_gives_way_to_the_next_when_aborted,
    )
} | {
    "percent_of_1_pods": percent(1, 1, 1),
    "percent_of_3_pods": percent(3, 1, 2),
    "percent_of_7_pods": percent(7, 1, 4),
}


@pytest.mark.parametrize("name", STORIES)
def test_canary_reads_as_its_golden_log(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", STORIES)
def test_canary_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


def test_every_golden_log_of_a_canary_has_a_story() -> None:
    assert {path.stem for path in FOLDER.glob("*.story")} == set(STORIES)
