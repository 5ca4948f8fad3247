"""A trainer with one token and one authority: it finds the workers where the chart opened the discovery, and drives them where inject
opened the agents. Nothing that either of them rendered is written by hand here but the folders of the mounts."""

import base64
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import checkpoints
from fleet.injected import injected_fleet
from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorRun
from fleet.world import World
from helm.chart import SETS, one, rendered
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.certificates import Authority
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from ports import ports_for_good
from toytrainer import TOKEN, Trainer
from weightrollout.api.callers import AGENT_TLS_NAME

Json = dict[str, Any]

SOON_S = 60.0
NAME = "policy"
TOKEN_SECRET, CERTIFICATE_SECRET = "trainers", "doors"
VALUES = (
    "--set=discovery.enabled=true",
    f"--set=discovery.token.secretName={TOKEN_SECRET}",
    f"--set=discovery.tls.secretName={CERTIFICATE_SECRET}",
    "--set=bindHost=127.0.0.1",
)


@dataclass(frozen=True)
class Doors:
    world: World
    discovery: str
    trusts: (
        ssl.SSLContext
    )  # whoever has a certificate of our authority; pods' addresses are in none

    async def listed(self, token: str = TOKEN) -> tuple[int, list[Json]]:
        url = f"{self.discovery}/{self.world.namespace}/{NAME}/v1/rl/workers"
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.get(url, ssl=self.trusts) as response,
        ):
            return response.status, (await response.json()).get("workers", [])


@pytest.fixture
async def doors(
    cluster: Cluster, api: Api, namespace: str, node: VirtualNode, tmp_path: Path
) -> AsyncIterator[Doors]:
    world = World(cluster, api, namespace, tmp_path)
    await world.install_crd()
    authority = Authority()
    leaf = authority.issue("doors", hosts=["127.0.0.1", AGENT_TLS_NAME])
    await world.apply(secret(TOKEN_SECRET, {"token": TOKEN.encode()}))
    await world.apply(
        secret(CERTIFICATE_SECRET, {"tls.crt": leaf.certificate, "tls.key": leaf.key})
    )
    (port,) = ports_for_good(1)
    flags = await discovery_flags(world, port)
    operator = await world.operator(how=OperatorRun(flags=flags))
    await world.apply(weight_rollout(NAME, None))
    model = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    opened = ("--trainer-token-secret", TOKEN_SECRET, "--agent-tls-secret", CERTIFICATE_SECRET)
    await injected_fleet(world, model, node.selector, *opened, name=NAME)
    trusts = ssl.create_default_context(cadata=authority.certificate.decode())
    trusts.check_hostname = False
    yield Doors(world, f"https://127.0.0.1:{port}", trusts)
    await operator.stop()


def secret(name: str, files: dict[str, bytes]) -> Json:
    data = {key: base64.b64encode(each).decode() for key, each in files.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data}


async def discovery_flags(world: World, port: int) -> list[str]:
    """Those of the chart's Deployment, with its Secrets written where a kubelet would have mounted them."""
    objects = rendered(SETS["minimal"], *VALUES, f"--set=discovery.port={port}")
    pod = one(objects, "Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    flags = [each for each in container["args"] if each.startswith("--discovery")]
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    for volume in pod["volumes"]:
        source = volume["secret"]
        path = f"/api/v1/namespaces/{world.namespace}/secrets/{source['secretName']}"
        data = (await world.api.get(path))["data"]
        items = source.get("items") or [{"key": key, "path": key} for key in data]
        folder = world.folder / volume["name"]
        folder.mkdir()
        for item in items:
            (folder / item["path"]).write_bytes(base64.b64decode(data[item["key"]]))
        flags = [each.replace(f"{mounted[volume['name']]}/", f"{folder}/") for each in flags]
    return flags


async def test_workers_are_found_by_the_discovery_and_driven_at_their_agents(doors: Doors) -> None:
    async def both() -> list[Json]:
        status, found = await doors.listed()
        good = [each for each in found if "error" not in each]
        return good if status == 200 and len(good) == 2 else []

    workers = await eventually(both, SOON_S, "both workers are listed", every_s=0.2)
    assert (await doors.listed("another token of sixteen"))[0] == 401
    for worker in workers:
        assert worker["system_url"].startswith("https://")
        trainer = Trainer(worker["system_url"], ssl=doors.trusts)
        assert (await trainer.control("pause_generation", mode="keep")).status == 200
        assert (await trainer.control("is_paused")).body["is_paused"]
        assert (await trainer.control("resume_generation")).status == 200
        stranger = Trainer(worker["system_url"], "another token of sixteen", ssl=doors.trusts)
        assert (await stranger.control("pause_generation")).status == 401
    await doors.world.until_ready(NAME, 2, SOON_S)
