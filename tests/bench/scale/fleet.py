"""One fleet, one operator of its own, and the rollouts that are measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import aiohttp

from bench.scale.gauges import Used, peak_mb, read, used
from bench.scale.pods import Pods
from fleet.footprint import series_of
from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.world import World
from localcluster.api import Api
from localcluster.cluster import LocalCluster
from localcluster.processes import log_tail
from localcluster.waiting import eventually

ROLLOUT_S: Final = 240.0
Json = dict[str, Any]

#: As spec.profile Training has them.
TRAINING: Final[Json] = {
    "swap": {"takeOut": "None", "drainSeconds": 0},
    "strategy": {"maxUnavailable": "100%"},
    "staging": {"maxConcurrent": "100%"},
}
#: One wave after the other, each pod out of its endpoints, settled for the default of 2 s.
SERVING: Final[Json] = {
    "swap": {"takeOut": "Endpoint", "drainSeconds": 0},
    "strategy": {"maxUnavailable": "25%"},
    "staging": {"maxConcurrent": "100%"},
}


class Fleet:
    def __init__(
        self,
        world: World,
        pods: Pods,
        operator: OperatorProcess,
        name: str,
        tell: Callable[[str], None],
    ) -> None:
        self.first: Json = {}  # what its first rollout cost
        self.pods = pods
        self.operator = operator
        self._world = world
        self._name = name
        self._tell = tell

    async def rest(self, seconds: float) -> Json:
        """What the operator uses while nothing changes."""
        before = await read(self.operator, self._world.api)
        await asyncio.sleep(seconds)
        return self._told("at rest", used(before, await read(self.operator, self._world.api)))

    async def roll(self, title: str, version: str, policy: Json) -> Json:
        """From apply to Complete. `first_pause_s`: to the first engine that paused."""
        before = await read(self.operator, self._world.api)
        begun = time.monotonic()
        await self._world.apply(weight_rollout(self._name, weights(version), **policy))
        await self._world.until_phase(self._name, "Complete", ROLLOUT_S)
        whole_s = time.monotonic() - begun
        spent = used(before, await read(self.operator, self._world.api))
        if (
            policy is SERVING
        ):  # each pod was put in: less than one write for each is a count that is broken
            assert spent.writes["pods"] >= len(self.pods.agents), spent.writes
        found = self._told(title, spent)
        first = self.pods.first_pause_after(begun)
        return {**found, "complete_s": whole_s, "first_pause_s": (first or begun) - begun}

    def _told(self, title: str, spent: Used) -> Json:
        pods = len(self.pods.agents)
        writes = spent.writes["pods"] / pods
        self._tell(
            f"{pods} pods, {title}: {spent.seconds:.1f} s, CPU {spent.cpu_s:.1f} s, {spent.passes}"
            f" passes of {spent.pass_ms:.1f} ms, {writes:.2f} writes per pod"
        )
        return {"title": title, **asdict(spent), "peak_mb": peak_mb(self.operator.pid)}


@asynccontextmanager
async def fleet(
    cluster: LocalCluster,
    api: Api,
    folder: Path,
    name: str,
    count: int,
    tell: Callable[[str], None],
) -> AsyncIterator[Fleet]:
    """In a namespace of its own; it serves version v0 when this returns."""
    await api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    world = World(cluster, api, name, folder / name)
    tell(f"{count} pods: objects and agents")
    await world.apply(weight_rollout(name, None))  # else its pods are nobody's, and visited as such
    async with Pods(api, name, name, count) as pods:
        operator = await world.operator(how=OperatorRun(lease=()))
        try:
            one = Fleet(world, pods, operator, name, tell)
            await eventually(lambda: _answers(operator), ROLLOUT_S, "the operator has started")
            tell(f"{count} pods: the operator meets their agents")
            await world.until(name, lambda seen: _serves(seen, count), ROLLOUT_S, "all serve")
            one.first = await one.roll("first rollout", "v0", TRAINING)
            yield one
        finally:
            await operator.stop()


async def _answers(operator: OperatorProcess) -> bool:
    try:
        return bool(await series_of(operator.http))
    except (aiohttp.ClientError, OSError):
        assert operator.exit_code is None, f"it has ended: {log_tail(operator.log, 20)}"
        return False


def _serves(status: Json, count: int) -> bool:
    return bool(status.get("pods", {}).get("available") == count)


def weights(version: str) -> Json:
    digest = f"sha256:{version[-1] * 64}"
    return {"version": version, "uri": f"file:///models/{version}/", "digest": digest}
