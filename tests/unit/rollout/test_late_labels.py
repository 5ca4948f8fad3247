"""Labels that nothing waits for: no write is needed to finish, few come at once, each pod's seldom, and in the end all are true."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from planning.invariants import Watcher
from planning.stories import Story
from planning.worlds import TAKE_OUT_NONE, weights, world_of
from weightrollout.api.spec import Staging, Strategy
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import LabelPod, Plan, PutIn
from weightrollout.rollout.fleet import AgentFault, Doing, Memory, Work
from weightrollout.rollout.labels import AGAIN_S, BURST, PER_S
from weightrollout.rollout.plan import plan
from weightrollout.rollout.simulate import ToyWorld

PODS = 40
VERSIONS = "bcd"


def training(**fields: Any) -> ToyWorld:
    fields |= {"strategy": Strategy(max_unavailable="100%"), "swap": TAKE_OUT_NONE}
    return world_of("b", PODS, on="a", staging=Staging(max_concurrent="100%"), **fields)


def complete(seen: Plan) -> bool:
    return seen.status.phase is Phase.COMPLETE


class Labels:
    """Passes, and when each label was written."""

    def __init__(self, world: ToyWorld) -> None:
        self.world, self._watcher = world, Watcher(world)
        self.written: list[tuple[float, str]] = []

    def run(self, seconds: float, change_every_s: float = 0.0) -> None:
        end = self.world.now + seconds
        self.world.later(seconds, "the end", lambda: None)
        if change_every_s:
            self._change(change_every_s, 1)
        while self.world.now < end:
            found = self._watcher.one_pass()
            assert not [each for each in found.actions if isinstance(each, PutIn)]
            new = [each.pod for each in found.actions if isinstance(each, LabelPod)]
            self.written += [(self.world.now, pod) for pod in new]
            assert self.world.advance(), "it stands still"

    def _change(self, every_s: float, number: int) -> None:
        self.world.change_spec(weights=weights(VERSIONS[number % len(VERSIONS)]))
        self.world.later(every_s, "a version", lambda: self._change(every_s, number + 1))


def test_rollout_ends_before_any_label_is_written() -> None:
    story = Story(training())
    story.until(complete)
    assert {pod.version_label for pod in story.world.pods} == {"a"}
    assert not any("PutIn" in line or "LabelPod" in line for line in story.lines)


def test_in_the_end_every_label_is_true_and_no_pod_was_written_twice() -> None:
    labels = Labels(training())
    labels.run(2 * AGAIN_S + PODS / PER_S)
    assert {pod.version_label for pod in labels.world.pods} == {"b"}
    assert sorted(pod for _, pod in labels.written) == sorted(p.name for p in labels.world.pods)


def test_writes_stay_few_however_fast_versions_come_and_no_pod_is_passed_over() -> None:
    labels, seconds = Labels(training()), 120.0
    labels.run(seconds, change_every_s=7.0)
    assert BURST < len(labels.written) <= BURST + PER_S * seconds
    by_pod: dict[str, list[float]] = {}
    for at, pod in labels.written:
        by_pod.setdefault(pod, []).append(at)
    assert len(by_pod) == PODS
    gaps = [b - a for times in by_pod.values() for a, b in itertools.pairwise(times)]
    assert min(gaps) >= AGAIN_S
    assert max(gaps) < 3 * PODS / PER_S


def test_next_leader_waits_as_long_for_labels_that_it_finds() -> None:
    labels = Labels(training())
    labels.run(1.5 * AGAIN_S)
    assert labels.written
    labels.world.memory = Memory()
    before, now = len(labels.written), labels.world.now
    labels.run(AGAIN_S / 2)
    assert len(labels.written) == before
    labels.run(AGAIN_S)
    assert min(at for at, _ in labels.written[before:]) >= now + AGAIN_S


@pytest.mark.parametrize("swap", [TAKE_OUT_NONE, None])
def test_gate_that_is_shut_is_answered_at_once(swap: object) -> None:
    fields: dict[str, Any] = {} if swap is None else {"swap": swap}
    world = world_of("b", 2, on="a", gated=True, **fields)
    world.pods[0].gate_open = False
    world.pods[0].put_in_txn = "x"
    assert [each.pod for each in plan(world.observe()).actions if isinstance(each, PutIn)] == [
        "chat-0"
    ]


def test_with_take_out_endpoint_every_pod_is_put_in_before_the_rollout_ends() -> None:
    story = Story(world_of("b", 3, on="a"))
    story.until(complete)
    assert {pod.version_label for pod in story.world.pods} == {"b"}
    assert sum("PutIn" in line for line in story.lines) == 3


def test_label_that_cannot_be_written_holds_nothing() -> None:
    labels = Labels(training())
    labels.world.refused = {Doing.LABEL}
    labels.run(2 * AGAIN_S)
    status = labels.world.status
    assert (status.phase, status.hold) == (Phase.COMPLETE, None)
    assert {each.reason for each in status.failures} == {"Refused"}


def test_history_keeps_what_a_silent_pod_served_whatever_its_late_label_says() -> None:
    world = training(revision_history_limit=0)
    story = Story(world)
    story.until(lambda seen: seen.status.pods.updated == 1)
    (prover,) = (pod for pod in world.pods if pod.loaded is not None and pod.loaded.version == "b")
    assert prover.loaded is not None
    served = prover.loaded.revision
    prover.fault = AgentFault.UNREACHABLE
    for version in ("c", "d"):
        world.change_spec(weights=weights(version))
        story.for_seconds(5)
    assert prover.version_label != "b"
    assert served in {each.ref.revision for each in world.revisions}


def test_label_that_follows_hides_no_hold() -> None:
    """Neither when it is asked for nor while it is under way."""
    world = training()
    world.pods[0].fault = AgentFault.UNREACHABLE
    Story(world).until(lambda seen: seen.status.pods.updated == PODS - 1)
    world.now += AGAIN_S
    fleet = world.observe()
    found = plan(fleet)
    labels = [each for each in found.actions if isinstance(each, LabelPod)]
    under_way = frozenset(Work(Doing.LABEL, each.pod_uid) for each in labels)
    assert len(labels) == BURST
    for seen in (found, plan(replace(fleet, work=under_way))):
        assert seen.status.hold is not None
        assert seen.status.hold.reason == AgentFault.UNREACHABLE
