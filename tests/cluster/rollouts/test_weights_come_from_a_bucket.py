"""A fleet takes its weights from an S3 server with its agents' own keys; a store that refuses them is waited for."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from objectstore.front import Front, forward, front
from objectstore.server import S3Server, s3_server
from signers import Signer
from weightrollout.api import names

Json = dict[str, Any]


@dataclass(frozen=True)
class Store:
    server: S3Server
    front: Front  # where the agents look
    bucket: str

    def uri(self, version: str) -> str:
        return f"s3://{self.bucket}/chat/{version}/"


@pytest.fixture(scope="module")
def store(written: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with (
        s3_server(tmp_path_factory.mktemp("s3")) as server,
        front(forward(server.address)) as before,
    ):
        bucket = server.bucket()
        for version in ("b", "c"):
            server.upload(written[version].folder, bucket, f"chat/{version}")
        yield Store(server, before, bucket)


@pytest.fixture(scope="module", autouse=True)
async def pods(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Any],
    store: Store,
) -> None:
    keys = store.server.environment(store.front.url)
    model = written["a"].folder
    spec = FleetSpec(
        "chat", model, replicas=2, gated=True, node_selector=machine.selector, environment=keys
    )
    await world.deploy(spec)
    await world.until_ready("chat", 2, 60)


async def _apply(world: World, store: Store, version: str, **more: Any) -> None:
    weights = {"version": version, "uri": store.uri(version), **more}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))


async def test_fleet_serves_what_lies_in_the_bucket_and_nobody_tells_the_key(
    world: World, store: Store, operator: OperatorProcess
) -> None:
    await _apply(world, store, "b")
    status = await world.until_phase("chat", "Complete", 90)
    assert status["updated"] == "2/2"
    labels = {pod["metadata"]["labels"][names.LABEL_VERSION] for pod in await world.pods("chat")}
    assert labels == {"b"}

    said = [str(await world.rollout("chat")), str(await world.events("chat"))]
    said += [str(pod["status"]) for pod in await world.pods("chat")]
    logs = [path for path in Path(world.folder).rglob("*.log") if path.is_file()]
    assert operator.log in logs
    said += [path.read_text(errors="replace") for path in logs]
    assert not any(store.server.password in each for each in said)


async def test_store_that_refuses_the_agents_holds_the_rollout_and_is_asked_again(
    world: World, store: Store
) -> None:
    store.front.say("prefix=chat/c", 403, times=2)
    await _apply(world, store, "c")
    status = await world.until(
        "chat", lambda seen: seen.get("hold", {}).get("reason") == "SourceDenied", 30, "a hold"
    )
    assert store.uri("c").rstrip("/") in status["hold"]["message"]
    assert status["pods"]["available"] == 2

    await world.until_phase("chat", "Complete", 90)


async def test_fleet_takes_signed_weights_alone_and_goes_back_to_them(
    world: World, store: Store, written: dict[str, Any], tmp_path: Path
) -> None:
    signer, stranger = Signer.made(tmp_path / "one"), Signer.made(tmp_path / "other")
    folder = shutil.copytree(written["b"].folder, tmp_path / "signed")
    signer.sign(folder)
    store.server.upload(folder, store.bucket, "chat/signed")

    await _apply(world, store, "signed", signature={"key": stranger.public})
    status = await world.until_phase("chat", "RolledBack", 60)
    assert "SignatureUntrusted" in status["message"]
    assert status["pods"]["available"] == 2
    assert status["stable"]["version"] == "c"

    by = {"signature": {"key": signer.public}}
    for version, more in (("signed", by), ("c", {}), ("signed", by)):
        await _apply(world, store, version, **more)
        await world.until("chat", serves(version), 60, f"{version} is served")


def serves(version: str) -> Callable[[Json], bool]:
    return lambda seen: seen["phase"] == "Complete" and seen["stable"]["version"] == version
