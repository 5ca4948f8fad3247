"""What the scenes and the tutorial stand on: a control plane, a node, the operator, and a fleet that serves."""

import asyncio
import shutil
import signal
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from demo.cast import Cast, Checkpoint
from demo.origin import origin
from demo.scenes import NAME, Stage
from demo.screen import Screen
from fleet.world import World
from localcluster.cluster import LocalCluster
from localcluster.node_settings import python_environment
from localcluster.virtual_node import VirtualNode

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = ROOT / "build"
NAMESPACE: Final = "default"


async def set_up(
    stack: AsyncExitStack,
    screen: Screen,
    cast: Cast,
    base: Checkpoint,
    folder: Path,
    *,
    source: str = "file",
) -> Stage:
    """All pods serve what their engines loaded at start. Logs are kept below `folder`."""
    work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="weightrollout-demo-")))
    screen.say("starting etcd, kube-apiserver, kube-controller-manager, kube-scheduler")
    cluster = await stack.enter_async_context(LocalCluster())
    api = await stack.enter_async_context(cluster.api())
    world = World(cluster, api, NAMESPACE, work)
    await world.install_crd()
    environment = python_environment(ROOT / "operator", ROOT / "tests")
    logs = folder / cast.name
    shutil.rmtree(logs / "logs", ignore_errors=True)
    node = await stack.enter_async_context(
        VirtualNode(cluster, environment=environment, folder=logs)
    )
    weights = await stack.enter_async_context(origin(source, world, screen))
    screen.say(f"starting {cast.pods} engine pods with agents, and the operator")
    await world.deploy(replace(cast.fleet(NAME, base), agent_secrets=weights.secrets))
    operator = await world.operator()
    stack.push_async_callback(operator.stop)
    async with screen.patience(f"still starting (logs in {shown(logs)}/logs)"):
        await world.until_ready(NAME, cast.pods, cast.start_s)
    return Stage(world, node, screen, folder, cast, weights)


def shown(path: Path) -> str:
    """As people read it: from the repository's root where it lies there."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def end_in_order() -> None:
    """A signal ends what we started too: real engines have children that outlive them."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
