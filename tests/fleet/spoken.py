"""All that others can read of a fleet: objects but Secrets, logs, metrics, command lines, and what agents leave in volumes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import aiohttp

from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from weightrollout.api import names

OBJECTS: Final = (
    *("/api/v1/{}/pods", "/api/v1/{}/events", "/api/v1/{}/configmaps"),
    *("/apis/apps/v1/{}/controllerrevisions", "/apis/apps/v1/{}/statefulsets"),
    *("/apis/batch/v1/{}/jobs", "/apis/coordination.k8s.io/v1/{}/leases"),
    f"/apis/{names.API_VERSION}/{{}}/{names.PLURAL}",
)
#: A region is gigabytes of tensors; what is written about it is not.
FILE_BYTES: Final = 1 << 20


async def spoken(
    world: World, node: VirtualNode, operator: OperatorProcess, app: str
) -> dict[str, str]:
    """By where it was read."""
    found = {}
    for path in OBJECTS:
        items, _ = await world.api.list(path.format(f"namespaces/{world.namespace}"))
        found[path] = str(items)
    pods = await world.pods(app)
    agents = [f"http://{pod['status']['podIP']}:{names.DEFAULT_HTTP_PORT}" for pod in pods]
    async with aiohttp.ClientSession() as session:
        for url in (operator.http, *agents):
            async with session.get(f"{url}/metrics") as answer:
                found[url] = await answer.text()
    folders = [
        node.volume(world.namespace, pod["metadata"]["name"], volume)
        for pod in pods
        for volume in (names.VOLUME_STAGING, names.VOLUME_HANDOVER)
    ]
    return {**found, **await asyncio.to_thread(_files, [node.logs, world.folder, *folders])}


def _files(folders: Sequence[Path]) -> dict[str, str]:
    """And the command lines of all processes."""
    commands = Path("/proc").glob("[0-9]*/cmdline")
    files = (each for folder in folders for each in folder.rglob("*") if each.is_file())
    found = {}
    for path in (*commands, *files):
        try:
            if path.stat().st_size <= FILE_BYTES or path.suffix == ".log":
                found[str(path)] = path.read_text(errors="replace")
        except OSError:
            continue  # it ended meanwhile
    return found
