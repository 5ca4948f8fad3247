"""What is known after a call failed must be right: a caller repeats, re-reads or gives up by it."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from apifront import api_front, refusal
from weightrollout.kube.client import connect
from weightrollout.kube.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KubeError,
    NamespaceEnds,
    NotFound,
    Refused,
    TooManyRequests,
    Unavailable,
    error_of,
)

POD = "/api/v1/namespaces/ns/pods/chat-0"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, Invalid),
        (401, Forbidden),
        (403, Forbidden),
        (404, NotFound),
        (405, Refused),
        (409, Conflict),
        (410, Gone),
        (422, Invalid),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
def test_each_answer_has_one_meaning(code: int, kind: type[KubeError]) -> None:
    assert type(error_of("GET /x", code, b'{"message": "why"}')) is kind


def test_apply_that_the_schema_refuses_is_not_repeated_although_the_server_says_500() -> None:
    body = b'{"message": "failed to create typed patch object (...): field not declared in schema"}'
    assert isinstance(error_of("PATCH /x", 500, body), Invalid)


def test_message_names_the_call_and_keeps_the_servers_words() -> None:
    error = error_of("PATCH /pods/chat-0", 422, b'{"message": "field is immutable"}')
    assert str(error) == "PATCH /pods/chat-0: 422: field is immutable"


async def test_busy_server_is_asked_again_when_it_says_so(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        front.put(POD.rsplit("/", 1)[0], {"metadata": {"name": "chat-0"}})
        busy = iter([refusal(429, "Busy", Retry_After="0"), None])
        front.fault = lambda request: next(busy)
        assert (await client.get(POD))["metadata"]["name"] == "chat-0"
        assert front.requests == [("GET", POD), ("GET", POD)]


@pytest.mark.parametrize("verb", ["GET", "PUT", "PATCH", "DELETE"])
async def test_call_that_failed_is_not_repeated_behind_our_back(tmp_path: Path, verb: str) -> None:
    async with api_front(tmp_path) as (front, client):
        front.fault = lambda request: refusal(503, "Away")
        with pytest.raises(Unavailable, match="503"):
            await client.request(verb, POD)
        assert front.requests == [(verb, POD)]


@pytest.mark.parametrize("text", ['{"metadata": {"na', "<html>502</html>", "", "[]", "null"])
async def test_answer_that_was_cut_on_its_way_is_no_answer(tmp_path: Path, text: str) -> None:
    async with api_front(tmp_path) as (front, client):
        front.fault = lambda request: web.Response(text=text)
        with pytest.raises(Unavailable, match=f"GET {POD}: the answer is no"):
            await client.get(POD)


@pytest.mark.parametrize("asked", ["0", "-5", "nan", "inf", "1e9", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_pause_that_a_busy_server_asks_for_is_neither_none_nor_for_ever(asked: str) -> None:
    error = error_of("GET /x", 429, b"", asked)
    assert isinstance(error, TooManyRequests)
    assert 0.1 <= error.retry_after_s <= 60


async def test_call_that_hangs_ends_at_its_deadline(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, client):
        front.fault = lambda request: refusal(429, "Busy", Retry_After="60")
        with pytest.raises(Unavailable, match="no answer within"):
            await client.request("GET", POD, deadline_s=0.05)


async def test_server_that_is_not_there_is_unavailable_and_not_refused(tmp_path: Path) -> None:
    async with api_front(tmp_path):
        pass  # it leaves its address behind
    async with connect("ns", tmp_path / "kubeconfig") as client:
        with pytest.raises(Unavailable):
            await client.get(POD)


async def test_observer_is_told_of_every_request(tmp_path: Path) -> None:
    async with api_front(tmp_path) as (front, _):
        front.fault = lambda request: web.json_response({}, status=418)
        seen: list[tuple[str, int | str]] = []
        async with connect(
            "ns", tmp_path / "kubeconfig", lambda *said: seen.append(said)
        ) as client:
            with pytest.raises(Refused):
                await client.get(POD)
        assert seen == [("GET", 418)]


@pytest.mark.parametrize(
    ("cause", "code", "kind"),
    [("NamespaceTerminating", "403-ending", NamespaceEnds), ("FieldValueInvalid", 403, Forbidden)],
)
async def test_refusal_in_a_namespace_that_is_deleted_is_no_missing_right(
    tmp_path: Path, cause: str, code: int | str, kind: type[Forbidden]
) -> None:
    """An alert is given for a right that is missing, and namespaces are deleted every day."""
    said = {"message": "no", "details": {"causes": [{"reason": cause}]}}
    async with api_front(tmp_path) as (front, _):
        front.fault = lambda request: web.json_response(said, status=403)
        seen: list[tuple[str, int | str]] = []
        async with connect(
            "ns", tmp_path / "kubeconfig", lambda *said: seen.append(said)
        ) as client:
            with pytest.raises(Forbidden) as refused:
                await client.create(POD, {})
            with pytest.raises(Forbidden):
                async with client.stream(POD, {"watch": "true"}, 5.0):
                    pass
    assert type(refused.value) is kind
    assert seen == [("POST", code), ("WATCH", code)]


@pytest.mark.parametrize("details", [None, [], {"causes": {}}, {"causes": [None, "x", {}]}])
async def test_forbidden_answer_of_any_form_is_forbidden(tmp_path: Path, details: Any) -> None:
    async with api_front(tmp_path) as (front, client):
        front.fault = lambda request: web.json_response({"details": details}, status=403)
        with pytest.raises(Forbidden) as refused:
            await client.get(POD)
    assert type(refused.value) is Forbidden


async def test_missing_kubeconfig_says_what_to_pass(tmp_path: Path) -> None:
    with pytest.raises(KubeError, match="pass --kubeconfig FILE"):
        async with connect("ns", tmp_path / "nowhere"):
            pass
