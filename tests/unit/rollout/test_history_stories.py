"""What the history is for: going back, not trying again what failed, and beginning again after a loss.

`UPDATE_GOLDEN=1` rewrites the golden logs.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import pytest

from planning.stories import Story, compare
from planning.worlds import (
    PROMPT_FAILED,
    UNDONE,
    digest,
    new_pod,
    ref_of,
    serving,
    uri,
    weights,
    world_of,
)
from weightrollout.api.conditions import ConditionType
from weightrollout.api.spec import Staging, Strategy
from weightrollout.api.status import Condition, Phase, WeightRolloutStatus
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AgentFault, Memory
from weightrollout.rollout.simulate import Checkpoint, Choose, ToyWorld, first

FOLDER: Final = Path(__file__).parent / "stories" / "history"
Tell = Callable[[Choose], Story]


def is_in(*phases: Phase) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.phase in phases


complete = is_in(Phase.COMPLETE)
rolled_back = is_in(Phase.ROLLED_BACK)


def updated(count: int) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.pods.updated >= count


def ask(world: ToyWorld, verb: str, nonce: str = "1") -> None:
    assert world.status.desired is not None
    world.action = f"{verb}:{world.status.desired.revision}@{nonce}"


def serve(world: ToyWorld, version: str) -> bool:
    return all(pod.loaded == ref_of(version) for pod in world.pods)


def rollback_ready(plan: Plan) -> Condition:
    said = {each.type: each for each in plan.status.conditions}
    return said[ConditionType.ROLLBACK_READY]


def says_how_it_could_go_back(choose: Choose) -> Story:
    world = world_of("a", 2, choose=choose)
    story = Story(world)
    ready = rollback_ready(story.until(complete))
    assert (ready.status, ready.reason) == ("False", "BaselineOnly")
    story.say("version b: before its first swap")
    world.change_spec(weights=weights("b"))
    ready = rollback_ready(story.one_pass())
    assert (ready.status, ready.reason) == ("True", "OnPods")
    assert "serves a" in ready.message
    story.say("and once it is complete")
    ready = rollback_ready(story.until(complete))
    assert (ready.status, ready.reason) == ("True", "OnPods")
    assert "serves a" in ready.message
    story.say("one pod more, which has never held a")
    world.pods.append(new_pod(2))
    story.quiet()
    ready = rollback_ready(story.until(complete))
    assert (ready.status, ready.reason) == ("Unknown", "NotStaged")
    assert "chat-2 would read a from file:///models/a/" in ready.message
    story.say("abort")
    ask(world, "abort")
    story.until(rolled_back)
    assert serve(world, "a")
    return story


def keeps_nothing_but_the_way_back(choose: Choose) -> Story:
    """revisionHistoryLimit 0: also after a version that came to nothing, and when engines restarted."""
    world = world_of("b", 2, on="a", revision_history_limit=0, choose=choose)
    world.checkpoints[uri("c")] = Checkpoint(digest("c"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(complete)
    story.quiet()
    story.say("version c, which fails")
    world.change_spec(weights=weights("c"))
    story.until(rolled_back)
    story.quiet()
    story.say("b again, and every engine restarts")
    world.change_spec(weights=weights("b"))
    story.until(complete)
    for pod in world.pods:
        pod.restart()
    story.until(lambda plan: plan.status.pods.available == 2)
    story.quiet()
    assert {each.ref.version for each in world.revisions} == {"a", "b"}
    story.say("abort")
    ask(world, "abort")
    story.until(rolled_back)
    assert serve(world, "a")
    return story


def forgotten_rejection_is_tried_anew(choose: Choose) -> Story:
    """What a history of nothing costs: a, b (rejected), c, and b is unknown by then."""
    world = world_of("b", 2, on="a", revision_history_limit=0, choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(rolled_back)
    story.quiet()
    story.say("version c")
    world.change_spec(weights=weights("c"))
    story.until(complete)
    story.quiet()
    assert {each.ref.version for each in world.revisions} == {"a", "c"}
    story.say("the files were mended meanwhile: b again")
    world.checkpoints[uri("b")] = Checkpoint(digest("b"))
    world.change_spec(weights=weights("b"))
    story.until(complete)
    return story


def created_again_after_it_was_deleted_alone(choose: Choose) -> Story:
    """`kubectl delete --cascade=orphan`, and apply: the history is the new one's, verdicts and all."""
    world = world_of("b", 2, on="a", choose=choose)
    world.checkpoints[uri("c")] = Checkpoint(digest("c"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(complete)
    story.say("version c, which fails")
    world.change_spec(weights=weights("c"))
    story.until(rolled_back)
    story.quiet()
    story.say("deleted with --cascade=orphan, and created again with c")
    left_alone = [pod.transaction for pod in world.pods]
    world.status, world.memory, world.generation = WeightRolloutStatus(), Memory(), 1
    world.revisions = tuple(replace(each, owned=False) for each in world.revisions)
    plan = story.until(rolled_back)
    story.quiet()
    assert [pod.transaction for pod in world.pods] == left_alone
    assert all(each.owned for each in world.revisions)
    assert plan.status.stable is not None
    assert plan.status.stable.version == "b"
    story.say("b in the spec, and abort: a is known as well")
    world.change_spec(weights=weights("b"))
    story.until(complete)
    ask(world, "abort")
    story.until(rolled_back)
    assert serve(world, "a")
    return story


def status_is_wiped_in_mid_rollout(choose: Choose) -> Story:
    world = world_of("b", 4, on="a", choose=choose)
    story = Story(world)
    for count in (1, 2, 3):
        story.until(updated(count))
        story.say("status and memory are lost")
        world.status, world.memory = WeightRolloutStatus(), Memory()
        plan = story.one_pass()
        assert plan.status.stable is not None
        assert plan.status.stable.version == "a"
        assert plan.status.pods.updated >= count
    story.until(complete)
    return story


def status_is_wiped_after_an_abort(choose: Choose) -> Story:
    """What was asked for is in the history; the slot still holds the text, and is not trusted."""
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(complete)
    ask(world, "abort")
    story.until(rolled_back)
    story.quiet()
    story.say("status and memory are lost")
    world.status, world.memory = WeightRolloutStatus(), Memory()
    plan = story.one_pass()
    assert plan.status.phase is Phase.ROLLED_BACK
    assert plan.status.target is not None
    assert plan.status.target.version == "a"
    story.quiet()
    assert serve(world, "a")
    return story


def failures_that_are_remembered_by_agents_alone(choose: Choose) -> Story:
    """Operator, status and memory are gone after two of three attempts: the third is the last."""
    strategy = Strategy(max_unavailable=1, max_failed=0)
    world = world_of("b", 3, on="a", strategy=strategy, choose=choose)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    pod = next(pod for pod in world.pods if pod.loaded == ref_of("a"))
    pod.fates = [UNDONE] * 100
    story.until(lambda _: len(pod.fates) == 98 and not pod.swapping)
    story.say("status and memory are lost")
    world.status, world.memory = WeightRolloutStatus(), Memory()
    story.until(rolled_back)
    assert len(pod.fates) == 97
    return story


def back_to_the_baseline_by_a_verb_alone(choose: Choose) -> Story:
    """The first version is complete and aborted: engines restart one after the other, then a new
    version begins from there, and its rollback leads there too."""
    world = world_of("a", 3, choose=choose)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    story.until(complete)
    story.quiet()
    assert serve(world, "a")
    story.say("abort")
    ask(world, "abort")
    story.until(rolled_back)
    assert all(pod.loaded is None and pod.instance == 2 for pod in world.pods)
    story.say("one pod more: it serves its base weights, and waits for nothing")
    world.pods.append(new_pod(3))
    story.until(lambda plan: plan.status.pods.available == 4)
    story.say("version b, which fails")
    world.change_spec(weights=weights("b"))
    story.until(rolled_back)
    assert all(pod.loaded is None for pod in world.pods)
    return story


def with_a_verified_version_nothing_leads_to_the_baseline(choose: Choose) -> Story:
    """Not the next one's failure, not a lost status, not the abort of what is stable."""
    world = world_of("b", 3, on="a", choose=choose)
    story = Story(world)
    story.until(complete)
    world.checkpoints[uri("c")] = Checkpoint(digest("c"), swap=PROMPT_FAILED)
    for step in ("c", "b", "abort"):
        story.say(step)
        if step == "abort":
            ask(world, step)
        else:
            world.change_spec(weights=weights(step))
        world.status, world.memory = world.status, Memory()
        story.until(is_in(Phase.COMPLETE if step == "b" else Phase.ROLLED_BACK))
        story.quiet()
    assert all(pod.instance == 1 for pod in world.pods)
    assert serve(world, "a")
    return story


STORIES: Final[dict[str, Tell]] = {
    tell.__name__: tell
    for tell in (
        says_how_it_could_go_back,
        keeps_nothing_but_the_way_back,
        forgotten_rejection_is_tried_anew,
        created_again_after_it_was_deleted_alone,
        status_is_wiped_in_mid_rollout,
        status_is_wiped_after_an_abort,
        failures_that_are_remembered_by_agents_alone,
        back_to_the_baseline_by_a_verb_alone,
        with_a_verified_version_nothing_leads_to_the_baseline,
    )
}


@pytest.mark.parametrize("name", STORIES)
def test_story_of_the_history_reads_as_its_golden_log(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", STORIES)
def test_story_of_the_history_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


def test_every_golden_log_of_the_history_has_a_story() -> None:
    assert {path.stem for path in FOLDER.glob("*.story")} == set(STORIES)


def test_way_back_is_unknown_where_agents_cannot_say_what_they_hold() -> None:
    world = serving(world_of("b", 2), "a")
    world.pod("chat-1").fault = AgentFault.UNREACHABLE
    ready = rollback_ready(Story(world).one_pass())
    assert (ready.status, ready.reason) == ("Unknown", "AgentsSilent")
    assert "chat-1" in ready.message


def test_way_back_must_be_read_again_where_last_good_is_not_kept() -> None:
    world = world_of("b", 2, on="a", staging=Staging(keep_last_good=False))
    story = Story(world)
    story.until(complete)
    world.change_spec(weights=weights("c"))
    story.until(complete)
    for pod in world.pods:
        pod.staged -= {digest("b")}
    ready = rollback_ready(story.one_pass())
    assert (ready.status, ready.reason) == ("Unknown", "NotStaged")
    assert "would read b" in ready.message


def test_way_back_of_a_fleet_without_pods_is_unknown() -> None:
    world = world_of("b", 2, on="a")
    story = Story(world)
    story.until(complete)
    world.pods.clear()
    ready = rollback_ready(story.one_pass())
    assert (ready.status, ready.reason) == ("Unknown", "NoPods")
