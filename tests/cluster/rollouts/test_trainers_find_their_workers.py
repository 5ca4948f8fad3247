"""The discovery of a real fleet: a trainer that finds its workers there drives all of them, and no stranger finds any."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from ports import ports_for_good
from toytrainer import TOKEN, Trainer, fabric
from weightrollout.api.names import DEFAULT_TRAINER_PORT

pytestmark = pytest.mark.cluster

SOON = 60.0
NAME = "policy"


@dataclass(frozen=True)
class Discovery:
    url: str

    async def ask(self, path: str, token: str = TOKEN) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(f"{self.url}{path}/v1/rl/workers") as response,
        ):
            return response.status, await response.json()

    async def workers(self, path: str) -> list[dict[str, Any]]:
        status, body = await self.ask(path)
        found: list[dict[str, Any]] = body["workers"] if status == 200 else []
        return found

    async def ready(self, path: str, count: int) -> list[dict[str, Any]]:
        async def all_there() -> list[dict[str, Any]]:
            try:
                found = await self.workers(path)
            except (
                aiohttp.ClientConnectionError
            ) as not_yet:  # pods may be Ready before the operator listens
                raise AssertionError from not_yet
            good = [each for each in found if "error" not in each]
            return good if len(good) == count else []

        found: list[dict[str, Any]] = await eventually(all_there, SOON, "all workers are listed")
        return found


@pytest.fixture(scope="module")
def token(world: World) -> Path:
    path = world.folder / "trainers-token"
    path.write_text(TOKEN)
    return path


@pytest.fixture(scope="module")
async def discovery(world: World, token: Path) -> AsyncIterator[Discovery]:
    (port,) = ports_for_good(1)
    flags = (f"--discovery-token-file={token}", f"--discovery-bind=127.0.0.1:{port}")
    process: OperatorProcess = await world.operator(how=OperatorRun(flags=flags))
    yield Discovery(f"http://127.0.0.1:{port}")
    await process.stop()


@pytest.fixture(scope="module")
async def fleet(
    world: World,
    machine: VirtualNode,
    discovery: Discovery,
    token: Path,
    written: dict[str, Any],
) -> FleetSpec:
    spec = FleetSpec(
        NAME,
        written["a"].folder,
        replicas=2,
        engine_args=("--token-seconds=0.01", "--backend=nccl"),
        agent_args=(
            f"--trainer-token-file={token}",
            f"--trainer-bind=$(POD_IP):{DEFAULT_TRAINER_PORT}",
        ),
        node_selector=machine.selector,
    )
    await world.apply(weight_rollout(NAME, None))
    await world.deploy(spec)
    await world.until_ready(NAME, 2, SOON)
    return spec


async def test_trainer_drives_every_worker_that_it_found(
    world: World, discovery: Discovery, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    path = f"/{world.namespace}/{NAME}"
    workers = await discovery.ready(path, 2)
    before = await discovery.ask(path)
    assert sum(each["world_size"] for each in workers) == 2
    for worker in workers:
        trainer = Trainer(worker["system_url"])
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            assert await discovery.ask(path) == before, "a paused worker is the same worker"
            await trainer.update("start_weight_update")
            assert (await trainer.send(wire, written["b"].folder)).status == 200
            await trainer.update("finish_weight_update", weight_version="7")
            assert (await trainer.control("resume_generation")).status == 200
    assert await discovery.ask(path) == before
    await world.until_ready(NAME, 2, SOON)
    status = await world.status(NAME)
    assert status["phase"] not in ("Failed", "RolledBack")


async def test_workers_of_a_namespace_and_of_the_operators_own_are_the_same(
    world: World, discovery: Discovery, fleet: FleetSpec
) -> None:
    one = await discovery.ready(f"/{world.namespace}/{NAME}", 2)
    assert await discovery.workers(f"/{world.namespace}") == one
    assert await discovery.workers("") == one
    assert await discovery.workers("/elsewhere") == []
    assert await discovery.workers(f"/{world.namespace}/nobody") == []


async def test_stranger_finds_nobody(
    world: World, discovery: Discovery, fleet: FleetSpec, token: Path
) -> None:
    for wrong in ("", "wrong", TOKEN[:-1]):
        status, body = await discovery.ask("", wrong)
        assert (status, body["error"]) == (401, "unauthorized")
        assert "workers" not in body
    token.write_text("x")
    assert (await discovery.ask(""))[0] == 401, "a token of one letter lets nobody in"
    token.write_text(TOKEN)
    assert (await discovery.ask(""))[0] == 200


async def test_engine_that_restarts_is_another_worker(
    world: World, discovery: Discovery, fleet: FleetSpec, machine: VirtualNode
) -> None:
    path = f"/{world.namespace}/{NAME}"
    before = {each["instance_id"] for each in await discovery.ready(path, 2)}
    pod = (await world.pods(NAME))[0]
    api = f"/api/v1/namespaces/{world.namespace}/pods/{pod['metadata']['name']}"
    await world.api.delete(api, gracePeriodSeconds="0")

    async def another() -> bool:
        now = {each["instance_id"] for each in await discovery.workers(path)}
        return len(now) == 2 and len(now & before) == 1

    await eventually(another, SOON, "the new engine is listed instead of the old one")
