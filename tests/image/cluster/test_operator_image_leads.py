"""The operator's image beside a real API server: its packages are enough to work, and it ends when it is told to."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from fleet.operator_process import LEASE
from fleet.world import World
from images.running import Container, Unpacked
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.processes import Command, start_process
from localcluster.waiting import eventually
from ports import ports_for_good

LEADS_S = 120.0


@pytest.fixture
async def world(cluster: Cluster, api: Api, namespace: str, tmp_path: Path) -> World:
    found = World(cluster, api, namespace, tmp_path)
    await found.install_crd()
    return found


async def test_the_image_of_the_operator_leads_and_ends_in_order(
    world: World, unpacked: Callable[[str], Unpacked], tmp_path: Path
) -> None:
    image = unpacked("operator")
    kubeconfig = await world.operator_kubeconfig()
    readable, scratch = tmp_path / "account", tmp_path / "scratch"
    for folder in (readable, scratch):
        folder.mkdir()
        folder.chmod(0o777)
    (readable / "kubeconfig").write_bytes(kubeconfig.read_bytes())
    volumes = {
        "/mnt": readable,
        "/tmp": scratch,
    }  # where a kubeconfig's certificates are written to
    (port,) = ports_for_good(1)
    container = Container(image.root, image.archive, volumes, network=True)
    asked = [f"--namespace={world.namespace}", "--kubeconfig=/mnt/kubeconfig"]
    command = container.command(*asked, f"--http-bind=127.0.0.1:{port}", *LEASE)
    log = tmp_path / "operator.log"
    running = start_process(Command(command, container.environment(), log, Path("/")))

    async def leads() -> bool:
        assert running.exit_code is None, log.read_text()
        try:
            door = f"http://127.0.0.1:{port}/readyz"
            async with aiohttp.ClientSession() as session, session.get(door) as answer:
                if answer.status != 200:
                    return False
        except (TimeoutError, aiohttp.ClientError):
            return False
        leases = f"/apis/coordination.k8s.io/v1/namespaces/{world.namespace}/leases"
        return bool((await world.api.get(leases))["items"])

    try:
        await eventually(leads, LEADS_S, "the operator leads")
        running.signal(signal.SIGTERM)
        assert await asyncio.wait_for(running.wait(), LEADS_S) == 0, log.read_text()
    finally:
        await running.stop(10.0)
