"""Versions that arrive faster than rollouts end: no pod lags for ever."""

import math
from collections.abc import Callable
from random import Random
from typing import Any, Self

import pytest

from planning.invariants import Watcher
from planning.stories import Story
from planning.worlds import CRASHED, POISONED, TAKE_OUT_NONE, uri, weights, world_of
from weightrollout.api.spec import Pause, Staging, Step, Strategy, Supersede, Swap
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.fleet import AgentFault
from weightrollout.rollout.podstep import RESERVATION_TTL_S
from weightrollout.rollout.simulate import Checkpoint, ToyWorld
from weightrollout.rollout.toypod import ToyPod

PODS = 8
VERSIONS = 20
AWAY_FOR = 6  # rollouts


class Publisher:
    """Publishes version after version, the first one at once, and measures how far pods lag."""

    def __init__(self, supersede: Supersede, versions: int, period: float, seed: int) -> None:
        strategy = Strategy(max_unavailable=2, supersede=supersede)
        choose = Random(seed).randrange
        self.world = world_of("v00", PODS, on="a", strategy=strategy, choose=choose)
        for each in range(versions):
            checkpoint = Checkpoint(f"sha256:{each:064x}")
            self.world.checkpoints[uri(f"v{each:02}")] = checkpoint
        self.newest, self.lag, self.period, self.versions = 0, 0, period, versions
        self.world.later(period, "publish", self._publish)

    def _publish(self) -> None:
        if self.newest + 1 < self.versions:
            self.newest += 1
            self.world.change_spec(weights=weights(f"v{self.newest:02}"))
            self.world.later(self.period, "publish", self._publish)

    def run(self) -> Self:
        """Until every pod serves the last one."""
        watcher = Watcher(self.world)
        for _ in range(20_000):
            self.seen(watcher.one_pass())
            if self.newest + 1 == self.versions and not any(map(self._behind, self.world.pods)):
                return self
            self.world.advance()
        raise AssertionError("the last version never reached every pod")

    def seen(self, plan: Plan) -> None:
        self.lag = max(self.lag, *map(self._behind, self.world.pods))

    def _behind(self, pod: ToyPod) -> int:
        return self.newest - _number(pod)


class PublisherWithoutAnEngine(Publisher):
    """The engine of one pod ends in the middle, and comes back after some rollouts. What is out of service
    lags behind nothing."""

    def __init__(self, once: float, period: float, seed: int) -> None:
        super().__init__(Supersede.AFTER_COMPLETE, VERSIONS, period, seed)
        self.pod, self.away_s = self.world.pods[3], AWAY_FOR * once
        self.begun: set[str] = set()  # versions that were the target while it was away
        self.verified: set[str] = set()  # and those that were stable
        self.world.later(VERSIONS * period / 4, "engine ends", self._end)

    def _end(self) -> None:
        if self.pod.swapping:
            self.world.later(0.5, "engine ends", self._end)
            return
        self.pod.lose_engine()
        self.world.later(self.away_s, "engine is back", self.pod.restart)

    def seen(self, plan: Plan) -> None:
        self.lag = max(self.lag, *(self._behind(pod) for pod in self.world.pods if pod.ready))
        if self.pod.engine_up:
            return
        assert plan.status.target is not None
        self.begun.add(plan.status.target.version)
        self.verified.add(plan.status.stable.version if plan.status.stable is not None else "")
        assert plan.status.phase is Phase.PROGRESSING, "complete without a pod"


def _number(pod: ToyPod) -> int:
    version = pod.loaded.version if pod.loaded is not None else ""
    return int(version[1:]) if version.startswith("v") else -1


@pytest.mark.parametrize("seed", range(2))
def test_immediate_moves_the_oldest_pod_with_every_version(seed: int) -> None:
    """Three versions in the time of one rollout: each begins with the proof of its first pod, which
    is the oldest one, so that no pod is ever more versions behind than there are pods."""
    once = Publisher(Supersede.IMMEDIATE, 1, 1.0, seed).run().world.now
    assert Publisher(Supersede.IMMEDIATE, VERSIONS, once / 3, seed).run().lag <= PODS


@pytest.mark.parametrize("share", [3, 10])
@pytest.mark.parametrize("seed", range(2))
def test_after_complete_lets_no_pod_lag_more_than_two_rollouts(seed: int, share: int) -> None:
    """The one that runs, and the one that begins then; also where a version lives shorter than a
    single swap, which with Immediate would never end."""
    once = Publisher(Supersede.AFTER_COMPLETE, 1, 1.0, seed).run().world.now
    period = once / share
    lag = Publisher(Supersede.AFTER_COMPLETE, VERSIONS, period, seed).run().lag
    assert lag <= 2 * math.ceil(once / period) + 1


@pytest.mark.parametrize("seed", range(2))
def test_after_complete_an_engine_that_is_away_keeps_no_version_from_the_others(seed: int) -> None:
    """For as long as six rollouts take; the one that it comes back in has a pod more to wait for. None of
    them is the whole fleet's."""
    once = Publisher(Supersede.AFTER_COMPLETE, 1, 1.0, seed).run().world.now
    found = PublisherWithoutAnEngine(once, once, seed).run()
    assert len(found.begun) >= AWAY_FOR - 1
    assert found.lag <= 3
    assert len(found.verified) == 1


def queueing(*steps: Step, soak_s: int = 0, swap: Swap | None = None) -> Story:
    """Three pods that go from a to b, all at once where they may."""
    strategy = Strategy(
        max_unavailable="100%",
        supersede=Supersede.AFTER_COMPLETE,
        soak_seconds=soak_s,
        steps=steps,
    )
    fields: dict[str, Any] = {"swap": swap} if swap is not None else {}
    world = world_of("b", 3, on="a", strategy=strategy, **fields)
    world.change_spec(staging=Staging(max_concurrent="100%"))
    return Story(world)


def updated(count: int) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.pods.updated == count


def aims_at(version: str) -> Callable[[Plan], bool]:
    return lambda plan: plan.status.target is not None and plan.status.target.version == version


def versions(world: ToyWorld) -> list[str]:
    return [pod.loaded.version if pod.loaded is not None else "" for pod in world.pods]


def complete(plan: Plan) -> bool:
    return plan.status.phase is Phase.COMPLETE


def test_engine_that_is_away_gets_the_newest_version_when_it_is_back() -> None:
    story = queueing()
    world = story.world
    world.pods[2].lose_engine()
    story.until(updated(2))
    world.change_spec(weights=weights("c"))
    story.until(lambda plan: aims_at("c")(plan) and updated(2)(plan))
    assert versions(world) == ["c", "c", "a"]
    b = next(each for each in world.revisions if each.ref.version == "b")
    assert b.verdict is None, "two of three pods are not the whole fleet"
    world.pods[2].restart()
    story.until(complete)
    assert versions(world) == ["c", "c", "c"]


def test_pod_that_is_only_starting_keeps_no_version_from_the_others() -> None:
    """It runs, and neither its agent nor its engine has spoken yet."""
    story = queueing()
    story.world.pods[2].fault = AgentFault.STARTING
    story.until(updated(2))
    story.world.change_spec(weights=weights("c"))
    story.until(lambda plan: aims_at("c")(plan) and updated(2)(plan))


def test_engine_that_ends_between_promise_and_swap_is_not_waited_for() -> None:
    """Its agent refuses the swap, and keeps the promise for half a minute."""
    story = queueing()
    pod = story.world.pods[2]
    story.until(lambda _: pod.reserved_txn is not None)
    pod.lose_engine()
    story.until(updated(2))
    story.world.change_spec(weights=weights("c"))
    begun = story.world.now
    story.until(lambda plan: aims_at("c")(plan) and updated(2)(plan))
    assert pod.reserved_txn is None, "given back, with the version that nobody waits for"
    assert story.world.now < begun + RESERVATION_TTL_S


def test_engine_that_ends_in_its_swap_is_not_waited_for() -> None:
    """The swap ends by its own rules, whenever that is."""
    story = queueing()
    world, pod = story.world, story.world.pods[2]
    pod.busy_until, pod.fates = 50.0, [CRASHED]
    story.until(lambda _: pod.swapping)
    pod.lose_engine()
    story.until(updated(2))
    world.change_spec(weights=weights("c"))
    story.until(lambda plan: aims_at("c")(plan) and updated(2)(plan))
    assert world.now < pod.busy_until
    story.until(complete)
    assert versions(world) == ["c", "c", "c"]


def test_engine_that_is_restarted_for_repair_is_not_waited_for() -> None:
    story = queueing()
    world = story.world
    world.pods[2].fates = [POISONED]
    story.until(lambda _: not world.pods[2].engine_up)
    world.change_spec(weights=weights("c"))
    story.until(aims_at("c"))
    assert not world.pods[2].engine_up
    assert versions(world)[:2] == ["b", "b"]


def test_newest_version_takes_no_pod_before_it_served_again() -> None:
    """Without that a fleet that swaps all pods at once would never serve while one engine is away."""
    story = queueing()
    world = story.world
    world.pods[2].lose_engine()
    served = 0
    for version in ("c", "d"):
        story.until(updated(2))
        world.change_spec(weights=weights(version))
        served += story.until(aims_at(version)).status.pods.available
    assert served == 4, "two pods, twice"


def test_version_that_soaks_is_not_cut_short_by_an_engine_that_is_away() -> None:
    story = queueing(soak_s=60, swap=TAKE_OUT_NONE)
    world = story.world
    world.pods[2].lose_engine()
    story.until(updated(2))
    begun = world.now
    world.change_spec(weights=weights("c"))
    story.until(aims_at("c"))
    assert world.now >= begun + 60


def test_step_that_waits_for_a_person_is_not_skipped_because_an_engine_is_away() -> None:
    story = queueing(Step(updated="100%"), Step(pause=Pause()))
    world = story.world
    story.until(lambda plan: plan.status.phase is Phase.PAUSED)
    world.change_spec(weights=weights("c"))
    world.pods[2].lose_engine()
    plan = story.for_seconds(60)
    assert aims_at("b")(plan)
    world.pods[2].restart()
    story.until(lambda plan: plan.status.phase is Phase.PAUSED and updated(3)(plan))
