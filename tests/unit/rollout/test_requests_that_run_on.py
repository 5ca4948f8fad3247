"""swap.pauseMode GiveUp: a pod that is busy is put back, others go first, and nobody is to blame."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planning.liars import OfAnOlderRelease
from planning.stories import Story, compare
from planning.worlds import CRASHED, digest, uri, weights, world_of
from weightrollout.api.spec import Pause, PauseMode, Step, Strategy, Supersede, Swap
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import Plan, Reserve
from weightrollout.rollout.fleet import Memory, Ref
from weightrollout.rollout.simulate import Checkpoint, Choose, ToyWorld, first
from weightrollout.rollout.toypod import ToyPod

FOLDER = Path(__file__).parent / "stories" / "requests"
DRAIN_S = 30
GIVE_UP = Swap(drain_seconds=DRAIN_S, pause_mode=PauseMode.GIVE_UP)
HOURS = 3600.0
Tell = Callable[[Choose], Story]


def world_with(pods: int, *busy: int, until: float = math.inf, **fields: Any) -> ToyWorld:
    """`b` is desired and `a` serves; requests run on in the `busy` ones."""
    world = world_of("b", pods, on="a", swap=GIVE_UP, **fields)
    for index in busy:
        world.pods[index].busy_until = until
    return world


@dataclass
class UnreadyWith(ToyPod):
    """Another container of it fails while these weights are loaded."""

    digest: str = ""

    def should_be_ready(self, published: Ref | None) -> bool:
        bad = self.loaded is not None and self.loaded.digest == self.digest
        return not bad and super().should_be_ready(published)


def like(new: ToyPod, old: ToyPod) -> ToyPod:
    for name, value in vars(old).items():
        setattr(new, name, value)
    return new


def complete(plan: Plan) -> bool:
    return plan.status.phase is Phase.COMPLETE


def waits(plan: Plan) -> bool:
    hold = plan.status.hold
    return hold is not None and (hold.gate, hold.reason) == ("Traffic", "RequestsRunning")


def reserved(story: Story) -> str:
    """The pod that is promised to a swap next."""
    found: list[str] = []

    def seen(plan: Plan) -> bool:
        found.extend(each.pod for each in plan.actions if isinstance(each, Reserve))
        return bool(found)

    story.until(seen)
    return found[0]


def others_go_first(choose: Choose) -> Story:
    story = Story(world_with(3, 0, until=120, choose=choose))
    plan = story.until(complete)
    assert plan.status.failures == ()
    return story


def alone_it_waits_and_is_swapped_when_its_requests_have_ended(choose: Choose) -> Story:
    story = Story(world_with(1, 0, choose=choose))
    plan = story.until(waits)
    assert (plan.status.phase, plan.status.pods.available) == (Phase.PROGRESSING, 1)
    story.for_seconds(200)
    story.say("its requests end")
    story.world.pods[0].busy_until = 0.0
    story.until(complete)
    return story


def place_of_a_canary_goes_to_another_pod(choose: Choose) -> Story:
    steps = (Step(updated=1), Step(pause=Pause()))
    strategy = Strategy(max_unavailable=1, steps=steps)
    story = Story(world_with(3, 0, choose=choose, strategy=strategy))
    plan = story.until(lambda plan: plan.status.phase is Phase.PAUSED)
    assert plan.status.pods.updated == 1
    return story


STORIES: dict[str, Tell] = {
    "others_go_first": others_go_first,
    "alone_it_waits": alone_it_waits_and_is_swapped_when_its_requests_have_ended,
    "place_of_a_canary_goes_to_another_pod": place_of_a_canary_goes_to_another_pod,
}


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("seed", range(10))
def test_story_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


@pytest.mark.parametrize("pods", [1, 2, 5])
def test_fleet_that_only_gives_up_is_held_and_its_version_never_rejected(pods: int) -> None:
    """With many pods one of them is always being tried, so that the hold alone would not stop the clock."""
    world = world_with(pods, *range(pods), progress_deadline_seconds=600)
    story = Story(world)
    said = set[str]()
    while world.now < 12 * HOURS:
        plan = story.one_pass()
        assert plan.status.phase in (Phase.PENDING, Phase.PROGRESSING)
        assert plan.status.failures == ()
        assert plan.status.pods.failed == 0
        said |= {plan.status.hold.reason} if plan.status.hold else set()
        assert world.advance()
    assert "RequestsRunning" in said
    tried = [pod.transaction.attempt for pod in world.pods if pod.transaction]
    assert min(tried) > 12 * HOURS / 300 / 2, "each pod is tried again and again"
    assert all(pod.loaded and pod.loaded.version == "a" for pod in world.pods)


def test_pod_serves_at_least_as_long_as_it_was_drained() -> None:
    story = Story(world_with(1, 0))
    gaps: list[float] = []
    story.until(waits)
    for _ in range(8):
        began = story.world.now
        reserved(story)
        gaps.append(story.world.now - began)
        story.until(waits)
    assert [round(gap / DRAIN_S) for gap in gaps[:4]] == [1, 2, 4, 8]
    assert max(gaps) < 300 + DRAIN_S


def test_message_says_what_it_waits_for_and_how_to_go_on() -> None:
    hold = Story(world_with(1, 0)).until(waits).status.hold
    assert hold is not None
    assert "2 running and 1 waiting requests after 30 s" in hold.message
    for way in ("swap.drainSeconds", "swap.pauseMode Keep or Abort"):
        assert way in hold.message
    assert hold.pods == ("chat-0",)


@pytest.mark.parametrize("mode", [PauseMode.KEEP, PauseMode.ABORT])
def test_another_pause_mode_ends_the_wait_at_once(mode: PauseMode) -> None:
    story = Story(world_with(1, 0))
    story.until(waits)
    began = story.world.now
    story.world.change_spec(swap=GIVE_UP.model_copy(update={"pause_mode": mode}))
    assert reserved(story) == "chat-0"
    assert story.world.now == began


def test_other_weights_are_not_held_back_by_what_the_last_ones_met() -> None:
    story = Story(world_with(1, 0))
    story.until(waits)
    story.world.change_spec(weights=weights("c"))
    story.world.pods[0].busy_until = 0.0
    began = story.world.now
    story.until(complete)
    assert story.world.now < began + DRAIN_S
    assert story.world.pods[0].loaded is not None
    assert story.world.pods[0].loaded.version == "c"


def test_busy_pod_does_not_keep_the_newest_version_from_the_others() -> None:
    strategy = Strategy(max_unavailable=1, supersede=Supersede.AFTER_COMPLETE)
    story = Story(world_with(3, 0, strategy=strategy))
    story.until(waits)
    story.world.change_spec(weights=weights("c"))
    story.until(lambda plan: plan.status.desired is not None and plan.status.pods.updated == 2)
    versions = [pod.loaded.version for pod in story.world.pods if pod.loaded]
    assert versions == ["a", "c", "c"]


def test_new_leader_lets_the_pod_serve_before_it_tries_again() -> None:
    story = Story(world_with(1, 0))
    story.until(waits)
    story.world.memory = Memory()
    story.until(waits)
    began = story.world.now
    reserved(story)
    assert story.world.now >= began + DRAIN_S


def test_giving_up_excuses_no_failure() -> None:
    world = world_with(3, 0, 1, 2, until=100)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=CRASHED)
    plan = Story(world).until(lambda plan: plan.status.phase is Phase.ROLLED_BACK)
    assert plan.status.message.startswith("b was rejected (ProverFailed")


def test_version_that_makes_pods_unready_is_not_excused_by_one_that_is_busy() -> None:
    strategy = Strategy(max_unavailable=2)
    world = world_with(2, 0, strategy=strategy, progress_deadline_seconds=600)
    world.pods[1] = like(UnreadyWith("chat-1", "pod-1", digest=digest("b")), world.pods[1])
    plan = Story(world).until(lambda plan: plan.status.phase is Phase.ROLLED_BACK)
    assert "ProgressDeadlineExceeded" in plan.status.message


def test_agent_that_would_freeze_requests_instead_is_named_and_not_asked() -> None:
    world = world_with(2)
    world.pods[0] = like(OfAnOlderRelease("chat-0", "pod-0"), world.pods[0])
    plan = Story(world).until(
        lambda plan: plan.status.hold is not None and plan.status.hold.reason == "AgentTooOld"
    )
    assert plan.status.hold is not None
    assert plan.status.hold.pods == ("chat-0",)
    assert "swap.pauseMode to Keep or Abort" in plan.status.hold.message
    assert plan.status.pods.updated == 1, "the other one has proven and serves it"
    assert world.pods[0].transaction is None
