"""The credentials of a running operator are replaced: a token that is refused, an authority that was rotated."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from apiproxy.proxy import ApiProxy, api_proxy
from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.certificates import Authority
from localcluster.kubeconfig import read_kubeconfig, write_kubeconfig
from localcluster.waiting import eventually
from weightrollout.api import names

pytestmark = pytest.mark.faults

WEIGHTS = {"version": "v1", "uri": "file:///models/chat/step-1/"}
SEEN_S = 60.0


@pytest.fixture
async def world(cluster: Cluster, api: Api, namespace: str, tmp_path: Path) -> World:
    found = World(cluster, api, namespace, tmp_path)
    await found.install_crd()
    return found


@pytest.fixture
async def started(world: World) -> AsyncIterator[OperatorProcess]:
    """Its kubeconfig is `own` in the world's folder; the test writes it before it starts the process."""
    process = OperatorProcess(world.folder / "own", world.namespace, world.folder / "operator")
    yield process
    await process.stop()


async def is_at_work(world: World, name: str) -> None:
    """It answers a new WeightRollout, and then a change of it: it reads, writes and watches."""
    await world.apply(weight_rollout(name, WEIGHTS))
    await world.until(name, lambda said: said.get("phase"), SEEN_S, f"{name} is answered")
    await world.apply(weight_rollout(name, {**WEIGHTS, "version": "v2"}))
    await world.until(
        name, lambda said: said["desired"]["version"] == "v2", SEEN_S, f"{name} is followed"
    )


async def test_token_that_is_refused_is_read_again_from_the_kubeconfig(
    world: World, started: OperatorProcess
) -> None:
    (await world.operator_kubeconfig()).rename(world.folder / "own")
    started.start()
    await is_at_work(world, "before")
    account = f"/api/v1/namespaces/{world.namespace}/serviceaccounts/{names.OPERATOR_ACCOUNT}"
    await world.api.delete(account)  # what an expired token looks like, without the hour
    await eventually(lambda: told(started, "401"), SEEN_S, "it says that it is refused")
    assert started.exit_code is None
    (await world.operator_kubeconfig()).rename(world.folder / "own")
    await is_at_work(world, "after")
    assert started.exit_code is None
    assert not await told(started, "Traceback")


async def test_authority_that_was_rotated_is_read_again_from_the_kubeconfig(
    world: World, started: OperatorProcess
) -> None:
    token = read_kubeconfig(await world.operator_kubeconfig())
    old, new = Authority(), Authority()

    def write(proxy: ApiProxy, authority: Authority) -> None:
        access = replace(token, server=proxy.url, ca_pem=authority.certificate)
        write_kubeconfig(world.folder / "own", access)

    async with api_proxy(token, served_as(old, world.folder)) as proxy:
        write(proxy, old)
        started.start()
        await is_at_work(world, "before")
        port = int(proxy.url.rpartition(":")[2])
    async with api_proxy(token, served_as(new, world.folder), port) as proxy:
        await eventually(
            lambda: told(started, "CERTIFICATE_VERIFY_FAILED"), SEEN_S, "it says what is wrong"
        )
        write(proxy, new)
        await is_at_work(world, "after")
        await eventually(lambda: proxy.watched("weightrollouts"), SEEN_S, "kopf watches as well")
        assert started.exit_code is None
        assert not await told(started, "Traceback")


def served_as(authority: Authority, folder: Path) -> ssl.SSLContext:
    leaf = authority.issue("kube-apiserver", hosts=("127.0.0.1",))
    pem = folder / "server.pem"
    pem.write_bytes(leaf.certificate + b"\n" + leaf.key)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pem)
    return tls


async def told(process: OperatorProcess, words: str) -> bool:
    return words in await asyncio.to_thread(process.log.read_text)
