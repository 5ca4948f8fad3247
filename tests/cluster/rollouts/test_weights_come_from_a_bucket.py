"""A fleet takes its weights from an S3 server with its agents' own keys; a store that refuses them is waited for.


And nobody tells a key, of whatever kind of source: the servers that refuse here send back what they were sent.
"""

import base64
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet.manifests import FleetSpec, secret, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.scene import Checkpoint
from fleet.spoken import spoken
from fleet.world import World
from localcluster.certificates import Authority
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from objectstore.front import Answer, Front, Request, forward, front
from objectstore.server import S3Server, s3_server
from objectstore.tls import server_side, trusted
from signers import Signer
from weightrollout.api import names
from weightrollout.weights.digest import digest_of

Json = dict[str, Any]

KEYS = "weights-reader"
JOB = Path(__file__).parents[3] / "docs" / "examples" / "digest-job.yaml"
#: By source: what must not be read anywhere.
SECRETS = {kind: f"c2VjcmV0LW9m{kind}" for kind in ("az", "gs", "hf", "https")}
LOGIN = base64.b64encode(f"reader:{SECRETS['https']}".encode()).decode()


@dataclass(frozen=True)
class Store:
    server: S3Server
    front: Front  # where the agents look
    bucket: str
    refusing: Front  # refuses everything
    environment: dict[str, str] = field(default_factory=dict)  # of the agents

    def uri(self, version: str) -> str:
        return f"s3://{self.bucket}/chat/{version}/"

    @property
    def secrets(self) -> list[str]:
        return [self.server.password, self.server.user, *SECRETS.values(), LOGIN]


def parrot(request: Request) -> Answer:
    return Answer(403, {}, json.dumps([request.path, dict(request.headers)]).encode())


@pytest.fixture(scope="module")
def store(
    written: dict[str, Checkpoint], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    folder, authority = tmp_path_factory.mktemp("s3"), Authority()
    with (
        s3_server(folder) as server,
        front(forward(server.address)) as before,
        front(parrot, server_side(authority, folder)) as refusing,
    ):
        bucket = server.bucket()
        for version in ("b", "c"):
            server.upload(written[version].folder, bucket, f"chat/{version}")
        netrc = folder / "netrc"
        netrc.write_text(f"machine localhost login reader password {SECRETS['https']}\n")
        netrc.chmod(0o600)
        environment = {
            **server.environment(before.url),
            "SSL_CERT_FILE": str(trusted(authority, folder)),
            "AZURE_STORAGE_ACCOUNT_NAME": "account",
            "AZURE_STORAGE_ENDPOINT": f"{refusing.url}/account",
            "AZURE_STORAGE_SAS_TOKEN": f"sv=2023-11-03&sig={SECRETS['az']}",
            "GOOGLE_BASE_URL": refusing.url,
            "GOOGLE_BEARER_TOKEN": SECRETS["gs"],
            "HF_ENDPOINT": refusing.url,
            "HF_TOKEN": SECRETS["hf"],
            "NETRC": str(netrc),
        }
        yield Store(server, before, bucket, refusing, environment)


@pytest.fixture(scope="module", autouse=True)
async def pods(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Checkpoint],
    store: Store,
) -> None:
    """As a user has it: the keys are a Secret's, and the agents' alone."""
    await world.apply(secret(KEYS, store.environment))
    spec = FleetSpec(
        *("chat", written["a"].folder),
        replicas=2,
        gated=True,
        node_selector=machine.selector,
        agent_secrets=(KEYS,),
    )
    await world.deploy(spec)
    await world.until_ready("chat", 2, 60)


async def _apply(world: World, version: str, uri: str, **more: Any) -> None:
    weights = {"version": version, "uri": uri, **more}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))


async def _denied(world: World, uri: str) -> Json:
    """The status with a hold that names the URI."""
    return await world.until(
        "chat",
        lambda seen: (
            seen.get("hold", {}).get("reason") == "SourceDenied"
            and uri.rstrip("/") in seen["hold"]["message"]
        ),
        30,
        "a hold",
    )


async def test_fleet_serves_what_lies_in_the_bucket(world: World, store: Store) -> None:
    await _apply(world, "b", store.uri("b"))
    status = await world.until_phase("chat", "Complete", 90)
    assert status["updated"] == "2/2"
    labels = {pod["metadata"]["labels"][names.LABEL_VERSION] for pod in await world.pods("chat")}
    assert labels == {"b"}


async def test_store_that_refuses_the_agents_holds_the_rollout_and_is_asked_again(
    world: World, store: Store
) -> None:
    store.front.say("prefix=chat/c", 403, times=2)
    await _apply(world, "c", store.uri("c"))
    status = await _denied(world, store.uri("c"))
    assert status["pods"]["available"] == 2

    await world.until_phase("chat", "Complete", 90)


async def test_job_of_the_docs_prints_the_digest_of_what_only_the_cluster_reads(
    world: World, machine: VirtualNode, store: Store, written: dict[str, Checkpoint]
) -> None:
    text = JOB.read_text()
    jobs = f"/apis/batch/v1/namespaces/{world.namespace}/jobs"
    strict = {"fieldValidation": "Strict", "dryRun": "All"}
    await world.api.create(jobs, yaml.safe_load(text), **strict)

    job = yaml.safe_load(text.replace("s3://BUCKET/chat/1200/", store.uri("b")))
    pod = job["spec"]["template"]["spec"]
    account = {"apiVersion": "v1", "kind": "ServiceAccount"}
    await world.apply({**account, "metadata": {"name": pod["serviceAccountName"]}})
    pod["nodeSelector"] = machine.selector
    # The entry point of the image, as the Dockerfile has it.
    pod["containers"][0]["command"] = [str(Path(sys.executable).with_name("kubectl-weightrollout"))]
    name = (await world.api.create(jobs, job))["metadata"]["name"]

    async def ended() -> bool:
        status = (await world.api.get(f"{jobs}/{name}"))["status"]
        assert not status.get("failed"), [
            each.read_text() for each in machine.logs.glob("*digest*")
        ]
        return bool(status.get("succeeded"))

    await eventually(ended, 60, "the Job has succeeded")
    [log] = machine.logs.glob(f"*_{name}-*_digest_0.log")
    assert digest_of(written["b"].folder, threads=1) in log.read_text().splitlines()


@pytest.mark.parametrize("uri", ["az://c/m/", "gs://b/m/", "hf://org/chat/", "HOST/m/"])
async def test_nobody_tells_a_credential(
    world: World, machine: VirtualNode, operator: OperatorProcess, store: Store, uri: str
) -> None:
    uri = uri.replace("HOST", store.refusing.url)
    await _apply(world, f"from-{uri.partition(':')[0]}", uri)
    await _denied(world, uri)
    heard = store.refusing.heard[-1]
    assert any(key in f"{heard.path} {heard.headers}" for key in store.secrets)

    said = await spoken(world, machine, operator, "chat")
    assert any(uri.rstrip("/") in each for where, each in said.items() if where.endswith(".log"))
    assert not [where for where, each in said.items() for key in store.secrets if key in each]


async def test_fleet_takes_signed_weights_alone_and_goes_back_to_them(
    world: World, store: Store, written: dict[str, Any], tmp_path: Path
) -> None:
    signer, stranger = Signer.made(tmp_path / "one"), Signer.made(tmp_path / "other")
    folder = shutil.copytree(written["b"].folder, tmp_path / "signed")
    signer.sign(folder)
    store.server.upload(folder, store.bucket, "chat/signed")

    await _apply(world, "signed", store.uri("signed"), signature={"key": stranger.public})
    status = await world.until_phase("chat", "RolledBack", 60)
    assert "SignatureUntrusted" in status["message"]
    assert status["pods"]["available"] == 2
    assert status["stable"]["version"] == "c"

    by = {"signature": {"key": signer.public}}
    for version, more in (("signed", by), ("c", {}), ("signed", by)):
        await _apply(world, version, store.uri(version), **more)
        await world.until("chat", serves(version), 60, f"{version} is served")


def serves(version: str) -> Callable[[Json], bool]:
    return lambda seen: seen["phase"] == "Complete" and seen["stable"]["version"] == version
