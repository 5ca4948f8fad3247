"""What the operator needs of the API server, and what it does while there is none or a foreign schema.

A control plane of its own: these tests take the API server down and the kind away.
"""

import asyncio
import copy
import signal
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import CRD_FILE, World
from localcluster.access import make_namespace
from localcluster.cluster import LocalCluster
from localcluster.waiting import eventually

WEIGHTS = {"version": "v1", "uri": "file:///models/chat/step-1/"}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/weightrollouts.weightrollout.dev"
START_S = 30.0


@pytest.fixture(scope="module")
async def own_cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster() as found:
        yield found


@pytest.fixture
async def world(own_cluster: LocalCluster, tmp_path: Path) -> AsyncIterator[World]:
    """A namespace of a cluster without our kind."""
    async with own_cluster.api() as api:
        found = World(own_cluster, api, f"t-{uuid.uuid4().hex[:8]}", tmp_path)
        await make_namespace(api, found.namespace)
        yield found
        await remove_crd(found)


async def remove_crd(world: World) -> None:
    if not any(
        each["metadata"]["name"].endswith("weightrollout.dev") for each in await crds(world)
    ):
        return
    await world.api.delete(CRD)

    async def gone() -> bool:
        return not await crds(world)

    await eventually(gone, START_S, "our kind is gone")


async def crds(world: World) -> list[dict[str, Any]]:
    found, _ = await world.api.list(CRDS)
    return found


async def ended(process: OperatorProcess) -> str:
    """Its log, once it has ended."""
    await eventually(lambda: process.exit_code is not None, START_S, "the operator has ended")
    return await asyncio.to_thread(process.log.read_text)


async def test_missing_kind_ends_the_operator_and_says_what_to_apply(world: World) -> None:
    process = await world.operator()
    log = await ended(process)
    assert process.exit_code == 2
    assert "weightrollouts.weightrollout.dev is not installed: apply crds/ first" in log
    assert "Traceback" not in log


async def test_foreign_schema_ends_the_operator_and_says_what_to_apply(world: World) -> None:
    crd = await asyncio.to_thread(lambda: yaml.safe_load(CRD_FILE.read_text()))
    crd["metadata"]["annotations"]["weightrollout.dev/schema"] = "0123456789abcdef"
    await world.api.apply(crd)
    process = await world.operator()
    log = await ended(process)
    assert process.exit_code == 2
    assert "has schema 0123456789abcdef" in log
    assert "apply crds/ of this release first" in log


async def test_spec_that_cannot_be_read_is_answered_in_the_status(world: World) -> None:
    crd = await asyncio.to_thread(lambda: yaml.safe_load(CRD_FILE.read_text()))
    await world.install_crd()
    loose = copy.deepcopy(crd)
    spec = loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["x-kubernetes-preserve-unknown-fields"] = True
    await world.api.apply(loose)
    process = await world.operator()
    try:
        await world.apply(weight_rollout("chat", WEIGHTS))
        await eventually(lambda: speeds(world, 9), START_S, "the loose schema is served")
        status = await world.until_phase("chat", "Failed", START_S)
        stalled = next(each for each in status["conditions"] if each["type"] == "Stalled")
        assert (stalled["status"], stalled["reason"]) == ("True", "InvalidSpec")
        assert "spec.warpSpeed" in stalled["message"]
        await speeds(world, None)
        await world.until("chat", lambda said: said["phase"] != "Failed", START_S, "it goes on")
    finally:
        await process.stop()


async def speeds(world: World, warp: int | None) -> bool:
    """Set the unknown field; whether it was kept."""
    path = f"/apis/weightrollout.dev/v1alpha1/namespaces/{world.namespace}/weightrollouts/chat"
    found = await world.api.patch(path, {"spec": {"warpSpeed": warp}}, kind="merge")
    return "warpSpeed" in found["spec"]


async def test_api_server_that_comes_back_finds_the_operator_at_work(
    own_cluster: LocalCluster, world: World
) -> None:
    await world.install_crd()
    process = await world.operator()
    try:
        await world.apply(weight_rollout("chat", WEIGHTS))
        await world.until("chat", lambda said: said.get("epoch") == 1, START_S, "it leads")
        await own_cluster.restart_apiserver()
        await world.apply(weight_rollout("late", WEIGHTS))
        await world.until("late", lambda said: said.get("epoch", 0) >= 1, START_S, "it works again")
        await eventually(lambda: pods_are_seen(world, process), START_S, "pods are watched again")
        assert process.exit_code is None
    finally:
        await process.stop()


async def pods_are_seen(world: World, process: OperatorProcess) -> bool:
    await world.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "late-0", "labels": {"weightrollout.dev/name": "late"}},
            "spec": {"schedulerName": "nobody", "containers": [{"name": "x", "image": "x"}]},
        }
    )
    return bool((await world.status("late")).get("pods", {}).get("selected"))


async def test_outage_longer_than_the_lease_costs_leadership_and_not_the_process(
    own_cluster: LocalCluster, world: World
) -> None:
    await world.install_crd()
    process = await world.operator()
    try:
        await world.apply(weight_rollout("chat", WEIGHTS))
        await world.until("chat", lambda said: said.get("epoch") == 1, START_S, "it leads")
        await own_cluster.stop_apiserver()
        await eventually(lambda: leads_not(process), START_S, "it knows that it leads no more")
        await own_cluster.start_apiserver()
        await world.until("chat", lambda said: said.get("epoch") == 2, START_S, "it leads again")
        assert process.exit_code is None
    finally:
        await process.stop()


async def leads_not(process: OperatorProcess) -> bool:
    async with aiohttp.ClientSession() as session, session.get(f"{process.http}/metrics") as answer:
        return "weightrollout_leader 0.0" in await answer.text()


async def test_stop_signal_ends_the_operator_while_the_api_server_is_away(
    own_cluster: LocalCluster, world: World
) -> None:
    await world.install_crd()
    process = await world.operator()
    try:
        await world.apply(weight_rollout("chat", WEIGHTS))
        await world.until("chat", lambda said: said.get("epoch") == 1, START_S, "it leads")
        await own_cluster.stop_apiserver()
        process.kill(signal.SIGTERM)
        await eventually(lambda: process.exit_code is not None, 20, "it has ended")
        assert process.exit_code == 0
    finally:
        await process.stop()
        await own_cluster.start_apiserver()
