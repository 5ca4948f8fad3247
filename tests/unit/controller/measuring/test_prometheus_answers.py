"""Whatever stands behind the address, the answer is one finite number or a reason."""

import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from yarl import URL

from http_service import HANGS, Service, answer, service
from weightrollout.api.reasons import MeasurementReason as Why
from weightrollout.controller.measuring.call import Limits, Unanswered
from weightrollout.controller.measuring.hosts import NOBODY, hosts_of
from weightrollout.controller.measuring.prometheus import query

QUICK = Limits(seconds=5.0, answer_bytes=10_000)


def success(kind: str, result: Any) -> bytes:
    return answer(json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}))


def vector(*values: str) -> bytes:
    return success("vector", [{"metric": {}, "value": [1.5, each]} for each in values])


async def asked(there: Service, limits: Limits = QUICK) -> float:
    hosts = hosts_of([f"127.0.0.1:{there.port}"])
    return await query(hosts, URL(f"http://127.0.0.1:{there.port}/prefix"), 'up{a="b&c"}', limits)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        (vector("0.25"), 0.25),
        (vector("-1e-3"), -0.001),
        (success("scalar", [1.5, "42"]), 42.0),
    ],
)
async def test_one_number_is_read(said: bytes, value: float) -> None:
    async with service(said) as there:
        assert await asked(there) == value


async def test_the_query_is_sent_whole_below_a_prefix() -> None:
    async with service(vector("1")) as there:
        await asked(there)
    assert there.heard[0].line == "POST /prefix/api/v1/query HTTP/1.1"
    assert parse_qs(there.heard[0].body.decode())["query"] == ['up{a="b&c"}']


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (vector(), Why.NO_DATA),
        (vector("NaN"), Why.NOT_A_NUMBER),
        (vector("+Inf"), Why.NOT_A_NUMBER),
        (vector("-Inf"), Why.NOT_A_NUMBER),
        (vector("1", "1"), Why.SEVERAL_SERIES),
        (vector("one"), Why.NOT_UNDERSTOOD),
        (success("vector", [{"metric": {}, "histogram": [1.5, {}]}]), Why.NOT_UNDERSTOOD),
        (success("vector", [7]), Why.NOT_UNDERSTOOD),
        (success("vector", {}), Why.NOT_UNDERSTOOD),
        (success("matrix", [{"metric": {}, "values": [[1.5, "1"]]}]), Why.NOT_UNDERSTOOD),
        (success("string", [1.5, "1"]), Why.NOT_UNDERSTOOD),
        (success("scalar", ["1"]), Why.NOT_UNDERSTOOD),
        (success("scalar", [1.5, 1]), Why.NOT_UNDERSTOOD),
        (answer('{"status": "success"}'), Why.NOT_UNDERSTOOD),
        (answer('{"status": "success", "data": []}'), Why.NOT_UNDERSTOOD),
        (answer("<html>"), Why.NOT_UNDERSTOOD),
        (answer("[" * 9000), Why.NOT_UNDERSTOOD),
        (answer("log in", "401 Unauthorized"), Why.HTTP_ERROR),
        (answer('{"status": "success", "data": {}}', "404 Not Found"), Why.HTTP_ERROR),
        (answer("down", "503 Service Unavailable"), Why.HTTP_ERROR),
        (answer("", "302 Found", Location="http://127.0.0.1:1/"), Why.REDIRECTED),
        (answer("x" * 20_000), Why.TOO_LARGE),
        (b"", Why.UNREACHABLE),
        (
            answer(
                '{"status": "error", "errorType": "bad_data", "error": "parse error"}',
                "400 Bad Request",
            ),
            Why.QUERY_REFUSED,
        ),
    ],
)
async def test_what_is_no_number_has_a_reason(said: bytes, why: Why) -> None:
    async with service(said) as there:
        with pytest.raises(Unanswered) as nothing:
            await asked(there)
    assert nothing.value.reason is why


async def test_one_that_hangs_is_left() -> None:
    async with service(HANGS) as there:
        with pytest.raises(Unanswered) as nothing:
            await asked(there, Limits(seconds=0.2, answer_bytes=1000))
    assert nothing.value.reason is Why.TIMED_OUT


async def test_a_question_that_is_too_large_is_not_sent() -> None:
    async with service(vector("1")) as there:
        hosts = hosts_of([f"127.0.0.1:{there.port}"])
        with pytest.raises(Unanswered) as nothing:
            await query(hosts, URL(f"http://127.0.0.1:{there.port}"), "x" * 300_000, QUICK)
    assert nothing.value.reason is Why.TOO_LARGE
    assert not there.heard


async def test_nobody_is_asked_who_is_not_on_the_list() -> None:
    async with service(vector("1")) as there:
        with pytest.raises(Unanswered) as nothing:
            await query(NOBODY, URL(f"http://127.0.0.1:{there.port}"), "up", QUICK)
    assert nothing.value.reason is Why.HOST_DENIED
    assert not there.heard
