"""Look into the simulated engine of a pod, and tell it to misbehave."""

from typing import Any

import aiohttp

from fleet.manifests import ENGINE_HTTP
from fleet.world import World
from localcluster.waiting import eventually

Json = dict[str, Any]


def url_of(pod: Json) -> str:
    return f"http://{pod['status']['podIP']}:{ENGINE_HTTP}"


async def state_of(pod: Json, *, deadline_s: float = 5) -> Json:
    """instance, fingerprint, paused, version, calls. OSError or ClientError when it does not answer."""
    timeout = aiohttp.ClientTimeout(total=deadline_s)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.get(f"{url_of(pod)}/simulator/state") as answer,
    ):
        answer.raise_for_status()
        found: Json = await answer.json()
        return found


async def set_faults(pod: Json, *faults: Json, deadline_s: float = 5) -> None:
    """Replace the faults of that engine; none given: it behaves."""
    timeout = aiohttp.ClientTimeout(total=deadline_s)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(f"{url_of(pod)}/simulator/faults", json=list(faults)) as answer,
    ):
        answer.raise_for_status()


async def paused_pod(world: World, app: str) -> str:
    """The name of the pod whose engine is in its pause, once there is one."""

    async def find() -> str:
        for pod in await world.pods(app):
            try:
                if (await state_of(pod))["paused"]:
                    return str(pod["metadata"]["name"])
            except (OSError, aiohttp.ClientError):
                continue
        return ""

    return str(await eventually(find, 60, "an engine is paused"))
