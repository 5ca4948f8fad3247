"""What the engine's HTTP side says, and what its failures mean."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from weightrollout.engine.errors import EngineRefused, EngineStateUnknown, EngineUnreachable
from weightrollout.engine.protocol import AnswerToken, EngineLoad
from weightrollout.engine.vllm_http import VllmHttp

CALL_S = 5.0
METRICS = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="chat {7B}"} 2.0
vllm:num_requests_running{engine="1",model_name="chat {7B}"} 3.0
vllm:num_requests_running_total{engine="0"} 99.0
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="chat {7B}"} 1.0
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 7.0
"""


@asynccontextmanager
async def engine(
    *,
    status: int = 200,
    reply: Any = None,
    metrics: str = METRICS,
    api_key: Path | None = None,
    wanted: str | None = None,  # Authorization
) -> AsyncIterator[VllmHttp]:
    """A server that gives one reply to completions, and the adapter that speaks to it."""

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "chat"}]})

    async def completions(request: web.Request) -> web.Response:
        assert (await request.json())["model"] == "chat"
        if request.headers.get("Authorization") != wanted:
            return web.json_response({"error": "Unauthorized"}, status=401)
        if status == 0:
            await asyncio.Event().wait()
        return web.json_response(reply, status=status)

    async def page(_: web.Request) -> web.Response:
        return web.Response(text=metrics)

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/completions", completions)
    app.router.add_get("/metrics", page)
    async with TestServer(app) as server:
        adapter = VllmHttp(str(server.make_url("/")), api_key=api_key)
        try:
            yield adapter
        finally:
            await adapter.close()


def choice(text: str, finish: str) -> dict[str, Any]:
    return {"choices": [{"text": text, "finish_reason": finish}]}


async def test_load_is_the_sum_over_all_engine_cores() -> None:
    async with engine() as adapter:
        assert await adapter.load(deadline_s=CALL_S) == EngineLoad(running=5, waiting=1)


async def test_page_without_the_metric_is_refused_by_name() -> None:
    async with engine(metrics="up 1\n") as adapter:
        with pytest.raises(EngineRefused, match="vllm:num_requests_running"):
            await adapter.load(deadline_s=CALL_S)


def gauges(running: str, waiting: str) -> str:
    return f"vllm:num_requests_running {running}\nvllm:num_requests_waiting {waiting}\n"


@pytest.mark.parametrize(("running", "waiting"), [("1.0", "0.0"), ("0.0", "1.0"), ("2e+00", "0")])
async def test_engine_is_idle_only_when_nothing_runs_and_nothing_waits(
    running: str, waiting: str
) -> None:
    async with engine(metrics=gauges(running, waiting)) as adapter:
        assert not (await adapter.load(deadline_s=CALL_S)).idle
    async with engine(metrics=gauges("0.0", "0")) as adapter:
        assert (await adapter.load(deadline_s=CALL_S)).idle


@pytest.mark.parametrize("said", ["NaN", "+Inf", "-Inf", "-1.0", "0.4", "none", "0.0.0"])
@pytest.mark.parametrize("name", ["vllm:num_requests_running", "vllm:num_requests_waiting"])
async def test_gauge_that_counts_nothing_is_never_taken_for_empty(name: str, said: str) -> None:
    page = gauges("0.0", "0.0").replace(f"{name} 0.0", f"{name} {said}")
    async with engine(metrics=page) as adapter:
        with pytest.raises(EngineRefused, match=f"MetricUnreadable.*{name}"):
            await adapter.load(deadline_s=CALL_S)


async def test_page_that_says_nothing_of_waiting_requests_is_not_taken_for_empty() -> None:
    page = gauges("0.0", "0.0").partition("vllm:num_requests_waiting")[0]
    async with engine(metrics=page) as adapter:
        with pytest.raises(EngineRefused, match=r"MetricMissing.*vllm:num_requests_waiting"):
            await adapter.load(deadline_s=CALL_S)


async def test_gauges_that_cancel_out_are_not_taken_for_empty() -> None:
    page = 'vllm:num_requests_running{engine="1"} -1.0\n' + gauges("1.0", "0.0")
    async with engine(metrics=page) as adapter:
        with pytest.raises(EngineRefused, match="MetricUnreadable"):
            await adapter.load(deadline_s=CALL_S)


async def test_completion_is_its_text() -> None:
    async with engine(reply=choice("4 four", "length")) as adapter:
        assert await adapter.complete("2+2=", max_tokens=4, deadline_s=CALL_S) == "4 four"


async def test_aborted_completion_is_no_answer() -> None:
    async with engine(reply=choice("4", "abort")) as adapter:
        with pytest.raises(EngineStateUnknown, match="CompletionAborted"):
            await adapter.complete("2+2=", max_tokens=4, deadline_s=CALL_S)


@pytest.mark.parametrize("reply", [None, {}, {"choices": []}, [], {"choices": [{}]}])
async def test_answer_of_another_shape_is_not_guessed(reply: Any) -> None:
    async with engine(reply=reply) as adapter:
        with pytest.raises(EngineStateUnknown, match="UnexpectedAnswer"):
            await adapter.complete("2+2=", max_tokens=4, deadline_s=CALL_S)


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [
        (503, EngineRefused, "ServiceUnavailable"),
        (400, EngineRefused, "BadRequest"),
        (500, EngineStateUnknown, "ServerError"),
        (0, EngineStateUnknown, "DeadlineExceeded"),
    ],
)
async def test_status_tells_whether_it_may_have_been_executed(
    status: int, kind: type[Exception], reason: str
) -> None:
    async with engine(status=status, reply={"error": "why"}) as adapter:
        with pytest.raises(kind, match=reason):
            await adapter.complete("2+2=", max_tokens=4, deadline_s=0.3)


async def test_engine_that_does_not_listen_is_unreachable() -> None:
    adapter = VllmHttp("http://127.0.0.1:1")
    with pytest.raises(EngineUnreachable):
        await adapter.load(deadline_s=CALL_S)
    await adapter.close()


def told(**logprobs: Any) -> dict[str, Any]:
    usual = {
        "tokens": ["token_id:19", "token_id:0"],
        "token_logprobs": [-0.5, -0.1],
        "top_logprobs": [{"token_id:19": -0.5, "token_id:20": -2}, {"token_id:0": -0.1}],
        "text_offset": [0, 1],
    }
    return {"choices": [{"text": "4", "finish_reason": "length", "logprobs": usual | logprobs}]}


async def test_answer_is_told_by_token_ids_and_their_logprobs() -> None:
    async with engine(reply=told()) as adapter:
        got = await adapter.complete_tokens("2+2=", max_tokens=2, top=2, deadline_s=CALL_S)
    assert got == (AnswerToken(19, {19: -0.5, 20: -2.0}), AnswerToken(0, {0: -0.1}))


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [{"text": "4", "finish_reason": "length", "logprobs": None}]},
        {"choices": ["4"]},
        told(tokens=["4", "."]),
        told(tokens=["token_id:x", "token_id:0"]),
        told(tokens=["19", "token_id:0"]),
        told(tokens=["token_id:-1", "token_id:0"]),
        told(tokens=["token_id:" + "9" * 4000, "token_id:0"]),
        told(tokens=[19, 0]),
        told(tokens=None),
        told(top_logprobs=[{"token_id:19": -0.5}]),
        told(top_logprobs=[{"token_id:19": "much"}, {}]),
        told(top_logprobs=[["token_id:19"], {}]),
        told(top_logprobs=[{"token_id:19": None}, {}]),
    ],
)
async def test_engine_that_tells_no_ids_is_no_answer(reply: Any) -> None:
    async with engine(reply=reply) as adapter:
        with pytest.raises(EngineStateUnknown, match="UnexpectedAnswer"):
            await adapter.complete_tokens("2+2=", max_tokens=2, top=1, deadline_s=CALL_S)


async def test_aborted_answer_has_no_tokens_to_compare() -> None:
    reply = told()
    reply["choices"][0]["finish_reason"] = "abort"
    async with engine(reply=reply) as adapter:
        with pytest.raises(EngineStateUnknown, match="CompletionAborted"):
            await adapter.complete_tokens("2+2=", max_tokens=2, top=1, deadline_s=CALL_S)


async def test_refused_api_key_names_the_flag(tmp_path: Path) -> None:
    key = tmp_path / "key"
    async with engine(reply=choice("4", "length"), api_key=key, wanted="Bearer sesame") as adapter:
        with pytest.raises(EngineUnreachable, match=r"ApiKeyUnreadable.*key"):
            await adapter.complete("2+2=", max_tokens=1, deadline_s=CALL_S)
        key.write_text("barley\n")
        with pytest.raises(EngineRefused, match=r"ApiKeyRefused.*--engine-api-key-file"):
            await adapter.complete("2+2=", max_tokens=1, deadline_s=CALL_S)
        key.write_text("sesame\n")
        assert await adapter.complete("2+2=", max_tokens=1, deadline_s=CALL_S) == "4"
