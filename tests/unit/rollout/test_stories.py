"""Whole rollouts as golden logs: reviewing a difference is reviewing behaviour.

`UPDATE_GOLDEN=1` rewrites them. Each story also runs in seeded random orders, where only the
invariants and its ending must hold.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from planning.stories import Story, compare
from planning.worlds import (
    CRASHED,
    METADATA_DIFFERS,
    NO_STORE,
    POISONED,
    PROMPT_FAILED,
    REFUSED,
    TAKE_OUT_NONE,
    TRUNCATED,
    UNDONE,
    digest,
    new_pod,
    uri,
    weights,
    world_of,
)
from weightrollout.api.spec import Mode, OnFailure, Strategy, Swap
from weightrollout.api.status import Phase, WeightRolloutStatus
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AgentFault, Doing, Memory
from weightrollout.rollout.simulate import Checkpoint, Choose, first

FOLDER = Path(__file__).parent / "stories"
Tell = Callable[[Choose], Story]


def is_in(*phases: Phase) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.phase in phases


complete = is_in(Phase.COMPLETE)
rolled_back = is_in(Phase.ROLLED_BACK)


def held_for(reason: str) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.hold is not None and plan.status.hold.reason == reason


def updated(count: int) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.pods.updated >= count


def plain_rollout(choose: Choose) -> Story:
    story = Story(world_of("b", 4, on="a", choose=choose))
    plan = story.until(complete)
    assert plan.status.updated == "4/4"
    assert {pod.version_label for pod in story.world.pods} == {"b"}
    return story


def first_rollout_ever(choose: Choose) -> Story:
    story = Story(world_of("a", 3, choose=choose))
    story.until(complete)
    story.quiet()
    assert story.world.published is not None
    return story


def percent_budget(count: int) -> Tell:
    def tell(choose: Choose) -> Story:
        strategy = Strategy(max_unavailable="50%")
        story = Story(world_of("b", count, on="a", strategy=strategy, choose=choose))
        story.until(complete)
        return story

    return tell


def unready_pods_use_the_budget(choose: Choose) -> Story:
    story = Story(world_of("b", 4, on="a", choose=choose))
    broken = story.world.pod("chat-3")
    broken.fault = AgentFault.UNREACHABLE
    story.until(held_for("BudgetUsedByUnreadyPods"))
    story.say("the agent of chat-3 answers again")
    broken.fault = None
    story.until(complete)
    return story


def scale_out_in_mid_rollout(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", choose=choose)
    story = Story(world)
    story.until(updated(2))
    story.say("two pods more")
    world.pods += [new_pod(4), new_pod(5)]
    plan = story.until(complete)
    assert plan.status.updated == "6/6"
    return story


def joiners_load_stable_while_the_first_pod_proves(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(lambda _: world.pod("chat-0").swapping)
    story.say("one pod more")
    world.pods.append(new_pod(3, staged={digest("a")}))
    story.until(lambda _: world.pod("chat-3").transaction is not None)
    story.until(complete)
    return story


def supersede_in_mid_rollout(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", choose=choose)
    story = Story(world)
    story.until(lambda _: updated(1)(_) and any(pod.swapping for pod in world.pods))
    story.say("version c is published while a swap to b runs")
    world.change_spec(weights=weights("c"))
    story.until(complete)
    assert {pod.version_label for pod in world.pods} == {"c"}
    return story


def truncated_file_is_rejected_before_any_pause(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), stage=TRUNCATED)
    story = Story(world)
    plan = story.until(rolled_back)
    assert all(pod.transaction is None for pod in world.pods)
    assert plan.status.pods.available == 4
    return story


def wrong_digest_is_rejected_before_any_pause(choose: Choose) -> Story:
    world = world_of(None, 3, on="a", choose=choose)
    world.spec = world.spec.model_copy(update={"weights": weights("b", digest("c"))})
    story = Story(world)
    story.until(rolled_back)
    assert all(pod.transaction is None for pod in world.pods)
    return story


def failed_prompt_touches_one_pod(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    plan = story.until(rolled_back)
    assert sum(pod.transaction is not None for pod in world.pods) == 1
    assert plan.status.updated == "4/4"
    return story


def first_pod_is_tried_again_alone(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=3)
    world = world_of("b", 3, on="a", strategy=strategy, choose=choose)
    world.pod("chat-0").fates = [UNDONE]
    story = Story(world)
    story.until(lambda _: world.pod("chat-0").version_label == "b")
    assert all(pod.transaction is None for pod in world.pods[1:])
    return story


def first_pod_that_fails_for_good_rejects(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=3, max_failed=3)
    world = world_of("b", 3, on="a", strategy=strategy, choose=choose)
    world.pod("chat-0").fates = [UNDONE] * 3
    story = Story(world)
    story.until(rolled_back)
    assert all(pod.transaction is None for pod in world.pods[1:])
    return story


def hold_on_failure(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", on_failure=OnFailure.HOLD, choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(is_in(Phase.FAILED))
    story.quiet()
    story.say("version c is published")
    world.change_spec(weights=weights("c"))
    story.until(complete)
    return story


def crashed_pod_is_tried_again(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    world.pod("chat-1").fates = [REFUSED, CRASHED]
    story = Story(world)
    story.until(complete)
    return story


def too_many_failed_pods_roll_back(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=1, max_failed=0)
    world = world_of("b", 4, on="a", strategy=strategy, choose=choose)
    world.pod("chat-2").fates = [UNDONE, UNDONE, UNDONE]
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    assert {pod.version_label for pod in world.pods} == {"a"}
    return story


def tolerated_failed_pod_holds_and_never_rolls_back(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=1, max_failed=1)
    world = world_of("b", 4, on="a", strategy=strategy, progress_deadline_seconds=60, choose=choose)
    world.pod("chat-2").fates = [UNDONE, UNDONE, UNDONE]
    story = Story(world)
    story.until(held_for("PodsFailed"))
    story.for_seconds(200)
    assert story.one_pass().status.phase is Phase.PROGRESSING
    return story


def poisoned_pod_is_restarted(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    world.pod("chat-1").fates = [POISONED]
    story = Story(world)
    story.until(complete)
    return story


def poisoned_pod_whose_agent_restarts_is_waited_for(choose: Choose) -> Story:
    """Another one would only be poisoned as well."""
    strategy = Strategy(max_unavailable=2)
    world = world_of("b", 3, on="a", strategy=strategy, progress_deadline_seconds=60, choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=POISONED)
    first_one = world.pod("chat-0")
    story = Story(world)
    story.until(lambda _: first_one.poisoned)
    story.say("the agent of chat-0 is silent")
    first_one.fault = AgentFault.UNREACHABLE
    plan = story.for_seconds(200)
    assert plan.status.phase is Phase.PROGRESSING
    assert all(pod.transaction is None for pod in world.pods if pod is not first_one)
    story.say("it answers again")
    first_one.fault = None
    story.until(rolled_back)
    assert not any(digest("b") in pod.attempts for pod in world.pods if pod is not first_one)
    return story


def pod_that_cannot_load_stable_proves_the_next_version(choose: Choose) -> Story:
    """It keeps the whole budget, and nothing but other weights can bring it back."""
    world = world_of("a", 3, on="a", choose=choose)
    broken = world.pod("chat-1")
    broken.fates = [CRASHED] * 3
    story = Story(world)
    story.one_pass()
    story.say("the engine of chat-1 restarts, and crashes whenever it loads a")
    broken.restart()
    story.until(held_for("BeyondRepair"))
    story.quiet()
    story.say("version b is published, and chat-0 holds it from an earlier day")
    world.pod("chat-0").staged.add(digest("b"))
    world.change_spec(weights=weights("b", digest("b")))
    story.until(lambda _: broken.version_label == "b")
    assert all(pod.transaction is None for pod in world.pods if pod is not broken)
    story.until(complete)
    return story


def pod_that_can_load_nothing_rejects_nothing(choose: Choose) -> Story:
    """It fails at what the whole fleet verified, too, so it is no witness against what is new."""
    strategy = Strategy(max_unavailable=1, max_failed=0)
    world = world_of("a", 3, on="a", strategy=strategy, choose=choose)
    broken = world.pod("chat-1")
    broken.fates = [CRASHED] * 3 + [PROMPT_FAILED] + [CRASHED] * 100
    story = Story(world)
    story.one_pass()
    broken.restart()
    story.until(held_for("BeyondRepair"))
    story.quiet()
    story.say("version b is published")
    world.change_spec(weights=weights("b"))
    plan = story.until(lambda plan: plan.status.pods.failed == 1)
    story.for_seconds(4000)
    plan = story.one_pass()
    assert plan.status.phase is Phase.PROGRESSING
    assert plan.status.hold is not None
    assert "chat-1" in plan.status.hold.pods
    story.say("chat-1 is replaced")
    world.pods = [pod for pod in world.pods if pod is not broken]
    world.pods.append(new_pod(3))
    story.until(complete)
    return story


def pod_that_cannot_load_stable_goes_before_one_that_tried(choose: Choose) -> Story:
    """chat-0 began to prove b, and serves again; it would wait for ever for the budget of chat-1."""
    world = world_of("b", 3, on="a", choose=choose)
    tried, broken = world.pod("chat-0"), world.pod("chat-1")
    tried.fates, broken.fates = [UNDONE], [CRASHED] * 3
    story = Story(world)
    story.until(lambda _: digest("b") in tried.attempts)
    story.say("the engine of chat-1 restarts, and crashes whenever it loads a")
    broken.restart()
    story.until(lambda _: broken.version_label == "b")
    assert tried.attempts[digest("b")].attempts == 1
    story.until(complete)
    return story


def environment_never_rolls_back(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", progress_deadline_seconds=60, choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), stage=NO_STORE)
    story = Story(world)
    story.until(held_for("SourceUnreadable"))
    for _ in range(3):
        story.for_seconds(70)
        assert story.one_pass().status.phase is Phase.PROGRESSING
    story.say("the store is back")
    world.checkpoints[uri("b")] = Checkpoint(digest("b"))
    story.until(complete)
    return story


def missing_path_holds(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", choose=choose)
    del world.checkpoints[uri("b")]
    story = Story(world)
    story.until(held_for("SourceNotFound"))
    story.say("the files arrive")
    world.checkpoints[uri("b")] = Checkpoint(digest("b"))
    story.until(complete)
    return story


def source_that_changed_after_the_pin_holds(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(lambda _: any(each.ref.digest == digest("b") for each in world.revisions))
    story.say("somebody overwrites the files of b")
    world.checkpoints[uri("b")] = Checkpoint(digest("d"))
    story.until(held_for("SourceChanged"))
    return story


def paused_and_resumed(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(updated(1))
    story.say("mode Paused, and one pod more")
    world.change_spec(mode=Mode.PAUSED)
    world.pods.append(new_pod(3))
    story.until(lambda plan: plan.status.pods.joining == 0 and not world.events)
    assert held_for("ModePaused")(story.one_pass())
    story.say("mode Run")
    world.change_spec(mode=Mode.RUN)
    story.until(complete)
    return story


def suspended_lets_a_running_swap_end(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(lambda _: world.pod("chat-0").swapping)
    story.say("mode Suspended in mid-swap")
    world.change_spec(mode=Mode.SUSPENDED)
    story.quiet()
    assert world.pod("chat-0").version_label == "b"
    assert story.one_pass().status.pods.available == 3
    return story


def suspended_gives_a_reserved_pod_back(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", choose=choose)
    story = Story(world)
    story.until(lambda _: world.pod("chat-0").reserved_txn is not None)
    story.say("mode Suspended")
    world.change_spec(mode=Mode.SUSPENDED)
    story.quiet()
    assert story.one_pass().status.pods.available == 2
    return story


def gated_pods(choose: Choose) -> Story:
    story = Story(world_of("b", 2, on="a", gated=True, choose=choose))
    story.until(complete)
    assert all(pod.gate_open for pod in story.world.pods)
    return story


def gate_of_a_new_pod_is_answered(choose: Choose) -> Story:
    story = Story(world_of("a", 2, gated=True, choose=choose))
    story.until(complete)
    story.quiet()
    assert all(pod.ready for pod in story.world.pods)
    return story


def take_out_none(choose: Choose) -> Story:
    story = Story(world_of("b", 3, on="a", swap=TAKE_OUT_NONE, choose=choose))
    story.until(complete)
    assert all(pod.ready for pod in story.world.pods)
    return story


def soak(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=1, soak_seconds=60)
    story = Story(world_of("b", 3, on="a", strategy=strategy, choose=choose))
    story.until(complete)
    assert story.world.now >= 180
    return story


def rejected_version_is_not_tried_again(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    story.say("back to a in the spec")
    world.change_spec(weights=weights("a"))
    story.until(complete)
    story.quiet()
    story.say("b again")
    world.change_spec(weights=weights("b"))
    swaps = [pod.transaction for pod in world.pods]
    story.until(rolled_back)
    story.quiet()
    assert [pod.transaction for pod in world.pods] == swaps
    return story


def old_version_comes_back(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", choose=choose)
    story = Story(world)
    story.until(complete)
    story.say("back to a in the spec")
    world.change_spec(weights=weights("a"))
    story.until(complete)
    assert {pod.version_label for pod in world.pods} == {"a"}
    story.say("and b once more")
    world.change_spec(weights=weights("b"))
    story.until(complete)
    assert {pod.version_label for pod in world.pods} == {"b"}
    return story


def version_reused(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", choose=choose)
    world.spec = world.spec.model_copy(update={"weights": weights("a", digest("d"))})
    story = Story(world)
    story.until(is_in(Phase.FAILED))
    story.quiet()
    assert all(pod.transaction is None for pod in world.pods)
    story.say("the same content under a version of its own")
    world.checkpoints[uri("b")] = Checkpoint(digest("d"))
    world.change_spec(weights=weights("b", digest("d")))
    story.until(complete)
    return story


def version_reused_is_found_by_the_scout(choose: Choose) -> Story:
    world = world_of(None, 2, on="a", choose=choose)
    moved = weights("a").model_copy(update={"uri": uri("b")})
    world.spec = world.spec.model_copy(update={"weights": moved})
    story = Story(world)
    story.until(is_in(Phase.FAILED))
    story.quiet()
    story.say("back to what a is bound to")
    world.change_spec(weights=weights("a"))
    story.until(complete)
    return story


def takeover_in_mid_rollout(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", choose=choose)
    story = Story(world)
    for count in (1, 2, 3):
        story.until(updated(count))
        story.say("a new leader: nothing is remembered")
        world.memory = Memory()
    story.until(complete)
    return story


def status_is_wiped(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    story.say("status and memory are lost")
    world.status, world.memory = WeightRolloutStatus(), Memory()
    plan = story.one_pass()
    assert plan.status.phase is Phase.ROLLED_BACK
    assert plan.status.stable is not None
    return story


def history_is_lost(choose: Choose) -> Story:
    """What was published is left, as after ControllerRevisions were deleted or their owner was."""
    world = world_of("b", 2, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    world.revisions = ()
    story = Story(world)
    plan = story.until(rolled_back)
    assert plan.status.stable is not None
    assert plan.status.stable.version == "a"
    assert {pod.version_label for pod in world.pods} == {"a"}
    story.quiet()
    return story


def progress_deadline(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", progress_deadline_seconds=600, choose=choose)
    world.pod("chat-1").fates = [REFUSED] * 100
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    assert {pod.version_label for pod in world.pods} == {"a"}
    return story


def first_version_rolls_back_to_the_baseline(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=1, max_failed=0)
    world = world_of("a", 3, strategy=strategy, choose=choose)
    world.pod("chat-2").fates = [CRASHED, CRASHED, CRASHED]
    story = Story(world)
    plan = story.until(rolled_back)
    assert plan.status.target is not None
    assert plan.status.target.revision == "baseline"
    assert all(pod.loaded is None for pod in world.pods)
    return story


def no_pods(choose: Choose) -> Story:
    world = world_of("a", 0, choose=choose)
    story = Story(world)
    story.quiet()
    story.say("a pod arrives")
    world.pods.append(new_pod(0))
    story.until(complete)
    story.quiet()
    story.say("scaled to zero")
    world.pods.clear()
    assert story.one_pass().status.phase is Phase.COMPLETE
    return story


def scout_is_lost(choose: Choose) -> Story:
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(lambda _: world.pod("chat-0").staging is not None)
    story.say("the scout is gone")
    scout = world.pods.pop(0)
    world.events = [event for event in world.events if event.what != str(Doing.STAGE)]
    world.work = {work for work in world.work if work.pod_uid != scout.uid}
    story.until(complete)
    return story


def agent_missing(choose: Choose) -> Story:
    strategy = Strategy(max_unavailable=2)
    world = world_of("b", 3, on="a", strategy=strategy, choose=choose)
    world.pod("chat-0").fault = AgentFault.MISSING
    story = Story(world)
    story.until(held_for("AgentMissing"))
    assert story.one_pass().status.pods.updated == 2
    return story


def nothing_desired(choose: Choose) -> Story:
    world = world_of(None, 2, on="a", choose=choose)
    story = Story(world)
    story.quiet()
    story.say("a new pod loads stable")
    world.pods.append(new_pod(2))
    story.until(lambda plan: plan.status.pods.joining == 1)
    story.quiet()
    assert complete(story.one_pass())
    assert world.pod("chat-2").version_label == "a"
    return story


def api_server_refuses_the_reservation_for_a_while(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", progress_deadline_seconds=10, choose=choose)
    world.refused = {Doing.RESERVE}
    story = Story(world)
    story.until(held_for("Refused"))
    story.for_seconds(25)
    assert story.one_pass().status.phase is Phase.PROGRESSING
    story.say("it works again")
    world.refused = set()
    story.until(complete)
    return story


def image_that_may_not_be_loaded_after_all(choose: Choose) -> Story:
    """It was staged with `metadata: Ignore`; the same weights are then asked for without."""
    world = world_of("b", 2, on="a", choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), reserve=METADATA_DIFFERS)
    for pod in world.pods:
        pod.staged |= {digest("b")}
    story = Story(world)
    plan = story.until(rolled_back)
    assert "chat_template.jinja" in plan.status.message
    return story


def image_that_others_serve_may_not_be_loaded_by_one_pod(choose: Choose) -> Story:
    """The rest of the fleet has loaded it: it is the pod, as with a check that fails at staging."""
    world = world_of(
        "b", 4, on="a", strategy=Strategy(max_unavailable=1, max_failed=1), choose=choose
    )
    story = Story(world)
    story.until(updated(3))
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), reserve=METADATA_DIFFERS)
    plan = story.until(held_for("PodsFailed"))
    assert plan.status.hold is not None
    assert plan.status.pods.failed == 1
    assert "chat_template.jinja" in plan.status.hold.message
    return story


def fleet_of_one(choose: Choose) -> Story:
    story = Story(world_of("b", 1, on="a", choose=choose))
    plan = story.until(updated(0))
    assert "away during its swap" in plan.status.message
    story.until(complete)
    return story


def settle_time_is_kept_after_a_takeover(choose: Choose) -> Story:
    world = world_of("b", 2, on="a", swap=Swap(settle_seconds=30), choose=choose)
    story = Story(world)
    story.until(lambda _: not world.pod("chat-0").ready)
    story.for_seconds(20)
    story.say("a new leader: nothing is remembered")
    world.memory = Memory()
    story.until(lambda _: world.pod("chat-0").swapping)
    assert world.now >= 50
    return story


def history_forgets_what_nobody_uses(choose: Choose) -> Story:
    world = world_of("v01", 1, choose=choose)
    versions = [f"v{number:02}" for number in range(1, 14)]
    world.checkpoints |= {
        uri(version): Checkpoint(f"sha256:{number:064x}") for number, version in enumerate(versions)
    }
    story = Story(world)
    for version in versions:
        story.say(f"version {version} is published")
        world.change_spec(weights=weights(version))
        story.until(complete)
        story.quiet()
    story.say("the oldest version that is left comes back")
    world.change_spec(weights=weights("v02"))
    story.until(complete)
    story.quiet()
    assert {each.ref.version for each in world.revisions} == set(versions[1:])
    return story


STORIES: dict[str, Tell] = {
    tell.__name__: tell
    for tell in (
        plain_rollout,
        first_rollout_ever,
        unready_pods_use_the_budget,
        scale_out_in_mid_rollout,
        joiners_load_stable_while_the_first_pod_proves,
        supersede_in_mid_rollout,
        truncated_file_is_rejected_before_any_pause,
        wrong_digest_is_rejected_before_any_pause,
        failed_prompt_touches_one_pod,
        first_pod_is_tried_again_alone,
        first_pod_that_fails_for_good_rejects,
        hold_on_failure,
        crashed_pod_is_tried_again,
        too_many_failed_pods_roll_back,
        tolerated_failed_pod_holds_and_never_rolls_back,
        poisoned_pod_is_restarted,
        poisoned_pod_whose_agent_restarts_is_waited_for,
        pod_that_cannot_load_stable_proves_the_next_version,
        pod_that_cannot_load_stable_goes_before_one_that_tried,
        pod_that_can_load_nothing_rejects_nothing,
        environment_never_rolls_back,
        missing_path_holds,
        source_that_changed_after_the_pin_holds,
        paused_and_resumed,
        suspended_lets_a_running_swap_end,
        suspended_gives_a_reserved_pod_back,
        gated_pods,
        gate_of_a_new_pod_is_answered,
        take_out_none,
        soak,
        rejected_version_is_not_tried_again,
        old_version_comes_back,
        version_reused,
        version_reused_is_found_by_the_scout,
        takeover_in_mid_rollout,
        status_is_wiped,
        history_is_lost,
        progress_deadline,
        first_version_rolls_back_to_the_baseline,
        no_pods,
        scout_is_lost,
        agent_missing,
        nothing_desired,
        api_server_refuses_the_reservation_for_a_while,
        image_that_may_not_be_loaded_after_all,
        image_that_others_serve_may_not_be_loaded_by_one_pod,
        fleet_of_one,
        history_forgets_what_nobody_uses,
        settle_time_is_kept_after_a_takeover,
    )
} | {f"percent_budget_of_{count}_pods": percent_budget(count) for count in (1, 3, 7)}


@pytest.mark.parametrize("name", STORIES)
def test_story_reads_as_its_golden_log(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", STORIES)
def test_story_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


def test_every_golden_log_has_a_story() -> None:
    assert {path.stem for path in FOLDER.glob("*.story")} == set(STORIES)
