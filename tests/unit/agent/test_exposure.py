"""Is the control port open to neighbours? Found out as a neighbour would, and refused where it is."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import grpc.aio
import pytest

from localcluster.certificates import Authority
from localcluster.waiting import eventually
from onepod import ENDS_S, Refusal, one_pod
from weightrollout.agent import exposure
from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.exposure import Exposure
from weightrollout.agent.exposure_flags import PodAddress, door
from weightrollout.agent.settings import BadFlag, check, parse
from weightrollout.agent.state import Bell, Board
from weightrollout.clock import SystemClock
from weightrollout.wire.vllm import control_pb2 as pb

SERVICE = "vllm.Control"
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Papers:
    ca: Path
    server: grpc.ServerCredentials


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def papers(authority: Authority, folder: Path, *, asks_who_calls: bool) -> Papers:
    leaf = authority.issue("engine", hosts=(HOST,))
    ca = folder / "ca.pem"
    ca.write_bytes(authority.certificate)
    pair = [(leaf.key, leaf.certificate)]
    server = grpc.ssl_server_credentials(pair, authority.certificate, asks_who_calls)
    return Papers(ca, server)


@asynccontextmanager
async def control_port(
    host: str = HOST, credentials: grpc.ServerCredentials | None = None, service: str = SERVICE
) -> AsyncIterator[int]:
    """Something that answers GetServerInfo, on a port of its own."""

    async def info(_: bytes, __: Any) -> bytes:
        return pb.ServerInfo(instance_id="engine-1").SerializeToString()

    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(info)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service, {"GetServerInfo": handler}),)
    )
    at = f"[{host}]:0" if ":" in host else f"{host}:0"
    port = server.add_secure_port(at, credentials) if credentials else server.add_insecure_port(at)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


async def found(port: int, *, pod: PodAddress | None = None, ca: Path | None = None) -> str | None:
    """Why swaps would be refused, in an agent that was told so."""
    board = Board(Bell())
    watch = cast("EngineWatch", SimpleNamespace(sight=SimpleNamespace(instance="engine-1")))
    asked = door(pod or PodAddress(HOST), f"{HOST}:{port}", SERVICE, EngineAccess(ca=ca))
    await Exposure(asked, board, watch, SystemClock()).ask()
    refusal = board.exposed.refusal if board.exposed is not None else None
    assert refusal is None or refusal.reason == "ControlPortExposed"
    return refusal.message if refusal is not None else None


async def test_port_that_answers_everybody_is_exposed_and_the_message_says_the_ways_out() -> None:
    async with control_port() as port:
        said = await found(port)
        assert said is not None
        for word in (f"{HOST}:{port}", "--host=127.0.0.1", "--ssl-cert-reqs=2", "NetworkPolicy"):
            assert word in said
        assert "--acknowledge-exposed-control-port" in said


async def test_port_on_another_address_than_the_pods_is_closed() -> None:
    async with control_port() as port:
        assert await found(port, pod=PodAddress("127.0.0.2")) is None


async def test_every_address_of_the_pod_is_tried() -> None:
    async with control_port() as port:
        assert await found(port, pod=PodAddress("127.0.0.2,127.0.0.1")) is not None


async def test_address_may_be_of_ipv6() -> None:
    async with control_port("::1") as port:
        assert "[::1]" in (await found(port, pod=PodAddress("::1")) or "")


async def test_acknowledged_or_without_a_pod_address_nothing_is_asked() -> None:
    async with control_port() as port:
        assert await found(port, pod=PodAddress(HOST, acknowledged=True)) is None
        assert await found(port, pod=PodAddress()) is None


async def test_tls_without_a_client_certificate_is_exposed(
    authority: Authority, tmp_path: Path
) -> None:
    own = papers(authority, tmp_path, asks_who_calls=False)
    async with control_port(credentials=own.server) as port:
        said = await found(port, ca=own.ca)
        assert "over TLS without a client certificate" in (said or "")


async def test_tls_that_asks_who_calls_is_closed(authority: Authority, tmp_path: Path) -> None:
    own = papers(authority, tmp_path, asks_who_calls=True)
    async with control_port(credentials=own.server) as port:
        assert await found(port, ca=own.ca) is None


async def test_another_service_on_that_port_is_no_control_port() -> None:
    async with control_port(service="other.Service") as port:
        assert await found(port) is None


async def test_port_that_takes_connections_and_says_nothing_counts_as_open_until_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exposure, "ASK_S", 0.3)
    with socket.create_server((HOST, 0)) as listens:
        port = listens.getsockname()[1]
        assert "not known yet" in (await found(port) or "")
    assert await found(port) is None


@pytest.mark.parametrize("address", ["chat-0", "10.0.0.300", "10.0.0.1;fd00::1"])
def test_pod_address_that_is_none_is_refused_at_the_start(tmp_path: Path, address: str) -> None:
    flags = (f"--staging={tmp_path}", f"--handover={tmp_path}", f"--pod-ip={address}")
    with pytest.raises(BadFlag, match="is no IP address"):
        check(parse(flags))


@pytest.mark.slow
async def test_agent_of_an_exposed_engine_stages_and_swaps_nothing_and_says_why(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path, agent_flags=("--pod-ip=127.0.0.1",)) as pod:
        await pod.hello()
        state = await pod.until(lambda it: it.incompatible_reason != "")
        assert state.incompatible_reason == "ControlPortExposed"
        assert state.ready  # what serves goes on serving
        pod.publish("b")  # and so its digest is known
        for call in (pod.stage("b"), pod.reserve("b")):
            with pytest.raises(Refusal, match="ControlPortExposed"):
                await call
        await pod.engine.restart()
        state = await pod.until(lambda it: it.engine.instance == pod.engine.instance)
        await pod.until(lambda it: it.incompatible_reason == "ControlPortExposed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        ("--pod-ip=127.0.0.2",),
        ("--pod-ip=127.0.0.1", "--acknowledge-exposed-control-port"),
        (),
    ],
)
async def test_agent_swaps_where_the_port_is_closed_or_acknowledged_or_not_asked_for(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    async with one_pod(tmp_path, agent_flags=flags) as pod:
        await pod.hello()
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"


@pytest.mark.slow
async def test_port_that_is_opened_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposure, "AGAIN_S", 0.1)
    async with one_pod(tmp_path, agent_flags=("--pod-ip=127.0.0.2",)) as pod:
        await pod.hello()
        await pod.stage("b")
        async with _forwarding("127.0.0.2", pod.engine.grpc_port):
            await pod.until(lambda it: it.incompatible_reason == "ControlPortExposed")
            with pytest.raises(Refusal, match="ControlPortExposed"):
                await pod.reserve("b")
        await pod.until(lambda it: it.incompatible_reason == "")

        async def taken() -> bool:
            await pod.reserve("b")
            return True

        await eventually(taken, ENDS_S, "it is closed again")


@asynccontextmanager
async def _forwarding(host: str, port: int) -> AsyncIterator[None]:
    """As a proxy that somebody adds to the pod: HOST:PORT leads to 127.0.0.1:PORT."""
    joined: set[asyncio.Task[None]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (this := asyncio.current_task()) is not None:
            joined.add(this)
        far_reader, far_writer = await asyncio.open_connection(HOST, port)
        ways = [asyncio.ensure_future(pump(reader, far_writer))]
        ways.append(asyncio.ensure_future(pump(far_reader, writer)))
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ways:
                each.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in (writer, far_writer):
                end.close()
            await asyncio.gather(
                writer.wait_closed(), far_writer.wait_closed(), return_exceptions=True
            )

    async with await asyncio.start_server(join, host, port):
        yield
        for each in joined:
            each.cancel()
        await asyncio.gather(*joined, return_exceptions=True)
