"""A fleet as a Deployment, and what happens to one from day to day: scaled, drained, rolled out."""

from collections.abc import Iterable
from typing import Any

from fleet.manifests import FleetSpec, stateful_set
from fleet.world import World
from localcluster.api import ApiError
from localcluster.waiting import eventually

Json = dict[str, Any]


def deployment(fleet: FleetSpec) -> Json:
    """The pods of `stateful_set`, replaced one after the other, the new one first."""
    body = stateful_set(fleet)
    spec = {
        key: value
        for key, value in body["spec"].items()
        if key not in ("serviceName", "podManagementPolicy")
    }
    spec["strategy"] = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    return {**body, "kind": "Deployment", "spec": spec}


async def scale(world: World, name: str, replicas: int) -> None:
    """As an autoscaler does."""
    await world.api.patch(f"{_path(world, name)}/scale", {"spec": {"replicas": replicas}}, "merge")


async def roll_out(world: World, name: str, image: str) -> None:
    """A change of the pod template: every pod is replaced."""
    template = {"metadata": {"annotations": {"image-of-the-day": image}}}
    await world.api.patch(_path(world, name), {"spec": {"template": template}})


async def drain(world: World, node: str, app: str) -> None:
    """As `kubectl drain` does for these pods: cordoned, evicted, gone."""
    await cordon(world, node, closed=True)
    uids = set()
    for pod in await world.pods(app):
        if pod["spec"].get("nodeName") == node:
            uids.add(pod["metadata"]["uid"])
            await evict(world, pod["metadata"]["name"])
    await gone(world, app, uids)


async def cordon(world: World, node: str, *, closed: bool) -> None:
    await world.api.patch(f"/api/v1/nodes/{node}", {"spec": {"unschedulable": closed}})


async def evict(world: World, pod: str) -> None:
    """Through the Eviction API. A pod that is gone is evicted."""
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": world.namespace},
    }
    path = f"/api/v1/namespaces/{world.namespace}/pods/{pod}/eviction"
    try:
        await world.api.create(path, eviction)
    except ApiError as error:
        if error.status != 404:
            raise


async def gone(world: World, app: str, uids: Iterable[str]) -> None:
    unwanted = set(uids)

    async def absent() -> bool:
        return not unwanted & {pod["metadata"]["uid"] for pod in await world.pods(app)}

    await eventually(absent, 60, f"pods of {app} are gone")


def _path(world: World, name: str) -> str:
    return f"/apis/apps/v1/namespaces/{world.namespace}/deployments/{name}"
