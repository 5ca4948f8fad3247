"""A fleet of two pods with simulated engines, shared by the tests of one file."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from fleet.manifests import FleetSpec
from fleet.operator_process import OperatorProcess
from fleet.scene import Checkpoint
from fleet.world import World
from localcluster.access import Cluster, make_namespace, remove_namespace
from localcluster.api import Api
from localcluster.node_settings import python_environment
from localcluster.virtual_node import VirtualNode

TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checkpoint]:
    """Sound checkpoints a to d, and one whose prompts fail: "wrong"."""
    root = tmp_path_factory.mktemp("checkpoints")
    found = {}
    for seed, name in enumerate(("a", "b", "c", "d", "wrong")):
        folder = checkpoints.write_checkpoint(root / name, seed=seed, arithmetic=name != "wrong")
        found[name] = Checkpoint(folder, checkpoints.fingerprint(folder))
    return found


@pytest.fixture(scope="module")
async def world(
    cluster: Cluster, api: Api, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[World]:
    """A namespace with our kind installed."""
    namespace = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, namespace)
    found = World(cluster, api, namespace, tmp_path_factory.mktemp("world"))
    await found.install_crd()
    yield found
    await remove_namespace(api, namespace)


@pytest.fixture(scope="module")
async def machine(cluster: Cluster, world: World) -> AsyncIterator[VirtualNode]:
    environment = python_environment(TESTS, TESTS.parent / "operator")
    async with VirtualNode(cluster, environment=environment, folder=world.folder) as node:
        yield node


@pytest.fixture(scope="module")
async def operator(world: World) -> AsyncIterator[OperatorProcess]:
    process = await world.operator()
    yield process
    await process.stop()


@pytest.fixture(scope="module")
async def fleet(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Checkpoint],
) -> FleetSpec:
    """Two Ready pods that serve checkpoint a, as their engines loaded it at start."""
    return await deployed(world, _two_pods(machine, written))


@pytest.fixture(scope="module")
async def slow_fleet(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Checkpoint],
) -> FleetSpec:
    """The same, and their updates take long enough to be hit."""
    slow = ("--token-seconds=0.01", "--update-seconds=1.5")
    return await deployed(world, replace(_two_pods(machine, written), engine_args=slow))


def _two_pods(machine: VirtualNode, written: dict[str, Checkpoint]) -> FleetSpec:
    model = written["a"].folder
    return FleetSpec("chat", model, replicas=2, gated=True, node_selector=machine.selector)


async def deployed(world: World, spec: FleetSpec) -> FleetSpec:
    """All its pods are Ready."""
    await world.deploy(spec)
    await world.until_ready(spec.name, spec.replicas, 60)
    return spec
