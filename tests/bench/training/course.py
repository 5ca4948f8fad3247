"""A trainer that publishes faster than a fleet may take it, while an engine restarts and the operator is killed.

What is published goes through the SDK, as a trainer's would; what pods serve is asked of their agents, not of the
operator that is measured. Writes are counted by the API server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bench.scale.gauges import WRITES, counted, cpu_s
from bench.scale.pods import Pods
from bench.training.looks import Looks
from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.world import World
from localcluster.access import Cluster
from localcluster.api import Api
from weightrollout import sdk

Json = dict[str, Any]
NAME: Final = "policy"
RUN: Final = "run"
FIRST_S: Final = 600.0  # until the first version is everywhere
LOOK_S: Final = 0.2
WINDOW_S: Final = 10.0


@dataclass(frozen=True)
class Settings:
    pods: int = 50
    seconds: float = 600.0
    every_s: float = 2.0
    staging_s: float = 0.2
    swap_s: float = 0.2
    engine_away_s: float = 5.0
    engine_restarts: int = 10  # of one engine, evenly spread
    kills: int = 2  # of the operator, which is started again at once
    lease: Sequence[str] = ()  # flags; none: the operator's own defaults
    last_s: float = 60.0  # until the newest is everywhere, after the last was published

    @property
    def versions(self) -> int:
        return round(self.seconds / self.every_s)


class Course:
    def __init__(
        self, world: World, pods: Pods, settings: Settings, tell: Callable[[str], None]
    ) -> None:
        self._world = world
        self._pods = pods
        self._settings = settings
        self._tell = tell
        self._looks = Looks(RUN)
        self._newest = 0
        self._late_s: list[float] = []  # of each publish, behind its time
        self._cpu_s = 0.0  # of operators that were killed

    async def run(self, cluster: Cluster) -> Json:
        settings, how = self._settings, OperatorRun(lease=self._settings.lease)
        self._pods.times.staging_s, self._pods.times.swap_s = settings.staging_s, settings.swap_s
        operator = await self._world.operator(how=how)
        connect = sdk.connect(
            NAME, run=RUN, namespace=self._world.namespace, kubeconfig=cluster.kubeconfig
        )
        try:
            async with connect as fleet:
                await self._publish(fleet, 0)
                await fleet.wait(0, timeout_s=FIRST_S)
                return await self._measure(fleet, operator)
        finally:
            await operator.stop()

    async def _measure(self, fleet: sdk.Fleet, operator: OperatorProcess) -> Json:
        api, begun, cpu = self._world.api, time.monotonic(), cpu_s(operator.pid)
        before = counted(await api.text("/metrics"))
        windows: list[Json] = []
        looking = [
            asyncio.create_task(each)
            for each in (
                self._look(),
                _count(api, windows),
                self._restart_engine(),
                self._kill(operator),
            )
        ]
        try:
            for step in range(1, self._settings.versions + 1):
                await _until(begun + step * self._settings.every_s)
                self._late_s.append(time.monotonic() - begun - step * self._settings.every_s)
                await self._publish(fleet, step)
            published_s = time.monotonic() - begun
            last = await fleet.wait(self._newest, timeout_s=self._settings.last_s)
            whole_s = time.monotonic() - begun
            self._look_once()
            after = counted(await api.text("/metrics"))
        finally:
            for task in looking:
                task.cancel()
            ended = await asyncio.gather(*looking, return_exceptions=True)
        wrong = [each for each in ended if isinstance(each, Exception)]
        if wrong:
            raise wrong[0]
        used = self._cpu_s + cpu_s(operator.pid) - cpu
        return {
            "settings": asdict(self._settings),
            "run": RUN,
            "seconds": whole_s,
            "published": self._newest,
            "newest_everywhere_s": whole_s - published_s,
            "stable": last.stable,
            "publish_late_s": max(self._late_s),
            "writes": {key: after[key] - before[key] for key in WRITES},
            "windows": windows,
            "cpu_s": used,
            "at_the_end": sorted(set(self._serving().values())),
            **self._looks.told(),
        }

    async def _publish(self, fleet: sdk.Fleet, step: int) -> None:
        digest = f"sha256:{step:064x}"
        await fleet.publish(step, f"file:///models/{RUN}.{step}/", digest=digest)
        self._newest = step

    async def _look(self) -> None:
        while True:
            self._look_once()
            await asyncio.sleep(LOOK_S)

    def _look_once(self) -> None:
        self._looks.look(time.monotonic(), self._newest, self._epoch(), self._serving())

    def _serving(self) -> dict[str, str]:
        """As the kubelet's word stands: Ready, whatever the engine holds. By the process of each engine."""
        agents = self._pods.agents.values()
        loaded = {each.instance: each.loaded for each in agents if self._pods.ready(each.name)}
        return {engine: version for engine, version in loaded.items() if version is not None}

    def _epoch(self) -> int:
        return max(agent.epoch for agent in self._pods.agents.values())

    async def _restart_engine(self) -> None:
        settings, agent = self._settings, next(iter(self._pods.agents.values()))
        begun = time.monotonic()
        for number in range(settings.engine_restarts):
            await _until(begun + settings.seconds * (number + 0.3) / settings.engine_restarts)
            await agent.restart_engine(settings.engine_away_s)
            self._tell(f"the engine of {agent.name} has restarted")

    async def _kill(self, operator: OperatorProcess) -> None:
        settings, begun = self._settings, time.monotonic()
        for number in range(1, settings.kills + 1):
            await _until(begun + settings.seconds * number / (settings.kills + 1))
            self._cpu_s += cpu_s(operator.pid)
            self._looks.killed(time.monotonic(), self._epoch())
            operator.kill()
            await operator.ended()
            operator.start()
            self._tell(f"the operator was killed at version {self._newest}")


async def _count(api: Api, windows: list[Json]) -> None:
    """Writes of each ten seconds."""
    at, before = time.monotonic(), counted(await api.text("/metrics"))
    while True:
        await asyncio.sleep(WINDOW_S)
        now, after = time.monotonic(), counted(await api.text("/metrics"))
        spent = {key: after[key] - before[key] for key in WRITES}
        windows.append({"seconds": now - at, **spent})
        at, before = now, after


async def _until(at: float) -> None:
    """Versions come by the clock, whatever the fleet does."""
    await asyncio.sleep(max(0.0, at - time.monotonic()))


async def course(
    cluster: Cluster,
    world: World,
    settings: Settings,
    tell: Callable[[str], None] = print,
) -> Json:
    """`world` has our kind installed, and a namespace of its own. What was seen, as JSON."""
    await world.apply(weight_rollout(NAME, None, profile="Training"))
    async with Pods(world.api, world.namespace, NAME, settings.pods) as pods:
        tell(
            f"{settings.pods} pods, a version every {settings.every_s:g} s for {settings.seconds:g} s"
        )
        return await Course(world, pods, settings, tell).run(cluster)
