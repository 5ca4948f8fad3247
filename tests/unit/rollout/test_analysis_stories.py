"""Analyses as golden logs: what is asked, what was answered, and what the fleet does about it.

Each story also runs in seeded random orders, where only the invariants and its ending must hold.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from planning.stories import Story, compare
from planning.worlds import new_pod, weights, world_of
from weightrollout.api.reasons import MeasurementReason
from weightrollout.api.spec import Mode, OnFailure, Step, Strategy
from weightrollout.api.status import AnalysisOutcome, Phase, WeightRolloutStatus
from weightrollout.rollout.actions import Measure, Plan
from weightrollout.rollout.fleet import AgentFault, Doing, Memory
from weightrollout.rollout.simulate import Answer, Choose, ToyWorld, first

FOLDER = Path(__file__).parent / "stories" / "analysis"
Tell = Callable[[Choose], Story]

GOOD, BAD = Answer(value=0.004), Answer(value=0.5)
NOTHING = Answer(reason=MeasurementReason.NO_DATA)
GONE = Answer(reason=MeasurementReason.UNREACHABLE)
ERRORS = {"query": 'errors{pod=~"$(pods)"}', "max": 0.01}


def strategy(*before: dict[str, Any], **analysis: Any) -> Strategy:
    """One pod, then an analysis of three questions each 30 s, then all."""
    asked = {"prometheus": ERRORS, "intervalSeconds": 30, "count": 3, **analysis}
    steps = ({"updated": 1}, *before, {"analysis": asked})
    return Strategy(max_unavailable=1, steps=tuple(Step.model_validate(each) for each in steps))


def canary(choose: Choose, *answers: Answer, count: int = 3, **analysis: Any) -> Story:
    on_failure = analysis.pop("on_failure", OnFailure.ROLLBACK)
    world = world_of(
        "b", count, on="a", strategy=strategy(**analysis), on_failure=on_failure, choose=choose
    )
    world.answers = list(answers)
    return Story(world)


def is_in(*phases: Phase) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.phase in phases


complete, rolled_back = is_in(Phase.COMPLETE), is_in(Phase.ROLLED_BACK)


def held_for(reason: str) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.hold is not None and plan.status.hold.reason == reason


def measured(count: int) -> Callable[[Plan], bool]:
    return lambda plan: bool(plan.status.analysis) and plan.status.analysis[0].taken >= count


def on(world: ToyWorld, version: str) -> int:
    return sum(pod.loaded is not None and pod.loaded.version == version for pod in world.pods)


def outcome(plan: Plan) -> AnalysisOutcome:
    return plan.status.analysis[0].outcome


def ask(world: ToyWorld, verb: str) -> None:
    assert world.status.desired is not None
    world.action = f"{verb}:{world.status.desired.revision}@1"


def good_answers_pass_the_step(choose: Choose) -> Story:
    story = canary(choose, GOOD, GOOD, GOOD, initialDelaySeconds=10)
    plan = story.until(held_for("AnalysisRunning"))
    began = story.world.now
    assert on(story.world, "b") == 1
    plan = story.until(complete)
    assert story.world.now >= began + 10 + 2 * 30
    assert outcome(plan) is AnalysisOutcome.SUCCESSFUL
    return story


def bad_answers_reject_the_version(choose: Choose) -> Story:
    story = canary(choose, BAD, GOOD, BAD, failureLimit=1)
    plan = story.until(rolled_back)
    assert on(story.world, "b") == 0
    assert outcome(plan) is AnalysisOutcome.FAILED
    return story


def bad_answers_hold_where_it_is_said_so(choose: Choose) -> Story:
    story = canary(choose, BAD, on_failure=OnFailure.HOLD)
    story.until(is_in(Phase.FAILED))
    plan = story.quiet()
    assert on(story.world, "b") == 1
    assert outcome(plan) is AnalysisOutcome.FAILED
    return story


def forgiven_answers_do_not_reject(choose: Choose) -> Story:
    story = canary(choose, BAD, GOOD, GOOD, failureLimit=1)
    plan = story.until(complete)
    assert (plan.status.analysis[0].failed, outcome(plan)) == (1, AnalysisOutcome.SUCCESSFUL)
    return story


def monitoring_that_is_gone_asks_a_person(choose: Choose) -> Story:
    story = canary(choose, GOOD, *([GONE] * 50), inconclusiveLimit=2)
    plan = story.until(is_in(Phase.PAUSED))
    plan = story.for_seconds(100_000)
    assert (plan.status.phase, on(story.world, "b")) == (Phase.PAUSED, 1)
    assert plan.status.analysis[0].inconclusive == 3, "what ended asks no more"
    story.say("promote")
    ask(story.world, "promote")
    plan = story.until(complete)
    assert outcome(plan) is AnalysisOutcome.INCONCLUSIVE
    return story


def nobody_can_say_and_a_person_aborts(choose: Choose) -> Story:
    story = canary(choose, *([NOTHING] * 4))
    story.until(held_for("AnalysisInconclusive"))
    story.say("abort")
    ask(story.world, "abort")
    story.until(rolled_back)
    assert on(story.world, "b") == 0
    return story


def missing_data_is_asked_again(choose: Choose) -> Story:
    story = canary(choose, NOTHING, NOTHING, GOOD, GOOD, GOOD)
    plan = story.until(complete)
    assert plan.status.analysis[0].inconclusive == 2
    return story


def dry_run_never_stops_anything(choose: Choose) -> Story:
    story = canary(choose, BAD, dryRun=True)
    plan = story.until(complete)
    assert (outcome(plan), plan.status.analysis[0].dry_run) == (AnalysisOutcome.FAILED, True)
    return story


def person_promotes_before_it_ends(choose: Choose) -> Story:
    story = canary(choose, GOOD, count=3)
    story.until(measured(1))
    story.say("promote")
    ask(story.world, "promote")
    plan = story.until(complete)
    assert outcome(plan) is AnalysisOutcome.SKIPPED
    return story


def status_that_is_wiped_is_measured_again(choose: Choose) -> Story:
    story = canary(choose, GOOD)
    story.until(measured(1))
    story.say("promote, and then the status is wiped")
    ask(story.world, "promote")
    story.one_pass()
    story.world.status = WeightRolloutStatus()
    plan = story.until(complete)
    assert (outcome(plan), plan.status.analysis[0].taken) == (AnalysisOutcome.SUCCESSFUL, 3)
    return story


def new_leader_goes_on_from_the_status(choose: Choose) -> Story:
    story = canary(choose, GOOD, BAD, GOOD, failureLimit=1)
    world = story.world
    story.until(measured(2))
    story.say("another operator leads")
    world.memory, world.measurement = Memory(), None
    world.events = [each for each in world.events if each.what != Doing.MEASURE]
    world.work = {each for each in world.work if each.doing is not Doing.MEASURE}
    plan = story.until(complete)
    assert plan.status.analysis[0].taken == 3
    assert plan.status.analysis[0].failed == 1
    return story


def other_steps_begin_again(choose: Choose) -> Story:
    story = canary(choose, BAD, BAD, GOOD, count=3, failureLimit=2)
    story.until(measured(2))
    story.say("the steps are edited: one good answer is enough")
    story.world.change_spec(strategy=strategy(count=1))
    plan = story.until(complete)
    assert (plan.status.analysis[0].taken, plan.status.analysis[0].failed) == (1, 0)
    return story


def newer_version_begins_again(choose: Choose) -> Story:
    story = canary(choose, GOOD, GOOD, BAD, BAD)
    story.until(measured(2))
    story.say("version c is published")
    story.world.change_spec(weights=weights("c"))
    story.until(rolled_back)
    assert on(story.world, "a") == 3
    return story


def canary_that_dies_is_not_measured(choose: Choose) -> Story:
    story = canary(choose, GOOD, GOOD, GOOD)
    world = story.world
    story.until(measured(1))
    story.quiet()
    story.say("the agents of all pods are silent")
    for pod in world.pods:
        pod.fault = AgentFault.UNREACHABLE
    asked = 0
    for _ in range(8):
        plan = story.for_seconds(31)
        asked += sum(isinstance(each, Measure) for each in plan.actions)
    assert asked == 0
    story.say("they answer again")
    for pod in world.pods:
        pod.fault = None
    story.until(complete)
    return story


def paused_rollout_is_not_measured(choose: Choose) -> Story:
    story = canary(choose, GOOD, GOOD, GOOD)
    story.until(measured(1))
    story.say("spec.mode: Paused")
    story.world.change_spec(mode=Mode.PAUSED)
    story.quiet()
    plan = story.for_seconds(1000)
    assert plan.status.analysis[0].taken <= 2, "one may have been on its way"
    story.say("spec.mode: Run")
    story.world.change_spec(mode=Mode.RUN)
    story.until(complete)
    return story


def joiners_load_stable_while_it_measures(choose: Choose) -> Story:
    story = canary(choose, GOOD, GOOD, GOOD)
    story.until(measured(1))
    story.say("a pod joins")
    story.world.pods.append(new_pod(3))
    story.until(lambda _: story.world.pod("chat-3").loaded is not None)
    assert on(story.world, "b") == 1
    story.until(complete)
    return story


STORIES: dict[str, Tell] = {
    tell.__name__: tell
    for tell in (
        good_answers_pass_the_step,
        bad_answers_reject_the_version,
        bad_answers_hold_where_it_is_said_so,
        forgiven_answers_do_not_reject,
        monitoring_that_is_gone_asks_a_person,
        nobody_can_say_and_a_person_aborts,
        missing_data_is_asked_again,
        dry_run_never_stops_anything,
        person_promotes_before_it_ends,
        status_that_is_wiped_is_measured_again,
        new_leader_goes_on_from_the_status,
        other_steps_begin_again,
        newer_version_begins_again,
        canary_that_dies_is_not_measured,
        paused_rollout_is_not_measured,
        joiners_load_stable_while_it_measures,
    )
}


@pytest.mark.parametrize("name", STORIES)
def test_story_reads_as_its_golden_log(name: str) -> None:
    compare(STORIES[name](first).text(), FOLDER / f"{name}.story")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", STORIES)
def test_story_ends_well_in_any_order(name: str, seed: int) -> None:
    STORIES[name](Random(seed).randrange)


def test_every_golden_log_has_a_story() -> None:
    assert {path.stem for path in FOLDER.glob("*.story")} == set(STORIES)
