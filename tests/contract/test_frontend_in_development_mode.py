"""What a neighbour finds on the HTTP port of vLLM's real Rust frontend, with its development mode and without."""

from pathlib import Path
from typing import Any

import aiohttp
import pytest

from contract.conftest import StartFrontend
from contract.subjects import Pair
from contract.under_test import CALL_S
from frontend.process import FrontendProcess
from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.exposure_flags import PodAddress, development_door
from weightrollout.agent.exposure_http import PROBES
from weightrollout.engine.vllm_lifecycle import VllmLifecycle

HOST = "127.0.0.1"
DEVELOPMENT = {"VLLM_SERVER_DEV_MODE": "1"}


async def statuses(process: FrontendProcess) -> dict[str, int]:
    """Of the agent's questions, by path."""
    found: dict[str, int] = {}
    async with aiohttp.ClientSession(process.http_url) as session:
        for method, path, query, body in PROBES:
            headers = {"Content-Type": "application/json"} if body is not None else {}
            call: Any = session.request(method, path, params=query, data=body, headers=headers)
            async with call as reply:
                found[path] = reply.status
    return found


@pytest.mark.slow
@pytest.mark.parametrize("development", [True, False])
async def test_routes_are_found_where_development_mode_opens_them_and_nothing_is_done(
    frontend: StartFrontend, simulated_pair: Pair, tmp_path: Path, development: bool
) -> None:
    environment = DEVELOPMENT if development else {}
    async with frontend(model=simulated_pair.a, environment=environment) as process:
        door = development_door(PodAddress(HOST), process.http_url, EngineAccess())
        refusal, certain = await door.ask_at(HOST)
        assert certain
        assert (refusal is not None) is development
        found = await statuses(process)
        closed = {path for path, status in found.items() if status == 404}
        assert closed == (set() if development else set(found)), found
        engine = VllmLifecycle(process.grpc_target)
        assert not await engine.is_paused(deadline_s=CALL_S)
        assert await engine.version(deadline_s=CALL_S) == "default"
        await engine.close()
