"""A pod is evicted, or its node is drained, while its engine is being swapped: no client notices, and its successor is judged anew."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import aiohttp
import pytest

from cluster.rollouts.conftest import TESTS, deployed
from fleet.engine import paused_pod, state_of, url_of
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.scene import Checkpoint
from fleet.standing import standings
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.access import Cluster
from localcluster.api import ApiError
from localcluster.node_settings import NodeSettings, python_environment
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

pytestmark = pytest.mark.faults

Json = dict[str, Any]
SOON_S: Final = 45.0
DONE_S: Final = 90.0
POOL: Final = "pool"
#: While one ends, and another is swapped, a third one serves.
PODS: Final = 3
TOO_MANY_REQUESTS: Final = 429
GONE: Final = (404, 409)  # its successor has another uid


@dataclass
class Ground:
    """Its pods are on one node; others of the pool may join."""

    world: World
    cluster: Cluster
    node: VirtualNode
    written: dict[str, Checkpoint]
    turn: "count[int]"
    checkpoint: str = "a"

    async def declare_next(self, **swap: Any) -> str:
        """Returns the version."""
        number = next(self.turn)
        self.checkpoint = "bcd"[number % 3]
        weights = {
            "version": f"v{number}-{self.checkpoint}",
            "uri": self.written[self.checkpoint].uri,
        }
        await self.world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0, **swap}))
        return str(weights["version"])

    async def uids(self) -> dict[str, str]:
        pods = await self.world.pods("chat")
        return {str(pod["metadata"]["name"]): str(pod["metadata"]["uid"]) for pod in pods}

    async def pod(self, name: str) -> Json:
        return await self.world.api.get(self._pod(name))

    async def evict(self, name: str, uid: str) -> bool:
        """False: a PodDisruptionBudget forbids it now."""
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": self.world.namespace},
            "deleteOptions": {"preconditions": {"uid": uid}},
        }
        try:
            await self.world.api.create(f"{self._pod(name)}/eviction", body)
        except ApiError as refused:
            if refused.status in GONE:
                return True
            if refused.status != TOO_MANY_REQUESTS:
                raise
            return False
        return True

    async def until_replaced(self, name: str, uid: str) -> None:
        async def other() -> bool:
            return (await self.uids()).get(name, uid) != uid

        await eventually(other, SOON_S, f"the StatefulSet has made {name} again")

    async def complete(self, version: str) -> None:
        """All pods serve it, each by a swap of its own."""
        status = await self.world.until(
            *("chat", lambda said: said.get("updated") == f"{PODS}/{PODS}", DONE_S, "all serve it")
        )
        assert [each["version"] for each in status["versions"]] == [version]
        await self.world.until_phase("chat", "Complete", DONE_S)
        await self.world.until_ready("chat", PODS, SOON_S)
        for each in (await standings(await self.world.pods("chat"))).values():
            assert each.fingerprint == self.written[self.checkpoint].fingerprint
            assert each.uid in json.loads(each.swap_note)["txn"]

    @asynccontextmanager
    async def traffic(self) -> AsyncIterator[None]:
        """Clients that notice nothing of what happens in the block.

        Whether there is always a pod for a new one is the budget's business, and pods that end count no more in it.
        """
        known = {name: each.fingerprint for name, each in self.written.items()}
        async with (
            ReadyPods(self.world.api, self.world.namespace, "app=chat", ENGINE_HTTP) as backends,
            Traffic(backends, known=known, clients=2, max_tokens=20) as traffic,
        ):
            yield
            await traffic.more(3)
        tally = traffic.tally
        assert (tally.failed, tally.unexplained) == (0, 0), tally.complaints

    def _pod(self, name: str) -> str:
        return f"/api/v1/namespaces/{self.world.namespace}/pods/{name}"


@pytest.fixture(scope="module")
async def ground(
    cluster: Cluster, world: World, operator: OperatorProcess, written: dict[str, Checkpoint]
) -> AsyncIterator[Ground]:
    async with pool_node(cluster, world) as node:
        spec = FleetSpec(
            *("chat", written["a"].folder, PODS),
            gated=True,
            node_selector={POOL: world.namespace},
            engine_args=("--token-seconds=0.02", "--update-seconds=1.5"),
            grace_s=60,
            leaves_well=True,
        )
        await deployed(world, spec)
        await world.apply(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "chat"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "chat"}}},
            }
        )
        yield Ground(world, cluster, node, written, count())


def pool_node(cluster: Cluster, world: World) -> VirtualNode:
    environment = python_environment(TESTS, TESTS.parent / "operator")
    settings = NodeSettings(labels={POOL: world.namespace})
    return VirtualNode(cluster, environment=environment, folder=world.folder, settings=settings)


async def long_story(pod: Json, tokens: int) -> bool:
    """A stream that takes a while; whether it came to its own end."""
    body = {"prompt": "once upon a time", "max_tokens": tokens, "stream": True}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url_of(pod)}/v1/completions", json=body) as answer,
    ):
        text = await answer.text()
    return text.rstrip().endswith("data: [DONE]") and "abort" not in text


async def swapping_pod(ground: Ground) -> str:
    """The pod whose swap is open, and waits for its requests."""

    async def find() -> str:
        for pod in await ground.world.pods("chat"):
            url = f"http://{pod['status']['podIP']}:{names.DEFAULT_HTTP_PORT}/readyz"
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                if (await answer.json()).get("reason") == "Swapping":
                    return str(pod["metadata"]["name"])
        return ""

    return str(await eventually(find, SOON_S, "a swap is open"))


async def test_pod_that_is_evicted_before_its_start_lets_its_requests_end_and_pauses_nothing(
    ground: Ground,
) -> None:
    before = await ground.uids()
    stories = {
        str(pod["metadata"]["name"]): asyncio.create_task(long_story(pod, 400))
        for pod in await ground.world.pods("chat")
    }
    async with ground.traffic():
        version = await ground.declare_next(drainSeconds=120)
        victim = await swapping_pod(ground)
        pod = await ground.pod(victim)
        pauses = (await state_of(pod))["calls"].get("PauseGeneration", 0)
        assert await ground.evict(victim, before[victim])
        last: Json = {}

        async def ends() -> bool:
            nonlocal last
            with suppress(aiohttp.ClientError):  # its engine ends right after the request
                last = await state_of(pod)
            return stories[victim].done()

        await eventually(ends, SOON_S, "its long request has come to its end")
        assert stories[victim].result()
        assert last["calls"].get("PauseGeneration", 0) == pauses
        await ground.until_replaced(victim, before[victim])
        await ground.complete(version)
    assert all(await asyncio.gather(*stories.values()))


async def test_pod_that_is_evicted_after_its_start_finishes_its_swap_and_its_frozen_requests(
    ground: Ground,
) -> None:
    before = await ground.uids()
    async with ground.traffic():
        stories = {
            str(pod["metadata"]["name"]): asyncio.create_task(long_story(pod, 300))
            for pod in await ground.world.pods("chat")
        }
        version = await ground.declare_next(drainSeconds=0)
        victim = await paused_pod(ground.world, "chat")
        pod = await ground.pod(victim)

        async def started() -> bool:
            return bool((await state_of(pod))["session"])

        await eventually(started, SOON_S, "its update has started")
        assert await ground.evict(victim, before[victim])

        async def whole() -> bool:
            seen = await state_of(pod)
            return bool(seen["version"] == version and seen["paused"] is None)

        await eventually(whole, SOON_S, "its swap was finished")
        assert await stories[victim]
        await ground.until_replaced(victim, before[victim])
        await ground.complete(version)
    assert all(await asyncio.gather(*stories.values()))


async def test_node_that_is_drained_in_mid_swap_keeps_to_the_budget_and_no_request_is_lost(
    ground: Ground,
) -> None:
    """Last in this file: its node takes no pods afterwards."""
    before = await ground.uids()
    refused = 0
    async with pool_node(ground.cluster, ground.world) as other, ground.traffic():
        version = await ground.declare_next(drainSeconds=0)
        await paused_pod(ground.world, "chat")
        node = f"/api/v1/nodes/{ground.node.name}"
        await ground.world.api.patch(node, {"spec": {"unschedulable": True}}, kind="merge")

        async def drained() -> bool:
            nonlocal refused
            for name, uid in (await ground.uids()).items():
                if uid == before[name] and not await ground.evict(name, uid):
                    refused += 1
            left = set((await ground.uids()).items()) & set(before.items())
            return not left

        await eventually(drained, DONE_S, "no pod is left on the node", every_s=0.3)
        assert refused > 0, "the budget was never asked"
        await ground.complete(version)
        nodes = {pod["spec"]["nodeName"] for pod in await ground.world.pods("chat")}
        assert nodes == {other.name}
