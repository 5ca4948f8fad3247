"""The API server is killed in mid-rollout, and comes back: with its data, or with those of an older snapshot.

A control plane of the file's own. After a restore everything that is kept there goes back in time: spec,
status, epoch, resourceVersions. The agents do not: what they journaled is newer.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fleet.agents import agent_states
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.api import Api
from localcluster.cluster import LocalCluster
from localcluster.waiting import eventually

pytestmark = pytest.mark.faults

DONE_S = 90.0


@pytest.fixture(scope="module")
async def cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster() as found:
        yield found


@pytest.fixture(scope="module")
async def api(cluster: LocalCluster) -> AsyncIterator[Api]:
    async with cluster.api() as client:
        yield client


@pytest.fixture(scope="module")
async def snapshot(
    cluster: LocalCluster,
    world: World,
    fleet: FleetSpec,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> Path:
    """As it was when the fleet had just come to b, which its first leader did."""
    await roll(world, written, "b")
    assert (await world.status("chat"))["epoch"] == 1
    return await cluster.snapshot()


async def roll(world: World, written: dict[str, Any], name: str, epoch: int = 0) -> None:
    weights = {"version": name, "uri": written[name].uri}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
    await serves(world, name, epoch)


async def serves(world: World, version: str, epoch: int = 0) -> None:
    """The agents say so first, for a status that was just restored says it too; then the status does."""

    async def served() -> bool:
        found = await agent_states(world, "chat")
        return all(each.serving.version == version and each.fence.epoch >= epoch for each in found)

    def done(said: dict[str, Any]) -> bool:
        of_pods = [(each["version"], each["pods"]) for each in said.get("versions", ())]
        complete = said["phase"] == "Complete" and of_pods == [(version, 2)]
        return complete and said["epoch"] >= epoch and said["pods"]["selected"] == 2

    await eventually(served, DONE_S, f"both agents serve {version} by epoch {epoch}")
    await world.until("chat", done, DONE_S, f"the status says that both pods serve {version}")


async def next_leader(world: World, operator: OperatorProcess) -> int:
    """Its epoch, once it leads."""
    before = (await world.status("chat"))["epoch"]
    operator.kill()
    await eventually(lambda: operator.exit_code is not None, 10, "the old one is gone")
    operator.start()
    status = await world.until("chat", lambda said: said["epoch"] > before, DONE_S, "it leads")
    return int(status["epoch"])


async def test_api_server_killed_in_mid_rollout_and_started_with_its_data(
    cluster: LocalCluster, world: World, snapshot: Path, written: dict[str, Any]
) -> None:
    weights = {"version": "c", "uri": written["c"].uri}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
    await world.until_phase("chat", "Progressing", DONE_S)
    await cluster.restart_apiserver()
    await serves(world, "c")


async def test_restored_data_under_a_living_leader(
    cluster: LocalCluster,
    world: World,
    snapshot: Path,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> None:
    epoch = await next_leader(world, operator)
    await roll(world, written, "d", epoch)
    await ghost(world)
    await cluster.restore(snapshot)
    await serves(world, "b", epoch)  # as the spec says again
    assert operator.exit_code is None
    log = await asyncio.to_thread(operator.log.read_text)
    assert "Traceback" not in log, operator.log


async def test_restored_data_before_a_new_leader(
    cluster: LocalCluster,
    world: World,
    snapshot: Path,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> None:
    epoch = await next_leader(world, operator)
    await roll(world, written, "c", epoch)
    operator.kill()
    await cluster.restore(snapshot)
    assert (await world.status("chat"))["epoch"] == 1
    operator.start()
    await serves(world, "b", epoch + 1)


async def ghost(world: World) -> None:
    """A pod that the snapshot does not know."""
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "ghost", "labels": {"weightrollout.dev/name": "chat"}},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "engine", "image": "x"}]},
    }
    await world.apply(body)
    await world.until("chat", lambda said: said["pods"]["selected"] == 3, 30, "it is counted")
