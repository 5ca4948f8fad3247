"""The operator knows whom it talks to, as far as it can be known: by what it saw first, or by an authority."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_double import AgentDouble, served
from guarded import access_by_file, guarded
from issuing import CALLEE, Issuer
from linking import SOON, linked, reached, told
from localcluster.certificates import Authority
from localcluster.waiting import eventually
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.controller import agent_access, agent_line
from weightrollout.controller.agent_access import AgentAccess, certificate_of, fingerprint
from weightrollout.controller.agent_tokens import Tokens
from weightrollout.controller.calls import AgentUnreachable
from weightrollout.engine.tls import TlsFiles, TlsReader
from weightrollout.rollout.fleet import AgentFault, AgentView
from weightrollout.wire.agent import agent_pb2 as pb


async def test_without_tls_only_a_loopback_address_is_talked_to(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(AgentDouble()) as target:
        async with linked(target, AgentAccess(tokens)) as link:
            await reached(link)
        monkeypatch.setattr(agent_access, "is_loopback", lambda target: False)
        async with linked(target, AgentAccess(tokens)) as link:
            await told(link, AgentFault.UNREACHABLE, "AgentWithoutTls", "--operator-account")


class Relay:
    """An address that stays, for agents that come and go behind it."""

    def __init__(self) -> None:
        self.behind = ""
        self._writers: set[asyncio.StreamWriter] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self.behind.rpartition(":")
        try:
            up, down = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        self._writers |= {writer, down}
        await asyncio.gather(_pump(reader, down), _pump(up, writer))

    def cut(self) -> None:
        for writer in self._writers:
            writer.close()
        self._writers.clear()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except OSError:
        pass
    finally:
        sink.close()


@pytest.fixture
async def relay() -> AsyncIterator[tuple[Relay, str]]:
    found = Relay()
    server = await asyncio.start_server(found.accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    yield found, f"127.0.0.1:{port}"
    server.close()
    found.cut()


async def test_another_certificate_in_the_same_container_is_refused(
    issuer: Issuer, tokens: Tokens, tmp_path: Path, relay: tuple[Relay, str]
) -> None:
    """A neighbour that got hold of the pod's address is not given a token."""
    way, address = relay
    access, neighbour = access_by_file(issuer, tmp_path), AgentDouble()
    async with guarded(access) as ours, guarded(access, neighbour) as other:
        way.behind = ours
        async with linked(address, AgentAccess(tokens)) as link:
            await reached(link)
            way.behind = other
            way.cut()
            first, second = [fingerprint(str(await certificate_of(each))) for each in (ours, other)]
            await told(link, AgentFault.UNREACHABLE, "AgentCertificateChanged", first, second)
            way.behind = ours
            await reached(link)
    assert neighbour.hellos == []


async def test_agent_that_is_restarted_is_met_anew_when_the_api_server_says_so(
    issuer: Issuer, tokens: Tokens, tmp_path: Path, relay: tuple[Relay, str]
) -> None:
    way, address = relay
    access = access_by_file(issuer, tmp_path)
    async with guarded(access) as first, guarded(access) as second:
        way.behind = first
        async with linked(address, AgentAccess(tokens)) as link:
            await reached(link)
            way.behind = second
            way.cut()
            await told(link, AgentFault.UNREACHABLE, "AgentCertificateChanged")
            link.set_container("c-2")
            await reached(link)


async def test_pin_outlives_its_connection(
    issuer: Issuer, tokens: Tokens, tmp_path: Path, relay: tuple[Relay, str]
) -> None:
    """A rollout that is deleted and created again, or another term, is no second first contact."""
    way, address = relay
    access, agents = access_by_file(issuer, tmp_path), AgentAccess(tokens)
    async with guarded(access) as first, guarded(access) as second:
        way.behind = first
        async with linked(address, agents) as link:
            await reached(link)
        way.behind = second
        async with linked(address, agents) as link:
            await told(link, AgentFault.UNREACHABLE, "AgentCertificateChanged")


async def test_agent_that_spoke_tls_is_not_talked_to_without(
    issuer: Issuer, tokens: Tokens, tmp_path: Path, relay: tuple[Relay, str]
) -> None:
    way, address = relay
    plain = AgentDouble()
    async with guarded(access_by_file(issuer, tmp_path)) as ours, served(plain) as other:
        way.behind = ours
        async with linked(address, AgentAccess(tokens)) as link:
            await reached(link)
            way.behind = other
            way.cut()
            await told(link, AgentFault.UNREACHABLE, "AgentCertificateChanged", "is none")
    assert plain.hellos == []


def write(folder: Path, authority: Authority) -> None:
    """Both sides' files, of one authority."""
    agent, operator = (
        authority.issue(name, hosts=[f"{name}.example"]) for name in ("agents", "operator")
    )
    for name, data in (
        ("ca.crt", authority.certificate),
        ("agent.crt", agent.certificate),
        ("agent.key", agent.key),
        ("operator.crt", operator.certificate),
        ("operator.key", operator.key),
    ):
        (folder / name).write_bytes(data)


def mutual(folder: Path) -> tuple[CallerAccess, TlsFiles]:
    of_agent = CallerAccess(
        certificate=folder / "agent.crt",
        key=folder / "agent.key",
        client_ca=folder / "ca.crt",
        client_names=("operator.example",),
    )
    of_operator = TlsFiles(
        folder / "ca.crt", folder / "operator.crt", folder / "operator.key", "agents.example"
    )
    return of_agent, of_operator


async def test_new_calls_use_new_certificates_and_streams_go_on(tmp_path: Path) -> None:
    write(tmp_path, Authority())
    of_agent, of_operator = mutual(tmp_path)
    double = AgentDouble()
    access = AgentAccess(None, TlsReader(of_operator, "the agents"))
    async with guarded(of_agent, double) as target, linked(target, access) as link:
        await reached(link)
        await eventually(lambda: double.watchers == 1, SOON, "its stream is open")
        before = link.stub
        write(tmp_path, Authority())
        after = link.stub
        assert after is not before
        assert link.stub is after
        await after.Release(pb.ReleaseRequest(), timeout=SOON)
        assert double.watchers == 1
        assert isinstance(link.seen, AgentView)


async def test_stream_that_outlives_its_certificate_for_long_moves_to_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_line, "RETIRE_S", 0.05)
    write(tmp_path, Authority())
    of_agent, of_operator = mutual(tmp_path)
    double = AgentDouble()
    access = AgentAccess(None, TlsReader(of_operator, "the agents"))
    async with guarded(of_agent, double) as target, linked(target, access) as link:
        await reached(link)
        await eventually(lambda: double.watchers == 1, SOON, "its stream is open")
        write(tmp_path, Authority())
        await link.stub.Release(pb.ReleaseRequest(), timeout=SOON)
        await eventually(lambda: len(double.hellos) == 2, SOON, "it said Hello again")
        await eventually(lambda: double.watchers == 1, SOON, "and watches on the new channel")
        double.say(pb.AgentState(agent_version="double", ready=False))
        await eventually(
            lambda: isinstance(link.seen, AgentView) and not link.seen.ready, SOON, "it hears"
        )


async def test_agent_of_another_authority_is_not_talked_to(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
        write(folder, Authority())
    double = AgentDouble()
    access = AgentAccess(None, TlsReader(mutual(ours)[1], "the agents"))
    async with guarded(mutual(theirs)[0], double) as target, linked(target, access) as link:
        await told(link, AgentFault.UNREACHABLE, "CERTIFICATE_VERIFY_FAILED")
    assert double.hellos == []


async def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    access = AgentAccess(None, TlsReader(mutual(tmp_path)[1], "the agents"))
    with pytest.raises(AgentUnreachable, match=r"operator\.key"):
        await access.open("127.0.0.1:1", CALLEE, "c", None)
