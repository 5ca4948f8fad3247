"""Credentials are replaced while the operator runs: it takes the new ones, and says so when it cannot."""

import json
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from apifront import ApiFront, api_front, refusal
from localcluster.certificates import Authority
from localcluster.kubeconfig import Access, write_kubeconfig
from weightrollout.kube import connection as connection_module
from weightrollout.kube.client import Client, connect
from weightrollout.kube.errors import Forbidden, Unavailable

POD = "/api/v1/namespaces/ns/pods/chat-0"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "RELOAD_S", 0.0)


@asynccontextmanager
async def with_token(front: ApiFront, folder: Path, token: str) -> AsyncIterator[Client]:
    kubeconfig = write_kubeconfig(folder / "own", Access(front.url, token=token))
    async with connect("ns", kubeconfig) as client:
        yield client


def only(front: ApiFront, token: str) -> None:
    """From now on nobody else is let in."""
    front.fault = lambda request: (
        None
        if request.headers.get("Authorization") == f"Bearer {token}"
        else refusal(401, "Unauthorized")
    )


async def test_token_that_expired_is_replaced_by_the_one_in_the_file(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, _):
        front.put(POD.rsplit("/", 1)[0], {"metadata": {"name": "chat-0"}})
        async with with_token(front, tmp_path, "old") as client:
            only(front, "old")
            await client.get(POD)
            only(front, "new")
            write_kubeconfig(tmp_path / "own", Access(front.url, token="new"))
            assert (await client.get(POD))["metadata"]["name"] == "chat-0"
            async with client.beside().stream(POD, {}, 5.0):
                pass  # every other call finds the new one as well


async def test_token_that_stays_refused_is_told_and_not_read_in_a_loop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with api_front(tmp_path) as (front, _):
        only(front, "new")
        async with with_token(front, tmp_path, "old") as client:
            with caplog.at_level(logging.WARNING), pytest.raises(Forbidden, match="401"):
                await client.get(POD)
            assert front.requests == [("GET", POD)] * 2
            assert f"credentials were read again from {tmp_path / 'own'}" in caplog.text


async def test_file_that_is_half_written_is_read_again_by_the_next_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with api_front(tmp_path) as (front, _):
        front.put(POD.rsplit("/", 1)[0], {"metadata": {"name": "chat-0"}})
        async with with_token(front, tmp_path, "old") as client:
            only(front, "new")
            (tmp_path / "own").write_text("apiVersion: v1\nclusters: [{name")
            with caplog.at_level(logging.WARNING), pytest.raises(Forbidden):
                await client.get(POD)
            assert "cannot be used" in caplog.text
            write_kubeconfig(tmp_path / "own", Access(front.url, token="new"))
            await client.get(POD)


async def answer(request: web.Request) -> web.Response:
    return web.json_response({"who": "server"})


@asynccontextmanager
async def served_with(authority: Authority, folder: Path, port: int = 0) -> AsyncIterator[int]:
    """A TLS server with a certificate of this authority; its port."""
    leaf = authority.issue("kube-apiserver", hosts=("127.0.0.1",))
    pem = folder / "server.pem"
    pem.write_bytes(leaf.certificate + b"\n" + leaf.key)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pem)
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls, reuse_address=True).start()
    yield runner.addresses[0][1]
    await runner.cleanup()


async def test_authority_that_was_rotated_is_taken_from_the_file(tmp_path: Path) -> None:
    old, new = Authority(), Authority()
    file = tmp_path / "own"
    async with served_with(old, tmp_path) as port:
        server = f"https://127.0.0.1:{port}"
        write_kubeconfig(file, Access(server, ca_pem=old.certificate))
        async with connect("ns", file) as client:
            await client.get(POD)
    async with served_with(new, tmp_path, port), connect("ns", file) as client:
        with pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
            await client.get(POD)
        write_kubeconfig(file, Access(server, ca_pem=new.certificate))
        assert json.dumps(await client.get(POD)) == '{"who": "server"}'


async def test_renewal_is_told_once_to_those_who_bring_their_own_client(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, _), with_token(front, tmp_path, "old") as client:
        told: list[str] = []
        client.connection.subscribe(lambda: told.append("renewed"))
        used = client.connection.api
        assert await client.connection.renew(used, "401")
        assert await client.connection.renew(used, "401")
        assert told == ["renewed"]
