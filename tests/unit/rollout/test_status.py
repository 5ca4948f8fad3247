"""What the status says, and what it must not lose or repeat."""

from dataclasses import replace

import pytest

from planning.stories import Story
from planning.worlds import (
    PROMPT_FAILED,
    TRUNCATED,
    UNDONE,
    digest,
    new_pod,
    ref_of,
    uri,
    weights,
    world_of,
)
from weightrollout.api.conditions import ConditionType
from weightrollout.api.spec import Mode, OnFailure, Prompt, Strategy, Verify
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import Announce, PublishStable
from weightrollout.rollout.fleet import AgentFault, Memory
from weightrollout.rollout.plan import plan
from weightrollout.rollout.simulate import Checkpoint, ToyWorld


def reach(world: ToyWorld, phase: Phase) -> Story:
    story = Story(world)
    story.until(lambda planned: planned.status.phase is phase)
    return story


def bad(world: ToyWorld) -> ToyWorld:
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    return world


WORLDS = {
    Phase.PENDING: lambda: world_of("a", 0),
    Phase.PROGRESSING: lambda: world_of("b", 2, on="a"),
    Phase.PAUSED: lambda: world_of("b", 2, on="a", mode=Mode.PAUSED),
    Phase.SUSPENDED: lambda: world_of("b", 2, on="a", mode=Mode.SUSPENDED),
    Phase.COMPLETE: lambda: world_of("b", 2, on="a"),
    Phase.ROLLING_BACK: lambda: bad(world_of("b", 2, on="a")),
    Phase.ROLLED_BACK: lambda: bad(world_of("b", 2, on="a")),
    Phase.FAILED: lambda: bad(world_of("b", 2, on="a", on_failure=OnFailure.HOLD)),
}


@pytest.mark.parametrize(
    ("phase", "ready", "reconciling", "stalled"),
    [
        (Phase.PENDING, "False", "False", "False"),  # it never had a pod
        (Phase.PROGRESSING, "False", "True", "False"),
        (Phase.PAUSED, "Unknown", "False", "False"),
        (Phase.SUSPENDED, "Unknown", "False", "False"),
        (Phase.COMPLETE, "True", "False", "False"),
        (Phase.ROLLING_BACK, "False", "True", "False"),
        (Phase.ROLLED_BACK, "False", "False", "True"),
        (Phase.FAILED, "False", "False", "True"),
    ],
)
def test_conditions_of_a_phase(phase: Phase, ready: str, reconciling: str, stalled: str) -> None:
    world = WORLDS[phase]()
    reach(world, phase)
    said = {condition.type: condition.status for condition in world.status.conditions}
    assert set(said) == set(ConditionType)
    assert (said["Ready"], said["Reconciling"], said["Stalled"]) == (ready, reconciling, stalled)
    assert said["Available"] == ("False" if phase is Phase.PENDING else "True")
    assert all(each.observed_generation == 1 for each in world.status.conditions)


def test_transition_time_moves_only_with_the_status() -> None:
    world = world_of("b", 2, on="a")
    story = reach(world, Phase.COMPLETE)
    before = {each.type: each.last_transition_time for each in world.status.conditions}
    story.for_seconds(100)
    after = {each.type: each.last_transition_time for each in world.status.conditions}
    assert before == after


def test_hold_keeps_its_time_while_it_is_the_same_also_when_status_lags_behind() -> None:
    world = world_of("b", 2, on="a", mode=Mode.PAUSED)
    story = Story(world)
    first = story.until(lambda planned: planned.status.hold is not None).status.hold
    lagging = replace(world.observe(), status=world.status.model_copy(update={"hold": None}))
    later = plan(replace(lagging, wall="t=999")).status.hold
    assert first is not None
    assert later is not None
    assert later.since == first.since


def test_failure_keeps_its_time() -> None:
    world = world_of("b", 3, on="a")
    world.pod("chat-1").fates = [UNDONE]
    story = Story(world)
    story.until(lambda planned: bool(planned.status.failures))
    (first,) = world.status.failures
    story.for_seconds(3)
    (later,) = world.status.failures
    assert later.time == first.time
    assert (later.attempts, later.failure_class) == (1, "Pod")


def test_versions_are_at_most_ten_and_other() -> None:
    world = world_of("b", 14, on="a")
    for index, pod in enumerate(world.pods):
        pod.loaded = replace(ref_of("a"), version=f"v{min(index, 12)}", revision=f"r{index}")
    versions = plan(world.observe()).status.versions
    assert len(versions) == 11
    assert (versions[0].version, versions[0].pods) == ("v12", 2)
    assert (versions[-1].version, versions[-1].pods) == ("other", 3)
    assert sum(each.pods for each in versions) == 14


def test_failures_are_at_most_ten() -> None:
    world = world_of("a", 14, on="a")
    for pod in world.pods:
        pod.begin_swap(f"cr/x/{pod.uid}/1", 1, ref_of("b"))
        pod.end_swap(UNDONE)
    assert len(plan(world.observe()).status.failures) == 10


def test_pauses_are_those_of_the_target() -> None:
    world = world_of("b", 2, on="a")
    reach(world, Phase.COMPLETE)
    pauses = world.status.pause_millis
    assert pauses is not None
    assert (pauses.last, pauses.p50, pauses.p99, pauses.max) == (100, 100, 100, 100)


def test_staging_is_shown_only_while_it_runs() -> None:
    world = world_of("b", 2, on="a")
    story = Story(world)
    staging = story.until(lambda planned: planned.status.staging is not None).status.staging
    assert staging is not None
    assert staging.pods == 1
    story.until(lambda planned: planned.status.phase is Phase.COMPLETE)
    assert world.status.staging is None


def test_no_pods_never_make_a_version_stable() -> None:
    world = world_of("a", 0)
    story = Story(world)
    story.for_seconds(4000)
    assert world.status.stable is None
    assert world.status.hold is not None
    assert world.status.hold.reason == "NoPods"


def test_pod_that_waits_for_a_node_does_not_block_complete() -> None:
    world = world_of("b", 2, on="a", strategy=Strategy(max_unavailable=2))
    world.pods.append(new_pod(2, running=False, fault=AgentFault.STARTING))
    reach(world, Phase.COMPLETE)
    assert world.status.updated == "2/3"


def test_stable_is_published_once() -> None:
    world = world_of("b", 2, on="a")
    story = Story(world)
    published = 0
    for _ in range(200):
        planned = story.one_pass()
        published += sum(isinstance(action, PublishStable) for action in planned.actions)
        world.advance()
    assert published == 1


def test_rollout_tells_about_a_dozen_events_and_each_once() -> None:
    world = world_of("b", 8, on="a")
    story = Story(world)
    events: list[str] = []

    def note() -> bool:
        planned = story.one_pass()
        events.extend(each.reason for each in planned.actions if isinstance(each, Announce))
        return planned.status.phase is Phase.COMPLETE

    while not note():
        world.advance()
    assert events == ["RolloutStarted", "DigestPinned", "Proven", "RolloutComplete"]


def test_new_leader_does_not_tell_old_stories() -> None:
    world = world_of("b", 2, on="a")
    story = reach(world, Phase.COMPLETE)
    story.quiet()
    world.memory = Memory()
    planned = story.one_pass()
    assert planned.actions == ()


def test_frozen_requests_that_see_unverified_weights_are_spelt_out() -> None:
    prompts = (Prompt.model_validate({"prompt": "2+2=", "expect": {"contains": "4"}}),)
    world = world_of("b", 2, on="a", verify=Verify(prompts=prompts))
    assert "before verify.prompts have passed" in Story(world).one_pass().status.message


def test_rejected_version_is_told_what_to_do() -> None:
    world = bad(world_of("b", 2, on="a"))
    story = reach(world, Phase.ROLLED_BACK)
    assert "publish a new version" in world.status.message
    world.change_spec(weights=weights("c"))
    story.until(lambda planned: planned.status.phase is Phase.COMPLETE)


def test_trouble_of_a_rejected_version_is_no_hold() -> None:
    world = world_of("b", 2, on="a")
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), stage=TRUNCATED)
    reach(world, Phase.ROLLED_BACK)
    assert world.status.hold is None
    assert [failure.reason for failure in world.status.failures] == ["SizeMismatch"]


def test_rollback_that_fails_holds_and_is_never_rolled_back_again() -> None:
    strategy = Strategy(max_unavailable=1, max_failed=0)
    world = world_of("b", 3, on="a", strategy=strategy)
    world.pod("chat-2").fates = [UNDONE] * 3
    story = Story(world)
    story.until(lambda planned: planned.status.phase is Phase.ROLLING_BACK)
    world.pod("chat-0").fates = [UNDONE] * 3
    planned = story.until(lambda planned: planned.status.phase is Phase.FAILED)
    assert planned.status.hold is not None
    assert planned.status.hold.reason == "RollbackFailed"
    assert planned.status.target is not None
    assert planned.status.target.version == "a"
    story.for_seconds(3000)
    assert world.status.phase is Phase.FAILED
