"""A fleet that a trainer drives, as golden logs: who is left alone, who is brought up, and how it changes hands.

Each story also runs in seeded random orders, where only the invariants and its ending must hold.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from planning.liars import OfAnOlderRelease
from planning.stories import Story, compare
from planning.worlds import POISONED, PROMPT_FAILED, digest, new_pod, uri, weights, world_of
from weightrollout.api.conditions import ConditionType
from weightrollout.api.spec import Driver, Mode
from weightrollout.api.status import Condition, Phase
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AgentFault, Memory
from weightrollout.rollout.simulate import Checkpoint, Choose, ToyWorld, first
from weightrollout.rollout.toypod import ToyPod

FOLDER: Final = Path(__file__).parent / "stories" / "trainer"
Tell = Callable[[Choose], Story]


def driven(choose: Choose, durable: str | None, count: int, **fields: Any) -> ToyWorld:
    """Pods with base weights."""
    world = world_of(durable, count, choose=choose, driver=Driver.TRAINER, **fields)
    for pod in world.pods:
        pod.drivable, pod.ready = True, False
    return world


def only_nccl(world: ToyWorld) -> ToyWorld:
    for pod in world.pods:
        pod.incompatible_reason = "NoTransferBackend"
    return world


def update(world: ToyWorld, version: str, *pods: ToyPod) -> None:
    """A whole step of the trainer's, on these pods or on all."""
    for pod in pods or world.pods:
        assert pod.pause()
        pod.update()
        pod.finish(version)
        pod.resume()


def is_in(*phases: Phase) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.phase in phases


complete = is_in(Phase.COMPLETE)


def waits_for_trainer(plan: Plan) -> bool:
    return plan.status.hold is not None and plan.status.hold.reason == "WaitingForTrainer"


def available(count: int) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.pods.available == count


def condition(plan: Plan, kind: ConditionType) -> Condition:
    return next(each for each in plan.status.conditions if each.type == kind)


def ready(plan: Plan) -> Condition:
    return condition(plan, ConditionType.READY)


def serving_on(story: Story, count: int, until: Callable[[Plan], bool]) -> Plan:
    """All the way there, so many pods serve at every look."""

    def looks(plan: Plan) -> bool:
        assert plan.status.pods.available >= count, story.text()
        return until(plan)

    return story.until(looks)


def for_seconds(story: Story, seconds: float) -> Callable[[Plan], bool]:
    end = story.world.now + seconds
    story.world.later(seconds, "the story goes on", lambda: None)
    return lambda _: story.world.now >= end


def loaded(world: ToyWorld) -> list[str]:
    return [pod.loaded.version if pod.loaded is not None else "default" for pod in world.pods]


def engines_of_nccl_are_updated_by_their_trainer(choose: Choose) -> Story:
    world = only_nccl(driven(choose, None, 2))
    story = Story(world)
    plan = story.until(waits_for_trainer)
    assert (plan.status.phase, plan.status.pods.incompatible) == (Phase.PENDING, 0)
    assert ready(plan).reason == "WaitingForTrainer"
    story.say("the trainer's first step")
    update(world, "1")
    plan = story.until(available(2))
    assert (ready(plan).status, ready(plan).reason) == ("True", "TrainerDrives")
    story.say("and its next one: nobody swaps it back")
    update(world, "2")
    plan = story.for_seconds(30)
    assert [(each.version, each.pods) for each in plan.status.versions] == [("2", 2)]
    assert (plan.status.updated, plan.status.pods.outdated) == ("2/2", 0)
    assert {pod.version_label for pod in world.pods} == {"2"}
    return story


def joiner_loads_the_durable_version(choose: Choose) -> Story:
    world = driven(choose, "b", 2)
    story = Story(world)
    update(world, "1")
    story.until(available(2))
    story.say("one pod more")
    world.pods.append(new_pod(2, drivable=True))
    plan = story.until(available(3))
    assert loaded(world) == ["1", "1", "b"]
    plan = story.quiet()
    assert plan.status.stable is not None
    assert plan.status.stable.version == "b"
    assert world.published is not None
    assert world.published_for_trainer
    return story


def joiner_of_nccl_waits_although_there_is_a_durable_version(choose: Choose) -> Story:
    world = only_nccl(driven(choose, "b", 2))
    story = Story(world)
    update(world, "1", world.pods[0])
    plan = story.until(waits_for_trainer)
    assert plan.status.hold is not None
    assert plan.status.hold.pods == ("chat-1",)
    assert "NoTransferBackend" in plan.status.hold.message
    story.for_seconds(60)
    assert loaded(world) == ["1", "default"]
    update(world, "2")
    story.until(complete)
    return story


def engine_that_restarts_is_a_joiner(choose: Choose) -> Story:
    world = driven(choose, "b", 2)
    story = Story(world)
    update(world, "7")
    story.until(available(2))
    story.say("the engine of chat-1 restarts")
    world.pods[1].restart()
    story.until(lambda plan: complete(plan) and loaded(world) == ["7", "b"])
    return story


def pod_in_an_update_is_left_alone(choose: Choose) -> Story:
    """Also one that has nothing loaded yet."""
    world = driven(choose, "b", 2)
    story = Story(world)
    for pod in world.pods:
        assert pod.pause()
        pod.update()
    plan = story.for_seconds(60)
    assert plan.status.trainer is not None
    assert (plan.status.trainer.held, plan.status.updated) == (2, "0/2")
    assert plan.status.phase is Phase.COMPLETE
    for pod in world.pods:
        pod.finish("1")
        pod.resume()
    story.until(available(2))
    return story


def bad_durable_version_poisons_one_joiner(choose: Choose) -> Story:
    world = driven(choose, "b", 4)
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    story = Story(world)
    update(world, "1", *world.pods[:2])
    plan = story.until(is_in(Phase.FAILED))
    plan = story.for_seconds(120)
    assert plan.status.pods.available == 2, "what the trainer gave goes on serving"
    assert loaded(world)[:2] == ["1", "1"]
    assert plan.status.target is not None
    assert plan.status.target.version == "b", "there is no way back to base weights"
    story.say("a good one")
    world.change_spec(weights=weights("c"))
    story.until(lambda plan: loaded(world) == ["1", "1", "c", "c"] and complete(plan))
    return story


def operator_takes_over_when_nothing_holds(choose: Choose) -> Story:
    world = driven(choose, "b", 2)
    story = Story(world)
    update(world, "1")
    story.until(available(2))
    story.say("the trainer is in mid-update on both, and driver becomes Operator")
    for pod in world.pods:
        assert pod.pause()
        pod.update()
    world.change_spec(driver=Driver.OPERATOR)
    plan = story.for_seconds(60)
    assert plan.status.hold is not None
    assert plan.status.hold.reason == "HeldByTrainer"
    assert loaded(world) == ["1", "1"]
    story.say("it finishes and resumes")
    for pod in world.pods:
        pod.finish("2")
        pod.resume()
    story.until(complete)
    assert loaded(world) == ["b", "b"]
    assert not world.published_for_trainer
    return story


def trainer_takes_over_in_mid_rollout(choose: Choose) -> Story:
    """Running swaps end, what is reserved is given back, and no pod goes on to the target."""
    world = world_of("b", 4, on="a", choose=choose)
    for pod in world.pods:
        pod.drivable = True
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1 and plan.status.pods.out > 0)
    story.say("driver becomes Trainer")
    world.change_spec(driver=Driver.TRAINER)
    story.until(lambda plan: complete(plan) and plan.status.pods.available == 4)
    assert loaded(world).count("a") >= 2
    story.say("and Operator again: the rollout goes on")
    world.change_spec(driver=Driver.OPERATOR)
    story.until(complete)
    assert loaded(world) == ["b"] * 4
    return story


def pods_with_base_weights_go_out_when_a_trainer_takes_over(choose: Choose) -> Story:
    world = world_of(None, 2, choose=choose)
    for pod in world.pods:
        pod.drivable = True
    story = Story(world)
    story.until(available(2))
    story.say("driver becomes Trainer")
    world.change_spec(driver=Driver.TRAINER)
    story.until(available(0))
    story.say("and Operator again, with nothing desired: base weights serve")
    world.change_spec(driver=Driver.OPERATOR)
    story.until(available(2))
    return story


def live_fleet_becomes_a_trainers_and_comes_back(choose: Choose) -> Story:
    """What holds a verified version serves on through both changes, and what the operator finds right it leaves."""
    world = world_of("a", 4, on="a", choose=choose)
    for pod in world.pods:
        pod.drivable = True
    story = Story(world)
    story.until(lambda plan: complete(plan) and plan.status.pods.available == 4)
    story.say("driver becomes Trainer")
    world.change_spec(driver=Driver.TRAINER)
    plan = serving_on(story, 4, for_seconds(story, 60))
    assert (plan.status.phase, loaded(world)) == (Phase.COMPLETE, ["a"] * 4)
    story.say("its first step, on two of the pods")
    update(world, "1", *world.pods[:2])
    story.until(available(4))
    story.say("and Operator again: the two go back to a, one at a time")
    world.change_spec(driver=Driver.OPERATOR)
    serving_on(story, 3, lambda plan: complete(plan) and loaded(world) == ["a"] * 4)
    assert [pod.transaction for pod in world.pods[2:]] == [None, None], (
        "what serves a is not touched"
    )
    return story


def trainers_fleet_becomes_the_operators_and_comes_back_in_mid_rollout(choose: Choose) -> Story:
    world = driven(choose, "b", 4)
    story = Story(world)
    update(world, "1")
    story.until(available(4))
    story.say("driver becomes Operator: b is rolled out")
    world.change_spec(driver=Driver.OPERATOR)
    serving_on(story, 3, lambda plan: loaded(world).count("b") == 2)
    story.say("and Trainer again")
    world.change_spec(driver=Driver.TRAINER)
    serving_on(story, 3, lambda plan: complete(plan) and plan.status.pods.available == 4)
    serving_on(story, 4, for_seconds(story, 60))
    assert 1 <= loaded(world).count("1") <= 2, "a swap that ran may end"
    return story


def base_weights_go_out_in_mid_rollout_and_what_is_verified_stays(choose: Choose) -> Story:
    """At once, outside the budget: by design, and with the reason. They come in with the durable version."""
    world = world_of("a", 4, choose=choose)
    for pod in world.pods:
        pod.drivable = True
    story = Story(world)
    story.until(lambda plan: loaded(world).count("a") == 2)
    story.say("driver becomes Trainer")
    world.change_spec(driver=Driver.TRAINER)
    plan = story.one_pass()
    out = condition(plan, ConditionType.AVAILABLE)
    assert (out.status, out.reason) == ("False", "BaseWeightsOut")
    assert "base weights never serve where a trainer drives" in plan.status.message
    serving_on(story, 1, lambda plan: complete(plan) and plan.status.pods.available == 4)
    assert loaded(world) == ["a"] * 4
    return story


def newer_durable_version_is_for_agents_alone_once_a_pod_has_loaded_it(choose: Choose) -> Story:
    world = driven(choose, "b", 2)
    story = Story(world)
    update(world, "1", world.pods[0])
    story.until(complete)
    story.quiet()
    assert world.published is not None
    assert world.published.version == "b"
    story.say("a newer one, while no pod needs it")
    world.change_spec(weights=weights("c"))
    story.for_seconds(60)
    assert world.published.version == "b", "nobody has loaded c"
    story.say("the engine of chat-1 restarts")
    world.pods[1].restart()
    story.until(lambda plan: complete(plan) and loaded(world) == ["1", "c"])
    story.quiet()
    assert world.published.version == "c"
    return story


def takeover_of_another_leader_forgets_nothing(choose: Choose) -> Story:
    world = driven(choose, "b", 2)
    story = Story(world)
    update(world, "1", world.pods[0])
    story.until(lambda plan: any(pod.swapping for pod in world.pods))
    story.say("another leader, and the joiner's agent is silent for a while")
    world.memory = Memory()
    world.pods[1].fault = AgentFault.UNREACHABLE
    story.for_seconds(20)
    world.pods[1].fault = None
    story.until(complete)
    assert loaded(world) == ["1", "b"]
    return story


def suspended_leaves_joiners_to_their_agents(choose: Choose) -> Story:
    world = driven(choose, "b", 2, mode=Mode.SUSPENDED)
    story = Story(world)
    update(world, "1", world.pods[0])
    plan = story.for_seconds(60)
    assert plan.quiet
    assert loaded(world) == ["1", "default"]
    return story


def poisoned_joiner_is_restarted(choose: Choose) -> Story:
    world = driven(choose, "b", 2)
    world.pods[1].fates = [POISONED]
    story = Story(world)
    update(world, "1", world.pods[0])
    story.until(lambda plan: loaded(world) == ["1", "b"] and complete(plan))
    return story


STORIES: dict[str, Tell] = {
    tell.__name__: tell
    for tell in (
        engines_of_nccl_are_updated_by_their_trainer,
        joiner_loads_the_durable_version,
        joiner_of_nccl_waits_although_there_is_a_durable_version,
        engine_that_restarts_is_a_joiner,
        pod_in_an_update_is_left_alone,
        bad_durable_version_poisons_one_joiner,
        operator_takes_over_when_nothing_holds,
        trainer_takes_over_in_mid_rollout,
        pods_with_base_weights_go_out_when_a_trainer_takes_over,
        live_fleet_becomes_a_trainers_and_comes_back,
        trainers_fleet_becomes_the_operators_and_comes_back_in_mid_rollout,
        base_weights_go_out_in_mid_rollout_and_what_is_verified_stays,
        newer_durable_version_is_for_agents_alone_once_a_pod_has_loaded_it,
        takeover_of_another_leader_forgets_nothing,
        suspended_leaves_joiners_to_their_agents,
        poisoned_joiner_is_restarted,
    )
}


@pytest.mark.parametrize("name", STORIES)
def test_fleet_of_a_trainer_reads_as_its_golden_log(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", STORIES)
def test_fleet_of_a_trainer_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


def test_every_golden_log_of_a_trainer_has_a_story() -> None:
    assert {path.stem for path in FOLDER.glob("*.story")} == set(STORIES)


def test_agent_that_knows_no_trainers_is_named_and_loads_no_durable_version() -> None:
    world = driven(first, "b", 2)
    world.pods = [OfAnOlderRelease(**vars(pod)) for pod in world.pods]
    planned = world.one_pass()
    while world.advance() and world.now < 120:
        planned = world.one_pass()
    assert planned.status.hold is not None
    assert planned.status.hold.reason == "AgentTooOld"
    assert "spec.driver to Operator" in planned.status.hold.message
    assert [pod.transaction for pod in world.pods] == [None, None]
