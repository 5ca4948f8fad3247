"""A service that misbehaves never promotes and never rejects a version, and costs a bounded time."""

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from yarl import URL

from http_service import HANGS, Service, answer, service
from laterclock import LaterClock
from weightrollout.api.reasons import MeasurementReason
from weightrollout.api.status import MeasurementOutcome
from weightrollout.controller.measuring.analyst import Analyst
from weightrollout.controller.measuring.call import Limits, Unanswered
from weightrollout.controller.measuring.hosts import NOBODY, Hosts, hosts_of
from weightrollout.controller.measuring.webhook import Word, ask, read_key, signed
from weightrollout.rollout.actions import Measure, PostWebhook
from weightrollout.rollout.arguments import Arguments

KEY = b"0123456789abcdef0123456789abcdef"
QUICK = Limits(seconds=5.0, answer_bytes=1000)
YES = answer('{"result": "Successful", "value": 0.5, "message": "fine"}')
NO = answer('{"result": "Failed"}')
BROKEN = answer("oh no", "503 Service Unavailable")


async def asked(there: Service, hosts: Hosts | None = None, limits: Limits = QUICK) -> Word:
    allowed = hosts_of([f"127.0.0.1:{there.port}"]) if hosts is None else hosts
    return await ask(allowed, URL(there.url), signed({"id": "1"}, KEY, 1700000000), limits, 0.0)


async def reason(there: Service, limits: Limits = QUICK) -> MeasurementReason:
    with pytest.raises(Unanswered) as nothing:
        await asked(there, limits=limits)
    assert len(nothing.value.message) < 400
    assert nothing.value.message.isprintable()
    return nothing.value.reason


async def test_its_word_counts() -> None:
    async with service(YES) as there:
        word = await asked(there)
    assert word == Word(MeasurementOutcome.SUCCESSFUL, 0.5, "fine")


async def test_receiver_can_prove_who_asks() -> None:
    async with service(YES) as there:
        await asked(there)
    (heard,) = there.heard
    text = heard.headers["x-weightrollout-timestamp"].encode() + b"." + heard.body
    digest = hmac.new(KEY, text, hashlib.sha256).hexdigest()
    assert heard.headers["x-weightrollout-signature"] == f"sha256={digest}"
    assert heard.line.startswith("POST /judge ")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", MeasurementReason.UNREACHABLE),
        (b"\x00\xff\x00 nonsense\r\n\r\n", MeasurementReason.UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", MeasurementReason.UNREACHABLE),
        (answer("<html>login</html>"), MeasurementReason.NOT_UNDERSTOOD),
        (answer(""), MeasurementReason.NOT_UNDERSTOOD),
        (answer("[]"), MeasurementReason.NOT_UNDERSTOOD),
        (answer("null"), MeasurementReason.NOT_UNDERSTOOD),
        (answer("[" * 900), MeasurementReason.NOT_UNDERSTOOD),
        (answer('{"result": "successful"}'), MeasurementReason.NOT_UNDERSTOOD),
        (answer('{"result": true}'), MeasurementReason.NOT_UNDERSTOOD),
        (answer(b'{"result": "\xff"}'), MeasurementReason.NOT_UNDERSTOOD),
        (answer("\x1b[31m\x07" + "x" * 500), MeasurementReason.NOT_UNDERSTOOD),
        (answer("no", "403 Forbidden"), MeasurementReason.HTTP_ERROR),
        (answer('{"result": "Failed"}', "404 Not Found"), MeasurementReason.HTTP_ERROR),
        (answer('{"result": "Successful"}', "202 Accepted"), MeasurementReason.HTTP_ERROR),
        (BROKEN, MeasurementReason.HTTP_ERROR),
        (answer("x" * 2000), MeasurementReason.TOO_LARGE),
    ],
)
async def test_no_other_answer_means_anything(said: bytes, why: MeasurementReason) -> None:
    async with service(said) as there:
        assert await reason(there) is why


async def test_a_redirect_leads_nowhere() -> None:
    async with service(YES) as inside, service(answer("", "307 Go", Location=inside.url)) as there:
        both = hosts_of([f"127.0.0.1:{each.port}" for each in (inside, there)])
        with pytest.raises(Unanswered) as nothing:
            await asked(there, both)
    assert nothing.value.reason is MeasurementReason.REDIRECTED
    assert not inside.heard


async def test_a_service_that_hangs_is_left() -> None:
    async with service(HANGS) as there:
        why = await reason(there, Limits(seconds=0.2, answer_bytes=1000))
    assert why is MeasurementReason.TIMED_OUT
    assert len(there.heard) == 1, "it may be at work: it is not asked again"


@pytest.mark.parametrize(
    "so_far", [b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"]
)
async def test_a_service_that_stops_in_its_answer_is_left(so_far: bytes) -> None:
    async with service(so_far + HANGS) as there:
        why = await reason(there, Limits(seconds=0.2, answer_bytes=1000))
    assert why is MeasurementReason.TIMED_OUT


async def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"ff\r\n" + b"x" * 255
    async with service(endless + (b"\r\nff\r\n" + b"x" * 255) * 100) as there:
        assert await reason(there) is MeasurementReason.TOO_LARGE


@pytest.mark.parametrize("first", [BROKEN, b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
async def test_what_broke_on_the_way_is_sent_again_as_it_was(first: bytes) -> None:
    async with service(first, first, NO) as there:
        word = await asked(there)
    assert word.outcome is MeasurementOutcome.FAILED
    assert len(there.heard) == 3
    assert len({each.body for each in there.heard}) == 1


async def test_it_is_sent_three_times_at_most() -> None:
    async with service(BROKEN) as there:
        await reason(there)
    assert len(there.heard) == 3


@pytest.mark.parametrize("first", [answer("no", "400 Bad Request"), answer("garbage")])
async def test_what_it_understood_is_not_sent_again(first: bytes) -> None:
    async with service(first, YES) as there:
        await reason(there)
    assert len(there.heard) == 1


async def test_a_host_that_is_not_on_the_list_hears_nothing() -> None:
    async with service(YES) as there:
        with pytest.raises(Unanswered) as nothing:
            await asked(there, NOBODY)
    assert nothing.value.reason is MeasurementReason.HOST_DENIED
    assert f"--analysis-host 127.0.0.1:{there.port}" in nothing.value.message
    assert not there.heard


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(NO) as proxy, service(YES) as there:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert (await asked(there)).outcome is MeasurementOutcome.SUCCESSFUL
    assert not proxy.heard


@pytest.mark.parametrize("content", [None, "", "short", "                                "])
def test_nothing_is_sent_without_a_key_that_is_worth_one(
    tmp_path: Path, content: str | None
) -> None:
    key = tmp_path / "key"
    if content is not None:
        key.write_text(content)
    with pytest.raises(Unanswered) as nothing:
        read_key(key)
    assert nothing.value.reason is MeasurementReason.NO_KEY


@pytest.mark.parametrize("value", ["NaN", "Infinity", "true", '"1"', "1" + "0" * 400, "null"])
async def test_a_value_that_is_no_number_is_left_out(value: str) -> None:
    async with service(answer(f'{{"result": "Failed", "value": {value}}}')) as there:
        word = await asked(there)
    assert (word.outcome, word.value) == (MeasurementOutcome.FAILED, None)


def question(url: str, number: int = 2) -> Measure:
    arguments = Arguments("chat", "team", "chat-1", "b", "a", ("chat-0",), ("chat-1",))
    return Measure("9f31/1", number, "chat-1", PostWebhook(url, arguments), "", "")


async def test_receiver_learns_what_it_judges(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(KEY + b"\n")
    async with service(YES) as there:
        analyst = Analyst(hosts_of([f"127.0.0.1:{there.port}"]), None, key)
        answered = await analyst.measure(question(there.url), "uid", LaterClock())
    assert (answered.analysis, answered.number) == ("9f31/1", 2)
    assert answered.said is MeasurementOutcome.SUCCESSFUL
    assert json.loads(there.heard[0].body) == {
        "schema": "weightrollout.dev/analysis.v1",
        "id": "uid/9f31/1/2",
        "namespace": "team",
        "name": "chat",
        "revision": "chat-1",
        "version": "b",
        "previousVersion": "a",
        "pods": ["chat-0"],
        "previousPods": ["chat-1"],
        "step": 2,
        "measurement": 2,
    }


@pytest.mark.parametrize("url", ["http://:80/", "http://[::1/", "http://1.2.3.4:99999/"])
async def test_a_url_that_is_none_says_nothing(tmp_path: Path, url: str) -> None:
    key = tmp_path / "key"
    key.write_bytes(KEY)
    answered = await Analyst(key_file=key).measure(question(url), "uid", LaterClock())
    assert answered.said is None
    assert answered.reason == MeasurementReason.HOST_DENIED
