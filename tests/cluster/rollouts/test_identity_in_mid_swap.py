"""A WeightRollout, a label or a pod goes away while an engine is paused: the swap ends, the pod serves, no lie stays."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import pytest

from fleet.engine import paused_pod
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.standing import Standing, standings
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.api import ApiError
from localcluster.router import ReadyPods
from localcluster.waiting import eventually
from weightrollout.api import names

pytestmark = pytest.mark.faults

Json = dict[str, Any]
SOON_S: Final = 45.0
DONE_S: Final = 90.0
#: Where an engine dies in its pause a request that came after the drain is lost with it; settling is for those.
LATE_CLIENTS_S: Final = 2


@dataclass
class Scene:
    world: World
    written: dict[str, Any]
    turn: "count[int]"
    declared: Json | None = None  # as it was applied last

    @property
    def version(self) -> str:
        assert self.declared is not None
        return str(self.declared["spec"]["weights"]["version"])

    @property
    def checkpoint(self) -> str:
        """Name of what is desired."""
        return self.version[-1]

    async def declare_next(self, settle_seconds: int = 0) -> None:
        number = next(self.turn)
        checkpoint = "bcd"[number % 3]
        weights = {"version": f"v{number}-{checkpoint}", "uri": self.written[checkpoint].uri}
        self.declared = weight_rollout("chat", weights, swap={"settleSeconds": settle_seconds})
        await self.declare()

    async def declare(self) -> None:
        assert self.declared is not None
        await self.world.apply(self.declared)

    async def delete(self) -> None:
        rollouts = f"/apis/{names.API_VERSION}/namespaces/{self.world.namespace}/{names.PLURAL}"
        await self.world.api.delete(f"{rollouts}/chat")

    async def paused_pod(self) -> str:
        return await paused_pod(self.world, "chat")

    async def standings(self) -> dict[str, Standing]:
        return await standings(await self.world.pods("chat"))

    async def label(self, pod: str, value: str | None) -> None:
        path = f"/api/v1/namespaces/{self.world.namespace}/pods/{pod}"
        patch = {"metadata": {"labels": {names.LABEL_NAME: value}}}
        await self.world.api.patch(path, patch, kind="merge")

    async def complete(self) -> Json:
        return await self.world.until_phase("chat", "Complete", DONE_S)

    @asynccontextmanager
    async def traffic(self, *, always_somewhere: bool = True) -> AsyncIterator[None]:
        """Clients that notice nothing of what happens in the block.

        Not `always_somewhere` where a pod leaves its fleet: then the other one is a fleet of one, which
        may be taken out while the first still swaps.
        """
        known = {name: each.fingerprint for name, each in self.written.items()}
        async with (
            ReadyPods(self.world.api, self.world.namespace, "app=chat", ENGINE_HTTP) as backends,
            Traffic(backends, known=known, clients=1) as traffic,
        ):
            yield
            await traffic.more(3)
        tally = traffic.tally
        assert (tally.failed, tally.unexplained) == (0, 0), tally.complaints
        assert tally.nowhere == 0 or not always_somewhere


@pytest.fixture(scope="module")
async def scene(world: World, slow_fleet: FleetSpec, written: dict[str, Any]) -> Scene:
    return Scene(world, written, count())


@pytest.fixture(autouse=True)
async def whole(scene: Scene) -> AsyncIterator[None]:
    """Each test begins with two pods that serve in one fleet, however the last one ended."""
    yield
    for pod in await scene.world.pods("chat"):
        await scene.label(str(pod["metadata"]["name"]), "chat")
    if scene.declared is not None:
        await scene.declare()
        await scene.world.until(
            "chat", lambda said: said.get("updated") == "2/2", DONE_S, "the fleet is whole"
        )
        await scene.complete()


async def test_first_swap_of_a_pod_that_loses_its_label_in_it_ends_in_service(scene: Scene) -> None:
    """No version label was ever written to it."""
    async with scene.traffic(always_somewhere=False):
        await scene.declare_next()
        victim = await scene.paused_pod()
        await scene.label(victim, None)
        await scene.world.until_ready("chat", 2, SOON_S)
    left = (await scene.standings())[victim]
    assert left.fingerprint == scene.written[scene.checkpoint].fingerprint
    assert left.version_label == ""
    await scene.label(victim, "chat")
    await scene.complete()


async def test_rollout_deleted_in_mid_swap_leaves_pods_that_serve_and_say_what(
    scene: Scene,
) -> None:
    before = await scene.standings()
    async with scene.traffic():
        await scene.declare_next()
        victim = await scene.paused_pod()
        await scene.delete()
        await scene.world.until_ready("chat", 2, SOON_S)

        async def told() -> bool:
            return (await scene.standings())[victim].version_label == scene.version

        await eventually(told, SOON_S, "the label says what the swap has left behind")
    (other,) = set(before) - {victim}
    after = await scene.standings()
    assert after[victim].fingerprint == scene.written[scene.checkpoint].fingerprint
    assert after[victim].gate == after[other].gate == "True"
    assert after[other].updates == before[other].updates
    assert after[other].version_label == before[other].version_label

    # Created again: whoever serves it already is not moved.
    async with scene.traffic():
        await scene.declare()
        status = await scene.complete()
    again = await scene.standings()
    assert status["updated"] == "2/2"
    assert again[victim].updates == after[victim].updates
    assert again[victim].ready_since == after[victim].ready_since
    assert again[other].updates == after[other].updates + 1


async def test_replace_by_force_in_mid_swap_swaps_each_pod_once(scene: Scene) -> None:
    before = await scene.standings()
    async with scene.traffic():
        await scene.declare_next()
        await scene.paused_pod()
        await scene.delete()
        await scene.declare()
        status = await scene.complete()
    after = await scene.standings()
    assert status["updated"] == "2/2"
    assert {pod: each.updates for pod, each in after.items()} == {
        pod: each.updates + 1 for pod, each in before.items()
    }
    assert {each.version_label for each in after.values()} == {scene.version}


async def test_pod_whose_label_is_removed_in_mid_swap_serves_and_says_nothing_of_us(
    scene: Scene,
) -> None:
    before = await scene.standings()
    async with scene.traffic(always_somewhere=False):
        await scene.declare_next()
        victim = await scene.paused_pod()
        await scene.label(victim, None)
        await scene.world.until_ready("chat", 2, SOON_S)
        status = await scene.complete()

        async def clean() -> bool:
            return (await scene.standings())[victim].version_label == ""

        await eventually(clean, SOON_S, "the version label is gone")
        assert status["updated"] == "1/1"
        await scene.label(victim, "chat")
        await scene.world.until(
            "chat", lambda said: said["updated"] == "2/2", DONE_S, "it is back in its fleet"
        )
    after = await scene.standings()
    assert after[victim].updates == before[victim].updates + 1

    async def labelled() -> bool:
        return (await scene.standings())[victim].version_label == scene.version

    await eventually(labelled, SOON_S, "the label says what it serves")


async def test_pod_whose_label_is_changed_in_mid_swap_serves_under_no_rollout(scene: Scene) -> None:
    before = await scene.standings()
    async with scene.traffic(always_somewhere=False):
        await scene.declare_next()
        victim = await scene.paused_pod()
        await scene.label(victim, "caht")
        await scene.world.until_ready("chat", 2, SOON_S)

        async def told() -> bool:
            events = await scene.world.events(victim)
            return any(each["reason"] == "LabelPointsToNoRollout" for each in events)

        await eventually(told, SOON_S, "somebody says so")

        async def labelled() -> bool:
            return (await scene.standings())[victim].version_label == scene.version

        await eventually(labelled, SOON_S, "the label says what it serves")
        await scene.label(victim, "chat")
        await scene.world.until(
            "chat", lambda said: said["updated"] == "2/2", DONE_S, "it is back in its fleet"
        )
    assert (await scene.standings())[victim].updates == before[victim].updates + 1


async def test_pod_that_takes_the_name_of_one_in_mid_swap_is_swapped_by_itself(
    scene: Scene,
) -> None:
    before = await scene.standings()
    async with scene.traffic(always_somewhere=False):
        await scene.declare_next(LATE_CLIENTS_S)
        victim = await scene.paused_pod()
        path = f"/api/v1/namespaces/{scene.world.namespace}/pods/{victim}"
        await scene.world.api.delete(path, gracePeriodSeconds="0")

        async def recreated() -> bool:
            try:
                pod = await scene.world.api.get(path)
            except ApiError:
                return False  # between the two
            return bool(pod["metadata"]["uid"] != before[victim].uid)

        await eventually(recreated, SOON_S, "the StatefulSet has made it again")
        await scene.world.until_ready("chat", 2, DONE_S)
        status = await scene.complete()
    assert status["updated"] == "2/2"
    after = (await scene.standings())[victim]
    assert after.uid in json.loads(after.swap_note)["txn"]
    assert after.fingerprint == scene.written[scene.checkpoint].fingerprint
