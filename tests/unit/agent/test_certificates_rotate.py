"""Mutual TLS by files: who is let in, and that new files are taken while the agent runs."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import grpc.aio
import pytest

from agent_double import AgentDouble
from guarded import HELLO, access_by_file, bearer, called, guarded, refusal_of
from issuing import Issuer
from localcluster.certificates import Authority, Leaf
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.agent.callers import Callers
from weightrollout.api.callers import CallerReason
from weightrollout.clock import SystemClock
from weightrollout.controller.agent_access import certificate_of
from weightrollout.engine.server_tls import FilesUnusable
from weightrollout.wire.agent import agent_pb2 as pb

AGENTS = "agents.example"
OPERATOR = "operator.example"


@dataclass
class Files:
    """What a cert-manager keeps in a mounted Secret."""

    folder: Path

    def write(self, authority: Authority, leaf: Leaf) -> None:
        for name, data in (
            ("ca.crt", authority.certificate),
            ("tls.crt", leaf.certificate),
            ("tls.key", leaf.key),
        ):
            new = self.folder / f"{name}.new"
            new.write_bytes(data)
            new.replace(self.folder / name)

    def access(self, *client_names: str) -> CallerAccess:
        return CallerAccess(
            certificate=self.folder / "tls.crt",
            key=self.folder / "tls.key",
            client_ca=self.folder / "ca.crt",
            client_names=client_names,
        )


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def files(tmp_path: Path, authority: Authority) -> Files:
    found = Files(tmp_path)
    found.write(authority, authority.issue("agent", hosts=[AGENTS]))
    return found


@pytest.fixture
async def target(files: Files) -> AsyncIterator[str]:
    async with guarded(files.access(OPERATOR)) as found:
        yield found


async def hello(target: str, root: Authority, leaf: Leaf | None) -> None:
    async with called(target, root.certificate, leaf, AGENTS) as stub:
        await stub.Hello(HELLO, timeout=10)


async def test_certificate_of_the_authority_with_an_allowed_name_is_let_in(
    target: str, authority: Authority
) -> None:
    await hello(target, authority, authority.issue("x", hosts=[OPERATOR]))


async def test_another_certificate_of_the_same_authority_is_denied_by_its_name(
    target: str, authority: Authority
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await hello(target, authority, authority.issue(OPERATOR, hosts=["neighbour.example"]))
    reason, message = refusal_of(error.value)
    assert error.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert reason == CallerReason.OTHER_CERTIFICATE
    assert "neighbour.example" in message


@pytest.mark.parametrize("shown", ["none", "foreign"])
async def test_caller_without_a_certificate_of_the_authority_gets_no_connection(
    target: str, authority: Authority, shown: str
) -> None:
    leaf = Authority().issue("x", hosts=[OPERATOR]) if shown == "foreign" else None
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await hello(target, authority, leaf)
    assert error.value.code() is grpc.StatusCode.UNAVAILABLE


async def test_where_both_are_asked_for_one_alone_does_not_do(
    files: Files, authority: Authority, tmp_path: Path
) -> None:
    issuer, shown = Issuer(), authority.issue("x", hosts=[OPERATOR])
    both = access_by_file(
        issuer,
        tmp_path,
        certificate=files.access().certificate,
        key=files.access().key,
        client_ca=files.access().client_ca,
        client_names=(OPERATOR,),
    )
    async with (
        guarded(both) as target,
        called(target, authority.certificate, shown, AGENTS) as stub,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Hello(HELLO, timeout=10)
        assert refusal_of(error.value)[0] == CallerReason.TOKEN_MISSING
        await stub.Hello(HELLO, timeout=10, metadata=bearer(issuer.token()))


async def test_new_files_are_shown_to_new_connections_and_open_streams_go_on(
    files: Files, authority: Authority
) -> None:
    double, later = AgentDouble(), Authority()
    async with guarded(files.access(OPERATOR), double) as target:
        async with called(
            target, authority.certificate, authority.issue("x", hosts=[OPERATOR]), AGENTS
        ) as stub:
            stream = stub.Watch(pb.WatchRequest())
            await stream.read()
            files.write(later, later.issue("agent", hosts=[AGENTS]))

            await hello(target, later, later.issue("x", hosts=[OPERATOR]))
            double.say(pb.AgentState(agent_version="later"))
            said = await asyncio.wait_for(stream.read(), 10)
            assert isinstance(said, pb.AgentState)
            assert said.agent_version == "later"

        with pytest.raises(grpc.aio.AioRpcError):
            await hello(target, authority, authority.issue("x", hosts=[OPERATOR]))


@pytest.mark.parametrize("broken", ["tls.key", "tls.crt", "ca.crt"])
@pytest.mark.parametrize("how", ["half", "gone", "foreign"])
async def test_files_that_cannot_be_used_leave_the_earlier_ones_in_force(
    files: Files, authority: Authority, broken: str, how: str
) -> None:
    shown = authority.issue("x", hosts=[OPERATOR])
    async with guarded(files.access(OPERATOR)) as target:
        await hello(target, authority, shown)
        path = files.folder / broken
        match how:
            case "half":
                path.write_bytes(path.read_bytes()[:60])
            case "gone":
                path.unlink()
            case _ if broken == "ca.crt":
                path.write_bytes(b"no certificate\n")
            case _:
                other = Authority().issue("agent", hosts=[AGENTS])
                path.write_bytes(other.key if broken == "tls.key" else other.certificate)
        await hello(target, authority, shown)


def test_files_that_cannot_be_used_at_the_start_are_named(files: Files) -> None:
    (files.folder / "tls.key").write_bytes(Authority().issue("agent").key)
    with pytest.raises(FilesUnusable, match=r"tls\.crt and .*tls\.key do not belong together"):
        Callers(files.access(OPERATOR), SystemClock())


async def test_own_certificate_is_another_one_after_every_start(tmp_path: Path) -> None:
    access = access_by_file(Issuer(), tmp_path)
    async with guarded(access) as first, guarded(access) as second:
        assert await certificate_of(first) == await certificate_of(first)
        assert await certificate_of(first) != await certificate_of(second)
