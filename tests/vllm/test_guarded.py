"""The set-up Guarded on a real vLLM: its Python frontend in development mode, our middleware, an agent over the RL routes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from localcluster.waiting import eventually
from realvllm import families, tiny
from realvllm.client import Client, difference
from realvllm.engine import engine
from realvllm.guarded import guarded
from realvllm.launch import ADDRESS, Frontend, Launch
from realvllm.pod import RealPod, halts_in, real_pod
from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.exposure_flags import PodAddress, http_door
from weightrollout.plugin.guard import is_public

HEADER: Final = "x-weightrollout-version"
PACED: Final = {"REALVLLM_STEP_SECONDS": "0.01"}
#: The first answer of a process on a busy machine.
PATIENT_S: Final = 300.0
#: A long answer takes so many steps, each of `PACED`.
LONG: Final = 200


@dataclass(frozen=True)
class Guarded:
    pod: RealPod
    token: Path

    async def ask(self, path: str, *, token: bool = False, **fields: Any) -> tuple[int, str, str]:
        """Status, text, and the version that the answer names."""
        headers = {"Authorization": f"Bearer {self.token.read_text().strip()}"} if token else {}
        method = fields.pop("method", "POST")
        timeout = aiohttp.ClientTimeout(total=PATIENT_S)
        url = f"{self.pod.running.http_url}{path}"
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.request(method, url, **fields) as reply,
        ):
            return reply.status, await reply.text(), reply.headers.get(HEADER, "")

    async def complete(self, max_tokens: int = 4) -> str:
        """The version that the answer names."""
        body = {"model": str(self.pod.running.launch.model), "prompt": "hello world"}
        status, text, version = await self.ask(
            "/v1/completions", json={**body, "max_tokens": max_tokens}
        )
        assert status == 200, text
        return version


@pytest.fixture(scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    made = tiny.pair(families.ENDLESS)
    token = folder / "token"
    environment = {**PACED, **halts_in(folder)}
    launch = Launch(made.a.target, environment=environment, max_model_tokens=1024)
    flags = ("--engine-protocol=http", f"--engine-token-file={token}", f"--pod-ip={ADDRESS}")
    checkpoints = {"a": made.a.target, "b": made.b.target}
    async with (
        engine(folder / "engine", guarded(launch, token)) as running,
        real_pod(folder, running, checkpoints, flags) as pod,
    ):
        yield Guarded(pod, token)


async def test_neighbour_infers_and_gets_to_no_other_route(ground: Guarded) -> None:
    status, text, _ = await ground.ask("/openapi.json", token=True, method="GET")
    assert status == 200
    known = {path for path in json.loads(text)["paths"] if "{" not in path}
    assert {"/pause", "/collective_rpc", "/update_weights", "/server_info"} <= known
    for path in known:
        for method in ("GET", "POST"):
            status, text, _ = await ground.ask(path, method=method)
            assert (status == 401) is not is_public(path), (path, method, status, text)
    assert await ground.complete() == "default"


async def test_agent_finds_the_guard_in_place_and_swaps(ground: Guarded) -> None:
    pod = ground.pod
    await pod.hello()
    state = await pod.until(lambda it: it.engine.reachable and it.ready)
    assert state.incompatible_reason == "", state.incompatible_message
    ended = await pod.attempt("b")
    assert ended is not None
    assert ended.outcome == "Committed", ended
    assert await ground.complete() == "v-b"
    _, text, _ = await ground.ask("/weight_info", token=True, method="GET")
    assert json.loads(text) == {"weight_version": "v-b"}


async def test_answer_that_a_swap_fell_into_names_both_versions(ground: Guarded) -> None:
    pod = ground.pod
    await pod.converge("b")
    client = Client(pod.running.http_url, str(pod.running.launch.model))
    long = asyncio.create_task(ground.complete(LONG))

    async def runs() -> bool:
        return (await client.metrics(deadline_s=PATIENT_S))["vllm:num_requests_running"] > 0

    await eventually(runs, PATIENT_S, "the long answer has begun")
    ended = await pod.attempt("a")
    assert ended is not None
    assert ended.outcome == "Committed", ended
    assert await long == "v-b, v-a"
    assert await ground.complete() == "v-a"


async def test_swapped_engine_answers_as_a_fresh_process(ground: Guarded, tmp_path: Path) -> None:
    await ground.pod.converge("b")
    swapped = await ground.pod.answers()
    launch = guarded(Launch(ground.pod.checkpoints["b"], "", max_model_tokens=1024), ground.token)
    async with engine(tmp_path, launch) as running:
        client = Client(running.http_url, str(running.launch.model))
        assert difference(swapped, await client.answers(deadline_s=PATIENT_S)) == 0.0


async def test_same_question_finds_an_engine_without_a_guard(tmp_path: Path) -> None:
    """Its development mode is open, and nothing was touched by asking."""
    made = tiny.pair(families.ENDLESS)
    async with engine(tmp_path, Launch(made.a.target, frontend=Frontend.PYTHON)) as running:
        door = http_door(PodAddress(ADDRESS), running.http_url, EngineAccess())
        refusal, certain = await door.ask_at(ADDRESS)
        assert certain
        assert refusal is not None
        async with (
            aiohttp.ClientSession(running.http_url) as session,
            session.get("/is_paused") as reply,
        ):
            assert await reply.json() == {"is_paused": False}
