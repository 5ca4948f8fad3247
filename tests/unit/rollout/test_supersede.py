"""Versions that arrive faster than rollouts end: no pod lags for ever."""

import math
from random import Random

import pytest

from planning.invariants import Watcher
from planning.worlds import uri, weights, world_of
from weightrollout.api.spec import Strategy, Supersede
from weightrollout.rollout.simulate import Checkpoint
from weightrollout.rollout.toypod import ToyPod

PODS = 8
VERSIONS = 20


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

    def run(self) -> "Publisher":
        """Until every pod serves the last one."""
        watcher = Watcher(self.world)
        for _ in range(20_000):
            watcher.one_pass()
            behind = [self.newest - _number(pod) for pod in self.world.pods]
            self.lag = max(self.lag, *behind)
            if self.newest + 1 == self.versions and not any(behind):
                return self
            self.world.advance()
        raise AssertionError("the last version never reached every pod")


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
