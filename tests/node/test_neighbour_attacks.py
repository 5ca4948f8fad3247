"""A pod of the same namespace, with its own ServiceAccount and all that it can reach, moves no weights."""

import pytest

from node.product import GRPC, HTTP
from node.site import Site
from node.toys import once, said
from weightrollout.api import names

pytestmark = pytest.mark.timeout(600)

#: With the certificate that the agent shows, as the operator does it at its first contact, but without the operator's token.
CALL = """
import ssl, sys, grpc
from weightrollout.wire.weightrollout.agent.v1 import agent_pb2, agent_pb2_grpc
address, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
pem = ssl.get_server_certificate((address, port))
from cryptography import x509
name = x509.load_pem_x509_certificate(pem.encode())
"""


@pytest.fixture(scope="module")
async def address(site: Site) -> str:
    """Of the only pod of a fleet."""
    await site.deploy(site.workload("victim", replicas=1))
    pod, *_ = await site.world.pods("victim")
    return str(pod["status"]["podIP"])


@pytest.mark.parametrize("port", [GRPC, HTTP])
async def test_engine_on_loopback_cannot_be_reached_by_a_neighbour(
    site: Site, address: str, port: int
) -> None:
    neighbour = once(f"neighbour-{port}", "dial", f"{address}:{port}")
    log = await said(site.world.api, site.pods, neighbour)
    assert log.startswith("closed:")


async def test_agent_that_a_neighbour_reaches_answers_no_call_without_a_token(
    site: Site, address: str
) -> None:
    neighbour = once("neighbour-agent", "dial", f"{address}:{names.DEFAULT_GRPC_PORT}")
    assert await said(site.world.api, site.pods, neighbour) == "open\n"
