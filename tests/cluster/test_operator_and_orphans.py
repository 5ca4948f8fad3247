"""Pods whose label leads nowhere go on serving, and somebody says so."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually
from weightrollout.controller.orphans import MOST_TOLD

WEIGHTS = {"version": "v1", "uri": "file:///models/chat/step-1/"}
GATE = "weightrollout.dev/Serving"
SOON_S = 30.0


@pytest.fixture
async def world(cluster: Cluster, api: Api, namespace: str, tmp_path: Path) -> World:
    found = World(cluster, api, namespace, tmp_path)
    await found.install_crd()
    return found


@pytest.fixture
async def operator(world: World) -> AsyncIterator[OperatorProcess]:
    process = await world.operator()
    yield process
    await process.stop()


def gated_pod(name: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "schedulerName": "nobody",
            "readinessGates": [{"conditionType": GATE}],
            "containers": [{"name": "engine", "image": "x"}],
        },
    }


async def gate_of(world: World, name: str) -> dict[str, Any]:
    pod = await world.api.get(f"/api/v1/namespaces/{world.namespace}/pods/{name}")
    conditions = pod.get("status", {}).get("conditions", [])
    found: dict[str, Any] = next((each for each in conditions if each["type"] == GATE), {})
    return found


async def test_label_that_points_to_no_rollout_is_told_on_the_pod_once(
    world: World, operator: OperatorProcess
) -> None:
    await world.apply(gated_pod("lost", **{"weightrollout.dev/name": "caht"}))

    async def told() -> list[dict[str, Any]]:
        return await world.events("lost")

    (event,) = await eventually(told, SOON_S, "the event was posted")
    assert event["reason"] == "LabelPointsToNoRollout"
    assert event["type"] == "Warning"
    assert "caht" in event["note"]
    assert "series" not in event


async def test_a_fleet_without_its_rollout_is_told_by_a_few_of_its_pods(
    world: World, operator: OperatorProcess
) -> None:
    ghosts = [f"ghost-{number}" for number in range(6)]
    for name in ghosts:
        await world.apply(gated_pod(name, **{"weightrollout.dev/name": "ghost"}))

    async def all_seen() -> bool:
        gates = [await gate_of(world, name) for name in ghosts]
        return all(gate.get("status") == "True" for gate in gates)

    await eventually(all_seen, SOON_S, "each was visited")
    await world.apply(gated_pod("last", **{"weightrollout.dev/name": "another"}))

    async def told() -> list[dict[str, Any]]:
        return await world.events("last")

    await eventually(told, SOON_S, "what was told before is posted")
    assert sum([len(await world.events(name)) for name in ghosts]) == MOST_TOLD


async def test_gate_of_a_pod_without_a_rollout_is_answered(
    world: World, operator: OperatorProcess
) -> None:
    await world.apply(gated_pod("lost", **{"weightrollout.dev/name": "caht"}))

    async def open_() -> bool:
        return (await gate_of(world, "lost")).get("status") == "True"

    await eventually(open_, SOON_S, "the gate is open")
    assert (await gate_of(world, "lost"))["reason"] == "Unmanaged"


async def test_gates_are_answered_after_the_rollout_was_deleted_while_nobody_led(
    world: World,
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await world.apply(gated_pod("chat-0", **{"weightrollout.dev/name": "chat"}))
    closed = {"type": GATE, "status": "False", "reason": "Reserved"}
    path = f"/api/v1/namespaces/{world.namespace}/pods/chat-0/status"
    await world.api.patch(path, {"status": {"conditions": [closed]}})
    rollouts = f"/apis/weightrollout.dev/v1alpha1/namespaces/{world.namespace}/weightrollouts"
    await world.api.delete(f"{rollouts}/chat")
    process = await world.operator()
    try:

        async def open_() -> bool:
            return (await gate_of(world, "chat-0")).get("status") == "True"

        await eventually(open_, SOON_S, "the gate is open")
    finally:
        await process.stop()


async def test_pod_that_left_its_fleet_loses_our_version_label(
    world: World, operator: OperatorProcess
) -> None:
    """The label's writer is the operator: here it is put there by its own field manager."""
    await world.apply(gated_pod("left"))
    path = f"/api/v1/namespaces/{world.namespace}/pods/left/status"
    label = {"weightrollout.dev/version": "v1"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "left", "labels": label}}
    await world.api.patch(path, body, "apply", fieldManager="weightrollout", force="true")

    async def clean() -> bool:
        pod = await world.api.get(f"/api/v1/namespaces/{world.namespace}/pods/left")
        return "weightrollout.dev/version" not in pod["metadata"].get("labels", {})

    await eventually(clean, SOON_S, "the label is gone")


async def test_stable_of_a_fleet_without_pods_and_rollout_is_removed(
    world: World, operator: OperatorProcess
) -> None:
    labels = {"weightrollout.dev/name": "gone", "app.kubernetes.io/managed-by": "weightrollout"}
    await world.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "gone.weightrollout", "labels": labels},
        }
    )

    async def removed() -> bool:
        try:
            path = f"/api/v1/namespaces/{world.namespace}/configmaps/gone.weightrollout"
            await world.api.get(path)
        except ApiError as error:
            return error.status == 404
        return False

    await eventually(removed, SOON_S, "the ConfigMap is gone")
