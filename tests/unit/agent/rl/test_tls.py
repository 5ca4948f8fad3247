"""The trainers' port shows itself as wr-grpc does: by a certificate of its own, or by files that rotate."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from localcluster.certificates import Authority, Leaf
from weightrollout.agent.caller_flags import CallerAccess
from weightrollout.agent.callers import https_of
from weightrollout.api.callers import AGENT_TLS_NAME
from weightrollout.engine.server_tls import FilesUnusable

HOST = "agents.example"


def write(folder: Path, authority: Authority, leaf: Leaf) -> None:
    for name, data in (
        ("ca.crt", authority.certificate),
        ("tls.crt", leaf.certificate),
        ("tls.key", leaf.key),
    ):
        (folder / f"{name}.new").write_bytes(data)
        (folder / f"{name}.new").replace(folder / name)


def by_files(folder: Path) -> CallerAccess:
    return CallerAccess(
        certificate=folder / "tls.crt",
        key=folder / "tls.key",
        client_ca=folder / "ca.crt",
        client_names=("trainer.example",),
    )


@asynccontextmanager
async def listening(access: CallerAccess) -> AsyncIterator[int]:
    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(1))
        writer.close()

    server = await asyncio.start_server(hear, "127.0.0.1", 0, ssl=https_of(access))
    async with server:
        yield server.sockets[0].getsockname()[1]


async def spoken(port: int, context: ssl.SSLContext, name: str = HOST) -> bytes:
    """Two bytes of an answer need both sides to accept the other's certificate."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname=name
    )
    try:
        writer.write(b"x")
        return await reader.read(1)
    finally:
        writer.close()


async def refused(port: int, context: ssl.SSLContext) -> bool:
    try:
        return await spoken(port, context) == b""
    except (ssl.SSLError, ConnectionResetError):
        return True


def caller(folder: Path, authority: Authority, leaf: Leaf | None) -> ssl.SSLContext:
    ca = folder / "caller-ca.crt"
    ca.write_bytes(authority.certificate)
    context = ssl.create_default_context(cafile=str(ca))
    if leaf is not None:
        pair = folder / "caller.pem"
        pair.write_bytes(leaf.key + leaf.certificate)
        context.load_cert_chain(pair)
    return context


def test_without_a_rule_about_callers_there_is_no_tls_and_main_allows_loopback_alone() -> None:
    assert https_of(CallerAccess()) is None


async def test_certificate_of_its_own_is_shown(tmp_path: Path) -> None:
    access = CallerAccess("ns", "chat-0", "uid", accounts=("system:serviceaccount:ns:op",))
    async with listening(access) as port:
        shown = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))
        ca = tmp_path / "seen.crt"
        ca.write_text(shown)
        context = ssl.create_default_context(cafile=str(ca))
        assert await spoken(port, context, AGENT_TLS_NAME) == b"x"


async def test_caller_without_a_certificate_of_the_authority_is_refused(tmp_path: Path) -> None:
    authority, other = Authority(), Authority()
    write(tmp_path, authority, authority.issue("agent", hosts=[HOST]))
    async with listening(by_files(tmp_path)) as port:
        trainer = authority.issue("trainer", hosts=["trainer.example"])
        assert await spoken(port, caller(tmp_path, authority, trainer)) == b"x"
        for leaf in (None, other.issue("trainer", hosts=["trainer.example"])):
            assert await refused(port, caller(tmp_path, authority, leaf))


async def test_files_that_rotate_are_shown_to_the_next_connection(tmp_path: Path) -> None:
    authority, newer = Authority(), Authority()
    write(tmp_path, authority, authority.issue("agent", hosts=[HOST]))
    async with listening(by_files(tmp_path)) as port:
        write(tmp_path, newer, newer.issue("agent", hosts=[HOST]))
        trainer = newer.issue("trainer", hosts=["trainer.example"])
        assert await spoken(port, caller(tmp_path, newer, trainer)) == b"x"
        (tmp_path / "tls.crt").write_text("half a file")
        assert await spoken(port, caller(tmp_path, newer, trainer)) == b"x", "the last good ones"


def test_files_that_were_never_good_end_the_agent(tmp_path: Path) -> None:
    with pytest.raises(FilesUnusable):
        https_of(by_files(tmp_path))
