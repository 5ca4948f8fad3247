"""Two replicas of the operator over one fleet of two gated pods: one of them is frozen, and the other one takes over."""

import itertools
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fleet.engine import state_of
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.replica import Replica
from fleet.traffic import Tally, Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from localcluster.waiting import eventually
from weightrollout.api import names

Json = dict[str, Any]
DONE_S: Final = 90.0


@dataclass(frozen=True)
class Checkpoint:
    folder: Path
    fingerprint: int

    @property
    def uri(self) -> str:
        return self.folder.as_uri() + "/"


@dataclass
class Scene:
    """Two replicas over one fleet, and what was rolled so far."""

    world: World
    written: Mapping[str, Checkpoint]
    replicas: list[Replica]
    turn: "itertools.count[int]"

    async def standby_of(self, leader: Replica) -> Replica:
        (other,) = [each for each in self.replicas if each is not leader]
        await other.ready()
        return other

    def next_weights(self) -> Json:
        number = next(self.turn)
        checkpoint = "bcd"[number % 3]
        return {"version": f"v{number}-{checkpoint}", "uri": self.written[checkpoint].uri}

    async def apply(self, weights: Json, **spec: Any) -> None:
        swap = {"settleSeconds": 0, **spec.pop("swap", {})}
        await self.world.apply(weight_rollout("chat", weights, swap=swap, **spec))

    async def updates(self) -> dict[str, int]:
        """Updates that each engine has taken since it was started."""
        pods = await self.world.pods("chat")
        return {
            str(pod["metadata"]["name"]): (await state_of(pod))["calls"].get("UpdateWeights", 0)
            for pod in pods
        }

    async def complete(self) -> Json:
        return await self.world.until_phase("chat", "Complete", DONE_S)

    async def took_over(self, standby: Replica, leader: Replica) -> None:
        """The standby has raised the epoch; then the old leader wakes up in the middle of its work."""
        await eventually(standby.leads, 30, f"{standby.name} took over", every_s=0.1)
        leader.thaw()

    @asynccontextmanager
    async def traffic(self) -> AsyncIterator[Traffic]:
        """And nobody noticed anything: with two pods and a budget of one, both out at once would be noticed too."""
        known = {name: each.fingerprint for name, each in self.written.items()}
        pods = ReadyPods(self.world.api, self.world.namespace, "app=chat", ENGINE_HTTP)
        async with pods as backends, Traffic(backends, known=known, clients=1) as traffic:
            yield traffic
        _assert_unnoticed(traffic.tally)


@asynccontextmanager
async def two_replicas(world: World, written: Mapping[str, Checkpoint]) -> AsyncIterator[Scene]:
    kubeconfig = await world.operator_kubeconfig()
    folder = world.folder / "operator"
    replicas = [
        Replica(f"operator-{number}", kubeconfig, world.namespace, folder) for number in range(2)
    ]
    for replica in replicas:
        replica.process.start()
    yield Scene(world, written, replicas, itertools.count())
    for replica in replicas:
        replica.thaw()
        await replica.process.stop()


async def deploy_to(scene: Scene, node_selector: Mapping[str, str]) -> FleetSpec:
    """It serves its first version."""
    spec = FleetSpec(
        "chat",
        scene.written["a"].folder,
        replicas=2,
        gated=True,
        node_selector=node_selector,
    )
    await scene.world.deploy(spec)
    await scene.world.until_ready("chat", 2, 60)
    await scene.apply(scene.next_weights())
    await scene.complete()
    return spec


def _assert_unnoticed(tally: Tally) -> None:
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints


def is_shut(pod: Json) -> bool:
    """Our readiness gate says no."""
    conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
    return conditions.get(names.GATE_SERVING) == "False"
