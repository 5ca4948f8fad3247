"""An engine on loopback behind the example's HAProxy: prompts pass, the control port does not, and swaps go on."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import pytest

import debian
from checkpoints import fingerprint
from localcluster.waiting import eventually
from onepod import ENDS_S, OnePod, one_pod, own_address
from proxy import haproxy
from simulator.answers import explain
from tiers import unavailable
from weightrollout.engine.errors import EngineError
from weightrollout.engine.vllm_grpc import VllmGrpc

pytestmark = pytest.mark.slow

PORT: Final = 8080
PROMPT: Final = "tell me a long story"
ASK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Ground:
    pod: OnePod
    address: str  # the pod's, as neighbours know it: the engine does not listen there

    @property
    def url(self) -> str:
        return f"http://{self.address}:{PORT}"


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        return haproxy.fetch()
    except debian.NotThere as missing:
        unavailable(str(missing))


@pytest.fixture
async def ground(program: Path, tmp_path: Path) -> AsyncIterator[Ground]:
    address = own_address()
    flags = (f"--pod-ip={address}",)
    (tmp_path / "proxy").mkdir()
    async with one_pod(tmp_path, agent_flags=flags, token_seconds=0.02, update_seconds=0.5) as pod:
        engine = f"{pod.engine.address}:{pod.engine.http_port}"
        with haproxy.running(program, tmp_path / "proxy", f"{address}:{PORT}", engine):
            await pod.until(lambda state: state.ready)
            yield Ground(pod, address)


async def story(url: str, tokens: int, begun: asyncio.Event | None = None) -> list[str]:
    """The words of a stream. ClientError, ValueError: it was cut or refused."""
    body = {"prompt": PROMPT, "max_tokens": tokens, "stream": True}
    words: list[str] = []
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{url}/v1/completions", json=body) as answer,
    ):
        if answer.status != 200:
            raise ValueError(f"HTTP {answer.status}")
        async for line in answer.content:
            data = line.decode().strip().removeprefix("data: ")
            if data == "[DONE]":
                return words
            if data and (word := json.loads(data)["choices"][0]["text"]):
                words.append(word)
                if begun is not None:
                    begun.set()
    raise ValueError(f"cut after {len(words)} words")


async def status_of(url: str, path: str, **headers: str) -> int:
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url + path) as answer:
        return answer.status


def test_the_example_is_a_configuration_without_a_warning(program: Path, tmp_path: Path) -> None:
    assert haproxy.check(program, tmp_path) == ""


async def test_stream_passes_and_goes_on_through_a_swap(ground: Ground) -> None:
    pod, begun = ground.pod, asyncio.Event()
    await pod.hello()
    await pod.stage("b")
    stream = asyncio.create_task(story(ground.url, 150, begun))
    await asyncio.wait_for(begun.wait(), ENDS_S)
    await pod.reserve("b", in_service=True)
    assert (await pod.swap("b", drain_seconds=0.0)).outcome == "Committed"
    words = await asyncio.wait_for(stream, ENDS_S)
    known = {name: fingerprint(pod.checkpoints[name]) for name in ("a", "b")}
    assert len(words) == 150
    assert explain(words, PROMPT, known) == ("a", "b")


async def test_neighbour_reaches_neither_the_control_port_nor_grpc_through_the_proxy(
    ground: Ground,
) -> None:
    for port in (ground.pod.engine.grpc_port, PORT):
        neighbour = VllmGrpc(f"{ground.address}:{port}")
        with pytest.raises(EngineError):
            await neighbour.info(deadline_s=ASK_S)
        await neighbour.close()
    inside = VllmGrpc(ground.pod.engine.grpc_target)
    assert (await inside.info(deadline_s=ASK_S)).instance
    await inside.close()


async def test_agent_finds_its_control_port_closed_on_the_pods_address(ground: Ground) -> None:
    await ground.pod.hello()
    assert (await ground.pod.bring("b", "txn-1")).outcome == "Committed"
    assert (await ground.pod.state()).incompatible_reason == ""


async def test_only_what_clients_may_ask_is_handed_on(ground: Ground) -> None:
    assert await status_of(ground.url, "/v1/models") == 200
    assert await status_of(ground.url, "/health") == 200
    for path in ("/simulator/state", "/metrics", "/collective_rpc", "/pause", "/v1/../metrics"):
        assert await status_of(ground.url, path) == 404, path
    grpc = {"Content-Type": "application/grpc"}
    assert await status_of(ground.url, "/v1/models", **grpc) == 404


async def test_engine_that_is_started_again_is_reached_again(ground: Ground) -> None:
    assert await story(ground.url, 3)
    ground.pod.engine.kill()
    await ground.pod.engine.exit_code()
    with pytest.raises(ValueError, match="HTTP 503"):
        await story(ground.url, 3)
    await ground.pod.engine.restart()

    async def answers() -> bool:
        return len(await story(ground.url, 3)) == 3

    await eventually(answers, ENDS_S, "the proxy has found it")
