"""An agent beside an engine that is reached through Dynamo's sidecar; and its double, which tests/contract compares with the real one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from checkpoints import write_checkpoint
from localcluster.waiting import eventually
from onepod import AgentTask, Pod, channel_to
from simulator.process import EngineProcess, engine_process
from weightrollout.engine.dynamo import Dynamo

CALL_S = 10.0


@asynccontextmanager
async def sidecar(tmp_path: Path, **flags: Any) -> AsyncIterator[EngineProcess]:
    for name in ("handover", "staging"):
        (tmp_path / name).mkdir()
    volumes = {name: tmp_path / name for name in ("handover", "staging")}
    model = write_checkpoint(tmp_path / "a", seed=1)
    wanted: dict[str, Any] = {"sidecar": True, "token_seconds": 0.001, **volumes, **flags}
    async with engine_process(model=model, **wanted) as engine:
        yield engine


async def ask(engine: EngineProcess, route: str, raw: bytes = b"") -> tuple[int, dict[str, Any]]:
    async with (
        aiohttp.ClientSession(f"http://{engine.sidecar}") as session,
        session.post(f"/engine/{route}", data=raw) as reply,
    ):
        body: dict[str, Any] = await reply.json(content_type=None)
        return reply.status, body


async def registered(engine: EngineProcess) -> bool:
    async with (
        aiohttp.ClientSession(f"http://{engine.sidecar}") as session,
        session.get("/simulator/registered") as reply,
    ):
        return bool((await reply.json())["registered"])


#: Of Dynamo's own code: route, body, status, and what is in the answer.
ROWS: list[tuple[str, bytes, int, dict[str, str]]] = [
    ("control/is_paused", b"{", 400, {"error": "Invalid JSON"}),
    ("no/such", b"{", 400, {"error": "Invalid JSON"}),
    ("no/such", b"", 404, {"error": "Route not found", "message": "Route /engine/no/such not found"}),
    ("control/sleep", b"", 404, {"error": "Route not found"}),
    ("control/is_paused", b"[]", 200, {"status": "error", "message": "engine control request body must be a JSON object"}),
    ("update/update_weights", b"[]", 200, {"status": "error", "message": "engine update request body must be a JSON object"}),
    ("control/pause_generation", b'{"mode": "x"}', 200, {"status": "error", "message": "InvalidRequest: pause_generation mode must be abort, wait, or keep; got `x`"}),
    ("control/pause_generation", b'{"clear_cache": 1}', 200, {"status": "error", "message": "InvalidRequest: `clear_cache` must be a boolean"}),
    ("update/init_weight_transfer_engine", b"", 500, {"error": "Handler error", "message": "InvalidRequest: missing `init_info` JSON object"}),
    ("update/update_weights", b'{"update_info": []}', 500, {"error": "Handler error", "message": "InvalidRequest: missing `update_info` JSON object"}),
    ("update/update_weight_version", b"", 500, {"error": "Handler error", "message": "InvalidRequest: missing non-empty `new_version` string"}),
    ("control/is_paused", b"", 200, {}),
    ("control/get_weight_version", b"{}", 200, {"weight_version": "default"}),
    ("control/pause_generation", b'{"mode": "keep", "clear_cache": null}', 200, {"status": "paused"}),
    ("control/resume_generation", b"", 200, {"status": "resumed"}),
    ("update/update_weight_version", b'{"new_version": "7"}', 200, {"new_version": "7"}),
]  # fmt: skip


async def test_double_answers_as_dynamos_own_code_does(tmp_path: Path) -> None:
    async with sidecar(tmp_path) as engine:
        for route, raw, status, words in ROWS:
            found, body = await ask(engine, route, raw)
            assert found == status, (route, raw, body)
            assert {name: body.get(name) for name in words} == words, (route, raw)
        found, body = await ask(engine, "update/finish_weight_update")
        assert found == 500
        assert body["message"].endswith("(Internal)")


async def test_worker_leaves_dynamos_routing_for_a_pause_and_comes_back_by_a_resume(
    tmp_path: Path,
) -> None:
    async with sidecar(tmp_path) as engine:
        adapter = Dynamo(f"http://{engine.sidecar}", engine.grpc_target)
        await adapter.info(deadline_s=CALL_S)
        assert await registered(engine), "asking what it can do takes it nowhere"
        await ask(engine, "control/pause_generation", b'{"mode": "keep"}')
        assert not await registered(engine)
        assert await adapter.is_paused(deadline_s=CALL_S)
        await adapter.resume(deadline_s=CALL_S)
        assert await registered(engine)
        await adapter.close()


@pytest.mark.parametrize(
    ("flags", "transfer", "sleep"),
    [({}, True, False), ({"backend": ""}, False, False), ({"enable_sleep_mode": True}, True, True)],
)
async def test_only_what_the_sidecar_offers_is_offered(
    tmp_path: Path, flags: dict[str, Any], transfer: bool, sleep: bool
) -> None:
    async with sidecar(tmp_path, **flags) as engine:
        adapter = Dynamo(f"http://{engine.sidecar}", engine.grpc_target)
        told = await adapter.info(deadline_s=CALL_S)
        can = told.capabilities
        assert (can.rl, can.transfer, can.sleep) == (True, transfer, sleep)
        assert not can.reset_cache
        assert told.instance == engine.instance
        await adapter.close()


async def test_weights_are_swapped_through_the_sidecar(tmp_path: Path) -> None:
    async with sidecar(tmp_path) as engine:
        checkpoints = {
            "a": tmp_path / "a",
            "b": write_checkpoint(tmp_path / "b", seed=2, arithmetic=True),
        }
        agent = AgentTask(
            (
                *(f"--engine-grpc={engine.grpc_target}", f"--engine-http={engine.http_url}"),
                *("--engine-protocol=dynamo", f"--engine-sidecar=http://{engine.sidecar}"),
                *(f"--staging={tmp_path / 'staging'}", f"--handover={tmp_path / 'handover'}"),
            )
        )
        async with channel_to(agent) as stub:
            pod = Pod(agent, tmp_path, tmp_path / "staging", checkpoints, stub)
            await agent.start()
            await pod.hello()
            assert (await pod.bring("b", "txn-1")).outcome == "Committed"
            assert (await engine.state())["version"] == "v-b"

            async def back() -> bool:
                return await registered(engine)

            await eventually(back, CALL_S, "Dynamo routes to it again")
            await agent.end()
