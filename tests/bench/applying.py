"""From `kubectl apply` to the first engine in its pause: digest given, weights staged before, takeOut None.

A real API server, operator and agents; simulated engines, whose updates take long enough to be seen.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp

import checkpoints
from bench.page import ROOT
from fleet.engine import url_of
from fleet.manifests import FleetSpec, weight_rollout
from fleet.world import World
from localcluster.cluster import LocalCluster
from localcluster.node_settings import python_environment
from localcluster.virtual_node import VirtualNode
from weightrollout.weights.digest import digest_of

NAME: Final = "apply"
PODS: Final = 2
ROLLOUT_S: Final = 120.0
SEEN_S: Final = 60.0
POLL_S: Final = 0.002
#: Of every update, so that no look at the engine misses the pause.
UPDATE_S: Final = 0.3

Json = dict[str, Any]


async def measure(folder: Path, rounds: int) -> list[float]:
    """Seconds of each round; two versions in turn, each rolled out once before."""
    versions = [_version(folder, name, seed) for name, seed in (("v1", 1), ("v2", 2))]
    async with _world(folder, folder / "v1") as world:
        seconds = []
        for number in range(rounds + 2):
            took = await _round(world, versions[(number + 1) % 2])
            if number > 1:
                seconds.append(took)
        return seconds


def _version(folder: Path, name: str, seed: int) -> Json:
    made = checkpoints.write_checkpoint(folder / name, seed=seed)
    return {"version": name, "uri": f"{made.as_uri()}/", "digest": digest_of(made, threads=1)}


@asynccontextmanager
async def _world(folder: Path, model: Path) -> AsyncIterator[World]:
    async with AsyncExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weightrollout-bench-")))
        cluster = await stack.enter_async_context(LocalCluster())
        api = await stack.enter_async_context(cluster.api())
        world = World(cluster, api, "default", work)
        await world.install_crd()
        environment = python_environment(ROOT / "operator", ROOT / "tests")
        await stack.enter_async_context(VirtualNode(cluster, environment=environment))
        slow = ("--token-seconds=0.01", f"--update-seconds={UPDATE_S}")
        await world.deploy(FleetSpec(NAME, model, PODS, engine_args=slow))
        operator = await world.operator()
        stack.push_async_callback(operator.stop)
        await world.until_ready(NAME, PODS, ROLLOUT_S)
        yield world


async def _round(world: World, weights: Json) -> float:
    manifest = weight_rollout(
        NAME, weights, swap={"takeOut": "None"}, strategy={"maxUnavailable": 1}
    )
    pods = await world.pods(NAME)
    async with aiohttp.ClientSession() as session, asyncio.timeout(SEEN_S):
        looks = [asyncio.create_task(_paused_at(session, pod)) for pod in pods]
        begun = time.monotonic()
        await world.apply(manifest)
        done, others = await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED)
        for other in others:
            other.cancel()
        first = min(look.result() for look in done)
    await world.until_phase(NAME, "Complete", ROLLOUT_S)
    return first - begun


async def _paused_at(session: aiohttp.ClientSession, pod: Json) -> float:
    while True:
        async with session.get(f"{url_of(pod)}/simulator/state") as answer:
            if (await answer.json())["paused"]:
                return time.monotonic()
        await asyncio.sleep(POLL_S)
