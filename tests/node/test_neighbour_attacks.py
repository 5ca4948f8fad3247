"""A pod of the same namespace, with its own ServiceAccount and all that it can reach, moves no weights."""

from typing import Any

import pytest

from node.product import GRPC, HTTP
from node.site import Site
from node.toys import once, said, toy
from weightrollout.api import names

pytestmark = pytest.mark.timeout(600)

Json = dict[str, Any]

TOKEN = "/token/token"
#: As the operator calls an agent, with the certificate that this agent shows, but with a token of the caller's own, or none.
CALL = """
import pathlib, ssl, sys, grpc
from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.wire.agent import agent_pb2, agent_pb2_grpc
address, token = sys.argv[1:]
host, _, port = address.rpartition(":")
pem = ssl.get_server_certificate((host, int(port))).encode()
options = [("grpc.ssl_target_name_override", AGENT_TLS_NAME)]
channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(pem), options)
bearer = [("authorization", f"Bearer {pathlib.Path(token).read_text()}")] if token else []
try:
    agent_pb2_grpc.AgentStub(channel).Hello(agent_pb2.HelloRequest(), metadata=bearer, timeout=30)
    print("answered")
except grpc.RpcError as refused:
    print(refused.code().name)
"""


@pytest.fixture(scope="module")
async def victim(site: Site) -> Json:
    """The only pod of a fleet."""
    await site.deploy(site.workload("victim", replicas=1))
    [pod] = await site.world.pods("victim")
    return pod


def caller(site: Site, name: str, victim: Json, token: str) -> Json:
    """A neighbour that calls the victim's agent. Its token is of its own account, and made for this very agent."""
    container = toy("caller", volumeMounts=[{"name": "token", "mountPath": "/token"}])
    container["image"] = site.images.simulator
    address = f"{victim['status']['podIP']}:{names.DEFAULT_GRPC_PORT}"
    container["command"] = ["python", "-c", CALL, address, token]
    audience = f"{names.GROUP}/agent/{site.world.namespace}/{victim['metadata']['uid']}"
    source = {"serviceAccountToken": {"path": "token", "audience": audience}}
    pod = once(name)
    pod["spec"]["containers"] = [container]
    pod["spec"]["volumes"] = [{"name": "token", "projected": {"sources": [source]}}]
    return pod


@pytest.mark.parametrize("port", [GRPC, HTTP])
async def test_engine_on_loopback_cannot_be_reached_by_a_neighbour(
    site: Site, victim: Json, port: int
) -> None:
    neighbour = once(f"neighbour-{port}", "dial", f"{victim['status']['podIP']}:{port}")
    log = await said(site.world.api, site.pods, neighbour)
    assert log.startswith("closed:")


@pytest.mark.parametrize(
    ("name", "token", "answer"),
    [
        ("without-token", "", "UNAUTHENTICATED"),
        ("with-its-own-token", TOKEN, "PERMISSION_DENIED"),
    ],
)
async def test_agent_answers_no_call_of_a_neighbour(
    site: Site, victim: Json, name: str, token: str, answer: str
) -> None:
    log = await said(site.world.api, site.pods, caller(site, name, victim, token))
    assert log.splitlines()[-1] == answer
