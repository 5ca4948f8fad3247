"""Events tell a person what happened, once, however many pods there are and however long it lasts."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from planning.stories import Story
from planning.worlds import (
    NO_STORE,
    PROMPT_FAILED,
    TAKE_OUT_NONE,
    UNDONE,
    digest,
    uri,
    weights,
    world_of,
)
from weightrollout.api.spec import Staging, Step, Strategy, Supersede
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import Announce, Plan
from weightrollout.rollout.announce import (
    FORGOTTEN_S,
    HELD,
    MOST_KEYS,
    MOST_PODS,
    ROUTINE,
    ROUTINE_S,
)
from weightrollout.rollout.fleet import AgentFault
from weightrollout.rollout.plan import plan
from weightrollout.rollout.simulate import Checkpoint, ToyWorld

Json = dict[str, Any]

MANY = 200
HOUR = 3600.0
PAUSES: tuple[Json, ...] = (
    {"updated": 1},
    {"pause": {}},
    {"updated": 2},
    {"pause": {"durationSeconds": 60}},
)


class Heard:
    """A world, and all events that it told. `coarse`: one pass for all that happens at one moment, as a busy
    operator does it; the invariants are looked after elsewhere then."""

    def __init__(self, world: ToyWorld, *, coarse: bool = False) -> None:
        self.world = world
        self.events: list[Announce] = []
        self._coarse = coarse
        self._story = Story(world)

    def until(self, reached: Callable[[Plan], bool]) -> Plan:
        def listening(planned: Plan) -> bool:
            self.events += [each for each in planned.actions if isinstance(each, Announce)]
            return reached(planned)

        if not self._coarse:
            return self._story.until(listening)
        while not listening(planned := self.world.one_pass()):
            assert self.world.advance(), "it stands still"
            while any(event.due <= self.world.now for event in self.world.events):
                self.world.advance()
        return planned

    def for_seconds(self, seconds: float) -> None:
        end = self.world.now + seconds
        self.world.later(seconds, "the story goes on", lambda: None)
        self.until(lambda _: self.world.now >= end)

    @property
    def reasons(self) -> list[str]:
        return [each.reason for each in self.events]


def _phase(phase: Phase) -> Callable[[Plan], bool]:
    return lambda planned: planned.status.phase is phase


def _held_for(reason: str) -> Callable[[Plan], bool]:
    return lambda planned: planned.status.hold is not None and planned.status.hold.reason == reason


def _canary(*steps: Json) -> Strategy:
    return Strategy(max_unavailable=1, steps=tuple(Step.model_validate(each) for each in steps))


@pytest.mark.slow
def test_a_rollout_of_many_pods_tells_as_much_as_one_of_a_few() -> None:
    few = Heard(world_of("b", 3, on="a"))
    few.until(_phase(Phase.COMPLETE))
    strategy = Strategy(max_unavailable="25%")
    many = Heard(world_of("b", MANY, on="a", strategy=strategy), coarse=True)
    many.until(_phase(Phase.COMPLETE))
    expected = ["RolloutStarted", "DigestPinned", "Proven", "RolloutComplete"]
    assert few.reasons == many.reasons == expected


@pytest.mark.slow
def test_an_outage_of_the_store_is_told_by_some_pods_and_one_hold_and_not_by_each_pod() -> None:
    strategy = Strategy(max_unavailable="25%")
    heard = Heard(world_of("b", MANY, on="a", strategy=strategy), coarse=True)
    heard.until(lambda planned: planned.status.pods.updated > 0)
    heard.world.checkpoints[uri("b")] = Checkpoint(digest("b"), stage=NO_STORE)
    heard.events.clear()
    heard.for_seconds(HOUR / 4)
    remembered = heard.world.memory.pods.values()
    failing = sum(pod.staging is not None and pod.staging.failures > 0 for pod in remembered)
    assert failing > MANY / 2
    assert Counter(heard.reasons) == {"PodFailed": MOST_PODS + 1, "Held": 1}


def test_many_pods_that_fail_are_told_by_ten_and_one_event() -> None:
    strategy = Strategy(max_unavailable=30, max_failed=30, prove_first=False)
    world = world_of("b", 30, on="a", strategy=strategy)
    for pod in world.pods:
        pod.fates = [UNDONE] * 9
    heard = Heard(world)
    heard.for_seconds(HOUR / 2)
    failed = [each for each in heard.events if each.reason == "PodFailed"]
    assert len(failed) == MOST_PODS + 1
    assert not failed[-1].pod_uid
    assert "kubectl weightrollout status chat" in failed[-1].message
    assert len(heard.events) < 20


def test_a_hold_that_comes_and_goes_is_told_once_an_hour() -> None:
    world = world_of("b", 2, on="a")
    heard = Heard(world)
    heard.until(_phase(Phase.COMPLETE))
    heard.events.clear()
    for _ in range(60):
        for pod in world.pods:
            pod.fault = AgentFault.UNREACHABLE
        heard.for_seconds(60)
        for pod in world.pods:
            pod.fault = None
        heard.for_seconds(60)
    assert 1 <= len(heard.events) <= 4
    assert set(heard.reasons) == {"Held"}


def test_a_step_that_waits_is_told_once_with_the_way_on() -> None:
    world = world_of("b", 3, on="a", strategy=_canary(*PAUSES))
    heard = Heard(world)
    heard.until(lambda planned: planned.status.phase is Phase.PAUSED)
    heard.for_seconds(120)
    waiting = [each for each in heard.events if each.reason == "StepPaused"]
    assert len(waiting) == 1
    assert not waiting[0].warning
    assert "kubectl weightrollout promote chat" in waiting[0].message


def test_each_pause_of_a_canary_and_each_verb_is_told() -> None:
    world = world_of("b", 3, on="a", strategy=_canary(*PAUSES))
    heard = Heard(world)
    planned = heard.until(lambda planned: planned.status.phase is Phase.PAUSED)
    target, step = planned.status.target, planned.status.step
    assert target is not None
    assert step is not None
    world.action = f"promote:{target.revision}@n1"
    heard.until(_phase(Phase.COMPLETE))
    assert heard.reasons == [
        "RolloutStarted",
        "DigestPinned",
        "Proven",
        "StepPaused",
        "ActionAccepted",
        "StepTimed",
        "RolloutComplete",
    ]


@pytest.mark.parametrize(
    ("action", "reason"), [("promote:nothing@n1", "ActionStale"), ("hurry up", "ActionInvalid")]
)
def test_a_verb_that_does_nothing_is_told_as_a_warning(action: str, reason: str) -> None:
    world = world_of("b", 2, on="a")
    heard = Heard(world)
    heard.until(_phase(Phase.COMPLETE))
    heard.events.clear()
    world.action = action
    heard.for_seconds(60)
    assert [(each.reason, each.warning) for each in heard.events] == [(reason, True)]


def test_a_measured_canary_tells_its_verdict_and_what_became_of_it() -> None:
    analysis = {"prometheus": {"query": "x", "max": 1}, "count": 1, "intervalSeconds": 5}
    world = world_of("b", 3, on="a", strategy=_canary({"updated": 1}, {"analysis": analysis}))
    heard = Heard(world)
    heard.until(_phase(Phase.COMPLETE))
    assert "AnalysisSuccessful" in heard.reasons


def test_a_rollback_tells_why_and_how_it_ended() -> None:
    world = world_of("b", 8, on="a")
    world.checkpoints[uri("b")] = Checkpoint(digest("b"), swap=PROMPT_FAILED)
    heard = Heard(world)
    heard.until(_phase(Phase.ROLLED_BACK))
    assert {"RevisionRejected", "RollbackStarted", "RolledBack"} <= set(heard.reasons)
    assert len(heard.events) <= 12


def test_what_was_announced_is_not_remembered_for_ever() -> None:
    world = world_of("a", 2, on="a")
    heard = Heard(world)
    heard.until(_phase(Phase.COMPLETE))
    for number in range(MOST_KEYS):
        world.action = f"nonsense {number}"
        heard.for_seconds(1)
    assert len(heard.events) >= MOST_KEYS
    assert len(world.memory.announced) <= MOST_KEYS
    world.now += FORGOTTEN_S
    world.action = "the last nonsense"
    heard.for_seconds(1)
    assert len(world.memory.announced) == 1


def test_a_new_leader_tells_no_step_and_no_verb_again() -> None:
    world = world_of("b", 3, on="a", strategy=_canary(*PAUSES))
    heard = Heard(world)
    heard.until(_phase(Phase.PAUSED))
    world.action = "nonsense"
    heard.for_seconds(5)
    fleet = world.observe()
    again = plan(replace(fleet, memory=replace(fleet.memory, announced={})))
    assert not [each for each in again.actions if isinstance(each, Announce)]


def test_the_next_version_is_told_of_anew() -> None:
    world = world_of("b", 2, on="a")
    heard = Heard(world)
    heard.until(_phase(Phase.COMPLETE))
    heard.events.clear()
    world.change_spec(weights=weights("c"))
    heard.until(_phase(Phase.PROGRESSING))
    heard.until(_phase(Phase.COMPLETE))
    assert heard.reasons == ["RolloutStarted", "DigestPinned", "Proven", "RolloutComplete"]


def test_versions_that_queue_are_told_seldom_and_their_failures_always() -> None:
    """A trainer's rollouts end every few seconds; a person reads three of their events in ten seconds, not in one."""
    strategy = Strategy(max_unavailable="100%", supersede=Supersede.AFTER_COMPLETE)
    heard = Heard(world_of("b", 4, on="a", strategy=strategy, swap=TAKE_OUT_NONE))
    for version in "bcdbcdbcd":
        heard.world.change_spec(weights=weights(version))
        heard.until(lambda plan: plan.status.phase is Phase.COMPLETE)
    told = Counter(each.reason for each in heard.events)
    most = 1 + heard.world.now / ROUTINE_S
    assert all(1 <= told[reason] <= most for reason in ROUTINE)
    assert most < 9
    heard.world.checkpoints[uri("e")] = Checkpoint(digest("e"), swap=PROMPT_FAILED)
    heard.world.change_spec(weights=weights("e"))
    heard.until(lambda plan: plan.status.phase is Phase.ROLLED_BACK)
    told = Counter(each.reason for each in heard.events)
    assert told["RevisionRejected"] == told["RolledBack"] == 1


def test_what_holds_each_version_of_a_queue_is_told_seldom_and_something_else_at_once() -> None:
    """An engine that takes minutes to start holds each of them until the next one begins."""
    strategy = Strategy(max_unavailable="100%", supersede=Supersede.AFTER_COMPLETE)
    heard = Heard(world_of("b", 4, on="a", strategy=strategy, swap=TAKE_OUT_NONE))
    heard.world.change_spec(staging=Staging(max_concurrent="100%"))
    heard.world.pods[3].lose_engine()
    for version in "bcdbcdbcd":
        heard.world.change_spec(weights=weights(version))
        heard.until(_held_for("EngineUnreachable"))
    most = 1 + heard.world.now / ROUTINE_S
    assert 2 <= heard.reasons.count(HELD) <= most < 9
    heard.events.clear()
    heard.world.pods[2].fault = AgentFault.UNREACHABLE
    heard.until(_held_for("AgentUnreachable"))
    assert heard.reasons == [HELD]


def test_where_versions_do_not_queue_each_rollout_is_told() -> None:
    heard = Heard(world_of("b", 2, on="a", strategy=Strategy(max_unavailable="100%")))
    for version in "bcd":
        heard.world.change_spec(weights=weights(version))
        heard.until(lambda plan: plan.status.phase is Phase.COMPLETE)
    assert Counter(each.reason for each in heard.events)["RolloutComplete"] == 3
