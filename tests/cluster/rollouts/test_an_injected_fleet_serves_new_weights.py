"""What inject prints is applied as it is, and its pods can be given new weights; taken back, they are plain again."""

from typing import Any

import pytest

from fleet.injected import inject, injected_fleet
from fleet.manifests import ENGINE_HTTP, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

Json = dict[str, Any]

REPLICAS = 2


@pytest.fixture(scope="module")
async def injected(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> Json:
    """The plain fleet, injected; its pods are Ready."""
    return await injected_fleet(world, written["a"].folder, machine.selector)


async def test_its_pods_change_their_answers_and_no_request_fails(
    world: World, injected: Json, written: dict[str, Any]
) -> None:
    known = {name: each.fingerprint for name, each in written.items()}
    weights = {"version": "b", "uri": written["b"].uri}
    async with (
        ReadyPods(world.api, world.namespace, "app=chat", ENGINE_HTTP) as backends,
        Traffic(backends, known=known, clients=2) as traffic,
    ):
        await world.apply(weight_rollout("chat", weights))
        await world.until_phase("chat", "Complete", 120)
        await traffic.more(4)
    tally = traffic.tally
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert tally.by_answer["b"] > 0
    assert (await world.status("chat"))["updated"] == f"{REPLICAS}/{REPLICAS}"


async def test_the_plugin_was_there_before_the_engine_started(world: World, injected: Json) -> None:
    for pod in await world.pods("chat"):
        [plugin, agent] = pod["status"]["initContainerStatuses"]
        [engine] = pod["status"]["containerStatuses"]
        assert (plugin["name"], agent["name"]) == (names.PLUGIN_CONTAINER, names.AGENT_CONTAINER)
        assert plugin["state"]["terminated"]["exitCode"] == 0
        assert (
            plugin["state"]["terminated"]["finishedAt"] <= engine["state"]["running"]["startedAt"]
        )


async def test_taken_back_the_pods_are_plain_and_serve(
    world: World, injected: Json, written: dict[str, Any]
) -> None:
    """Last in this file: the fleet is gone afterwards."""
    await world.apply(inject(injected, "--uninject"))

    async def plain_again() -> bool:
        pods = await world.pods("chat")
        assert len(pods) == REPLICAS
        for pod in pods:
            assert not pod["spec"].get("initContainers"), pod["metadata"]["name"]
            assert names.LABEL_NAME not in pod["metadata"]["labels"]
        return True

    await eventually(plain_again, 120, "no pod has anything of ours", every_s=0.2)
    await world.until_ready("chat", REPLICAS, 60)
