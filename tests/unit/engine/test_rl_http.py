"""What a failure over the RL routes of vLLM's Python frontend says about the engine afterwards, and what is not offered."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from http_service import HANGS, Service, answer, service
from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    CONNECTION_CUT,
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import Capabilities
from weightrollout.engine.rl_http import RlHttp

CALL_S = 5.0


def config(**changes: Any) -> dict[str, Any]:
    """As vLLM 0.32 tells it."""
    return {
        "instance_id": "1796044990867944392",
        "model_config": {
            **{"model": "/models/chat", "served_model_name": "chat"},
            "enable_sleep_mode": False,
        },
        "parallel_config": {
            **{"world_size": 2, "data_parallel_size": 4, "data_parallel_size_local": 2}
        },
        "weight_transfer_config": {"backend": "weightrollout"},
        **changes,
    }


def info(**changes: Any) -> bytes:
    return answer(json.dumps({"vllm_config": config(**changes), "vllm_env": {}}))


VERSION = answer('{"version": "0.32.0"}')


@asynccontextmanager
async def engine(
    *answers: bytes, knows: bool = False, token: Path | None = None, **changes: Any
) -> AsyncIterator[tuple[RlHttp, Service]]:
    """An engine that answers so, in this order. `knows`: it was asked who it is before."""
    first = (info(**changes), VERSION) if knows else ()
    async with service(*first, *answers) as server:
        adapter = RlHttp(f"http://127.0.0.1:{server.port}", token=token)
        try:
            if knows:
                await adapter.info(deadline_s=CALL_S)
            yield adapter, server
        finally:
            await adapter.close()


def failing(status: str, words: str = "the engine's own words") -> bytes:
    return answer(json.dumps({"error": {"message": words}}), status=status)


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        ("400 Bad Request", EngineRefused, "InvalidArgument"),
        ("401 Unauthorized", EngineRefused, "ControlTokenRefused"),
        ("403 Forbidden", EngineRefused, "ControlTokenRefused"),
        ("404 Not Found", EngineRefused, "ControlServiceMissing"),
        ("405 Method Not Allowed", EngineRefused, "ControlServiceMissing"),
        ("422 Unprocessable Entity", EngineRefused, "InvalidArgument"),
        ("202 Accepted", EngineStateUnknown, "Internal"),
        ("307 Temporary Redirect", EngineStateUnknown, "Internal"),
        ("500 Internal Server Error", EngineStateUnknown, "Internal"),
        ("501 Not Implemented", EngineStateUnknown, "Internal"),
        ("503 Service Unavailable", EngineStateUnknown, "Internal"),
    ],
)
async def test_status_tells_whether_the_call_may_have_been_executed(
    status: str, kind: type[EngineError], reason: str
) -> None:
    async with engine(failing(status), knows=True) as (adapter, _):
        with pytest.raises(EngineError) as caught:
            await adapter.update(b"{}", deadline_s=CALL_S)
    assert (type(caught.value), caught.value.reason) == (kind, reason)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Call to set_weight_version method failed: boom", LABEL_NOT_SET),
        ("Call to collective_rpc method failed: boom", "Internal"),
    ],
)
async def test_finish_tells_which_of_its_two_halves_failed(words: str, reason: str) -> None:
    async with engine(failing("500 Internal Server Error", words), knows=True) as (adapter, _):
        with pytest.raises(EngineStateUnknown) as caught:
            await adapter.finish_update("b", deadline_s=CALL_S)
    assert caught.value.reason == reason


async def test_call_that_gets_no_answer_in_time_is_of_unknown_outcome() -> None:
    async with engine(HANGS) as (adapter, _):
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await adapter.pause(PauseMode.KEEP, clear_cache=True, deadline_s=0.1)


async def test_connection_that_is_cut_under_a_call_leaves_it_unknown() -> None:
    async with engine(b"") as (adapter, _):
        with pytest.raises(EngineStateUnknown) as caught:
            await adapter.resume(deadline_s=CALL_S)
    assert caught.value.reason == CONNECTION_CUT


async def test_nobody_listens_is_known() -> None:
    adapter = RlHttp("http://127.0.0.1:1")
    with pytest.raises(EngineUnreachable):
        await adapter.resume(deadline_s=CALL_S)
    await adapter.close()


async def test_engine_tells_what_it_is_and_what_it_does_not_tell_is_not_offered() -> None:
    async with engine(info(), knows=True) as (adapter, _):
        told = await adapter.info(deadline_s=CALL_S)
        model = await adapter.model(deadline_s=CALL_S), await adapter.served_name(deadline_s=CALL_S)
    assert told.instance == "1796044990867944392"
    assert (told.engine_version, told.transfer_backend) == ("0.32.0", "weightrollout")
    assert told.world_size == 4, "ranks below this frontend, not those of other pods"
    assert told.capabilities == Capabilities(rl=True, transfer=True, reset_cache=True)
    assert model == ("/models/chat", "chat")


@pytest.mark.parametrize(
    "said",
    [
        *("", "[]", "7", "{}", '{"vllm_config": "a text"}'),
        json.dumps({"vllm_config": config(instance_id="")}),
        json.dumps({"vllm_config": config(instance_id=7)}),
        json.dumps({"vllm_config": config(parallel_config={})}),
        json.dumps({"vllm_config": config(model_config=[])}),
    ],
)
async def test_engine_that_does_not_say_who_it_is_is_none(said: str) -> None:
    async with engine(answer(said)) as (adapter, _):
        with pytest.raises(EngineStateUnknown, match="UnexpectedAnswer"):
            await adapter.info(deadline_s=CALL_S)


async def test_engine_that_is_slow_to_say_who_it_is_is_asked_once() -> None:
    """vLLM's first answer takes seconds of work, again for each that asks meanwhile."""
    async with engine(HANGS) as (adapter, server):
        for _ in range(3):
            with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
                await adapter.info(deadline_s=0.05)
        assert len(server.heard) == 1


async def test_restarted_engine_is_another_one() -> None:
    async with engine(info(instance_id="2"), VERSION, knows=True) as (adapter, _):
        assert (await adapter.info(deadline_s=CALL_S)).instance == "2"


async def test_what_the_routes_do_not_check_is_not_sent() -> None:
    """They take a blank label, and a wake-up without sleep mode ends a mere pause."""
    async with engine(answer("{}"), knows=True) as (adapter, server):
        before = len(server.heard)
        for call in (
            adapter.set_version(" ", deadline_s=CALL_S),
            adapter.finish_update("", deadline_s=CALL_S),
            adapter.wake_up((), deadline_s=CALL_S),
            adapter.init_transfer(b"[]", deadline_s=CALL_S),
            adapter.shutdown(deadline_s=CALL_S),
        ):
            with pytest.raises(EngineRefused):
                await call
        assert len(server.heard) == before


@pytest.mark.parametrize("said", ["{}", '{"is_paused": null}', '{"is_paused": "false"}', "no JSON"])
async def test_answer_that_is_no_truth_is_no_pause(said: str) -> None:
    async with engine(answer(said)) as (adapter, _):
        with pytest.raises(EngineStateUnknown, match="UnexpectedAnswer"):
            await adapter.is_paused(deadline_s=CALL_S)


async def test_token_is_read_for_each_call(tmp_path: Path) -> None:
    token = tmp_path / "token"
    async with engine(answer("{}"), token=token) as (adapter, server):
        with pytest.raises(EngineUnreachable, match="ApiKeyUnreadable"):
            await adapter.resume(deadline_s=CALL_S)
        for said in ("first", "second"):
            token.write_text(f"{said}\n")
            await adapter.resume(deadline_s=CALL_S)
        assert [each.headers["authorization"] for each in server.heard] == [
            "Bearer first",
            "Bearer second",
        ]


@pytest.mark.parametrize(
    ("status", "said", "serves"),
    [("200 OK", "", True), ("503 Service Unavailable", "", False), ("404 Not Found", "", True)],
)
async def test_dead_core_is_told_by_its_own_word(status: str, said: str, serves: bool) -> None:
    async with engine(answer(said, status=status)) as (adapter, _):
        assert await adapter.serving(deadline_s=CALL_S) is serves


async def test_engine_that_scales_is_not_dead() -> None:
    busy = answer('{"error": "The model is currently scaling."}', status="503 Service Unavailable")
    async with engine(busy) as (adapter, _):
        with pytest.raises(EngineStateUnknown):
            await adapter.serving(deadline_s=CALL_S)
