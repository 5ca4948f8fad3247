"""TLS and the API key of the real frontend, through our own adapters."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.conftest import StartFrontend
from contract.papers import NAME, Papers, write_papers
from contract.subjects import Pair
from contract.under_test import CALL_S
from frontend.process import FrontendProcess
from weightrollout.engine.errors import EngineRefused, EngineUnreachable
from weightrollout.engine.tls import REFUSED, TlsFiles
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.engine.vllm_http import VllmHttp

PROMPT = "tell me a story"


@pytest.fixture
def papers(tmp_path: Path, all_papers: Papers) -> Papers:
    """A copy that a test may change."""
    for path in all_papers.folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return Papers(tmp_path)


@pytest.fixture(scope="module")
def all_papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return write_papers(tmp_path_factory.mktemp("papers"))


@pytest.fixture(scope="module")
async def serves_tls(
    frontend: StartFrontend, simulated_pair: Pair, all_papers: Papers
) -> AsyncIterator[FrontendProcess]:
    options = (*all_papers.engine_flags(asks_who_calls=False), "--api-key", "sesame")
    async with frontend(model=simulated_pair.a, backend="ipc", options=options) as process:
        yield process


@pytest.fixture(scope="module")
async def asks_who_calls(
    frontend: StartFrontend, simulated_pair: Pair, all_papers: Papers
) -> AsyncIterator[FrontendProcess]:
    options = all_papers.engine_flags(asks_who_calls=True)
    async with frontend(model=simulated_pair.a, backend="ipc", options=options) as process:
        yield process


async def ask(process: FrontendProcess, tls: TlsFiles | None) -> None:
    """One control call by an adapter of its own."""
    adapter = VllmGrpc(process.grpc_target, tls=tls)
    try:
        assert (await adapter.info(deadline_s=CALL_S)).instance
    finally:
        await adapter.close()


async def prompt(process: FrontendProcess, tls: TlsFiles, api_key: Path | None = None) -> str:
    adapter = VllmHttp(process.http_url.replace("http:", "https:"), tls, api_key)
    try:
        return await adapter.complete(PROMPT, max_tokens=2, deadline_s=CALL_S)
    finally:
        await adapter.close()


async def test_engine_with_a_trusted_certificate_is_asked(
    serves_tls: FrontendProcess, papers: Papers
) -> None:
    await ask(serves_tls, papers.tls())


@pytest.mark.parametrize(
    ("ca", "name", "words"),
    [
        ("other", NAME, r"not accepted by .*other\.pem: .*issuer"),
        ("ca", "", r"not accepted by .*: IP address mismatch.*127\.0\.0\.1"),
        ("ca", "another.example", r"not accepted by .*: Hostname mismatch.*another\.example"),
    ],
)
async def test_engine_that_is_not_whom_we_trust_gets_no_call(
    serves_tls: FrontendProcess, papers: Papers, ca: str, name: str, words: str
) -> None:
    with pytest.raises(EngineUnreachable, match=words) as caught:
        await ask(serves_tls, papers.tls(ca, name=name))
    assert caught.value.reason == REFUSED


async def test_agent_without_tls_is_told_that_the_engine_has_it(
    serves_tls: FrontendProcess,
) -> None:
    with pytest.raises(EngineUnreachable, match=r"without TLS.*--engine-ca"):
        await ask(serves_tls, None)


async def test_agent_with_tls_is_told_that_the_engine_has_none(
    frontend: StartFrontend, simulated_pair: Pair, papers: Papers
) -> None:
    async with frontend(model=simulated_pair.a, backend="ipc") as plain:
        with pytest.raises(EngineUnreachable, match=r"does not speak TLS.*--ssl-certfile"):
            await ask(plain, papers.tls())


async def test_client_certificate_opens_an_engine_that_asks_for_one(
    asks_who_calls: FrontendProcess, papers: Papers
) -> None:
    await ask(asks_who_calls, papers.tls(agent="agent"))
    assert await prompt(asks_who_calls, papers.tls(agent="agent"))


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (None, r"asks for a client certificate.*--engine-certificate"),
        ("stranger", r"refuses our client certificate"),
    ],
)
async def test_engine_that_asks_who_calls_refuses_others(
    asks_who_calls: FrontendProcess, papers: Papers, agent: str | None, words: str
) -> None:
    with pytest.raises(EngineUnreachable, match=words) as caught:
        await ask(asks_who_calls, papers.tls(agent=agent))
    assert caught.value.reason == REFUSED


async def test_certificate_that_was_replaced_is_used_from_the_next_call_on(
    asks_who_calls: FrontendProcess, papers: Papers
) -> None:
    papers.replace("agent", by="stranger")
    adapter = VllmGrpc(asks_who_calls.grpc_target, tls=papers.tls(agent="agent"))
    with pytest.raises(EngineUnreachable, match="refuses our client certificate"):
        await adapter.info(deadline_s=CALL_S)
    papers.replace("agent", by="renewed")
    assert await adapter.info(deadline_s=CALL_S)
    await adapter.close()


async def test_call_that_runs_while_certificates_are_replaced_goes_on(
    frontend: StartFrontend, simulated_pair: Pair, papers: Papers
) -> None:
    flags = papers.engine_flags(asks_who_calls=True)
    async with frontend(model=simulated_pair.a, options=flags) as process:
        adapter = VllmGrpc(process.grpc_target, tls=papers.tls(agent="agent"))
        inference = VllmHttp(process.http_url.replace("http:", "https:"), papers.tls(agent="agent"))
        story = asyncio.create_task(inference.complete(PROMPT, max_tokens=300, deadline_s=CALL_S))
        papers.replace("agent", by="renewed")
        assert await adapter.info(deadline_s=CALL_S)
        assert await story
        await inference.close()
        await adapter.close()


async def test_certificate_that_can_not_be_read_leaves_the_earlier_one_in_force(
    asks_who_calls: FrontendProcess, papers: Papers, caplog: pytest.LogCaptureFixture
) -> None:
    adapter = VllmGrpc(asks_who_calls.grpc_target, tls=papers.tls(agent="agent"))
    assert await adapter.info(deadline_s=CALL_S)
    papers.pair("agent")[1].write_bytes(papers.pair("stranger")[1].read_bytes())
    assert await adapter.info(deadline_s=CALL_S)
    assert "do not belong together; the earlier ones stay in force" in caplog.text
    await adapter.close()


@pytest.mark.parametrize("missing", ["ca.pem", "agent.pem", "agent.key"])
async def test_file_that_is_missing_is_named(
    asks_who_calls: FrontendProcess, papers: Papers, missing: str
) -> None:
    (papers.folder / missing).unlink()
    with pytest.raises(EngineUnreachable, match=rf"{missing}.*No such file") as caught:
        await ask(asks_who_calls, papers.tls(agent="agent"))
    assert caught.value.reason == REFUSED


async def test_api_key_guards_prompts_and_not_the_control_port(
    serves_tls: FrontendProcess, papers: Papers
) -> None:
    key = papers.folder / "api-key"
    with pytest.raises(EngineRefused, match=r"ApiKeyRefused.*--engine-api-key-file"):
        await prompt(serves_tls, papers.tls())
    key.write_text("sesame\n")
    assert await prompt(serves_tls, papers.tls(), key)
    key.write_text("barley")
    with pytest.raises(EngineRefused, match="ApiKeyRefused"):
        await prompt(serves_tls, papers.tls(), key)
    await ask(serves_tls, papers.tls())


async def test_prompts_do_not_go_to_an_engine_that_is_not_whom_we_trust(
    serves_tls: FrontendProcess, papers: Papers
) -> None:
    with pytest.raises(EngineUnreachable, match="issuer") as caught:
        await prompt(serves_tls, papers.tls("other"))
    assert caught.value.reason == REFUSED
