"""The operator is gone: what breaks comes back by itself, what serves is left alone. One story, in order."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from fleet.engine import state_of
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

pytestmark = pytest.mark.faults

Json = dict[str, Any]

#: Nothing begins within this time: longer than --alone-after-seconds and the way out of endpoints.
STILL_S: Final = 8.0


@pytest.fixture(scope="module")
async def fleet(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> FleetSpec:
    """Two pods that serve b, which is stable, and an operator that does not move any more."""
    spec = FleetSpec(
        "chat",
        written["a"].folder,
        replicas=2,
        agent_args=("--alone-after-seconds=3",),
        node_selector=machine.selector,
    )
    await world.deploy(spec)
    await world.until_ready("chat", 2, 60)
    await world.apply(rollout(written, "b"))
    await world.until_phase("chat", "Complete", 90)
    await eventually(lambda: stable_is(world, "b"), 20, "b is published as stable")
    operator.kill(signal.SIGSTOP)
    return spec


def rollout(written: dict[str, Any], version: str) -> Json:
    weights = {"version": version, "uri": written[version].uri}
    return weight_rollout("chat", weights, swap={"settleSeconds": 0})


async def stable_is(world: World, version: str) -> bool:
    path = f"/api/v1/namespaces/{world.namespace}/configmaps/{names.stable_configmap('chat')}"
    data: dict[str, str] = (await world.api.get(path)).get("data", {})
    return f'"version": "{version}"' in data.get(names.STABLE_KEY, "")


async def engines(world: World) -> dict[str, Json]:
    """By pod."""
    return {pod["metadata"]["name"]: await state_of(pod) for pod in await world.pods("chat")}


def updates(engine: Json) -> int:
    return int(engine["calls"].get("UpdateWeights", 0))


def is_ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


@asynccontextmanager
async def unbroken_traffic(
    world: World, written: dict[str, Any], *, versions: set[str]
) -> AsyncIterator[Traffic]:
    """Nobody is let down, and all answers are of these versions."""
    known = {name: each.fingerprint for name, each in written.items()}
    async with (
        ReadyPods(world.api, world.namespace, "app=chat", ENGINE_HTTP) as backends,
        Traffic(backends, known=known, clients=3) as traffic,
    ):
        yield traffic
        await traffic.more(6)
    tally = traffic.tally
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert set(tally.by_answer) == versions


async def test_engine_that_dies_comes_back_with_stable_weights(
    world: World, fleet: FleetSpec, machine: VirtualNode, written: dict[str, Any]
) -> None:
    """The operator is frozen, not dead: its connections stay open."""
    before = (await engines(world))["chat-0"]
    machine.kill(world.namespace, "chat-0", "engine", signal.SIGKILL)
    await world.until_ready("chat", 1, 30)
    async with unbroken_traffic(world, written, versions={"b"}):
        await world.until_ready("chat", 2, 90)
    after = (await engines(world))["chat-0"]
    assert after["instance"] != before["instance"]
    assert after["fingerprint"] == written["b"].fingerprint


async def test_agent_that_dies_is_ready_again_without_a_swap(
    world: World,
    fleet: FleetSpec,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> None:
    operator.kill(signal.SIGKILL)
    before = await engines(world)
    async with unbroken_traffic(world, written, versions={"b"}):
        machine.kill(world.namespace, "chat-1", names.AGENT_CONTAINER, signal.SIGKILL)

        async def started_again() -> bool:
            return await agent_restarts(world, "chat-1") > 0

        await eventually(started_again, 30, "the agent is started again")
        await world.until_ready("chat", 2, 60)
        await asyncio.sleep(STILL_S)
    after = await engines(world)
    assert {name: (each["instance"], updates(each)) for name, each in after.items()} == {
        name: (each["instance"], updates(each)) for name, each in before.items()
    }


async def agent_restarts(world: World, name: str) -> int:
    (pod,) = (each for each in await world.pods("chat") if each["metadata"]["name"] == name)
    statuses = pod["status"].get("initContainerStatuses", [])
    return sum(each["restartCount"] for each in statuses if each["name"] == names.AGENT_CONTAINER)


async def test_new_pod_serves_stable_weights_and_never_its_base_weights(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    async with unbroken_traffic(world, written, versions={"b"}):
        await world.deploy(replace(fleet, replicas=3))
        await world.until_ready("chat", 3, 90)
    assert (await engines(world))["chat-2"]["fingerprint"] == written["b"].fingerprint


async def test_edited_spec_takes_no_serving_pod_out(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    await world.until_ready("chat", 3, 30)
    async with unbroken_traffic(world, written, versions={"b"}):
        await world.apply(rollout(written, "c"))
        until = asyncio.get_running_loop().time() + STILL_S
        while asyncio.get_running_loop().time() < until:
            assert all(is_ready(pod) for pod in await world.pods("chat"))
            await asyncio.sleep(0.2)


async def test_operator_that_returns_brings_the_fleet_to_the_new_spec(
    world: World, fleet: FleetSpec, operator: OperatorProcess, written: dict[str, Any]
) -> None:
    before = await engines(world)
    async with unbroken_traffic(world, written, versions={"b", "c"}):
        operator.start()
        status = await world.until_phase("chat", "Complete", 120)
    assert status["updated"] == "3/3"
    assert status["stable"]["version"] == "c"
    after = await engines(world)
    assert {each["fingerprint"] for each in after.values()} == {written["c"].fingerprint}
    swaps = {updates(each) - updates(before[name]) for name, each in after.items()}
    assert swaps == {1}, "each pod is swapped once, by the operator"
    labels = {pod["metadata"]["labels"][names.LABEL_VERSION] for pod in await world.pods("chat")}
    assert labels == {"c"}
