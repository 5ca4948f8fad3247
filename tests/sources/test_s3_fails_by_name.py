"""A store that refuses, stalls, lies or changes is the environment's fault, by name, and nothing is staged."""

from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.front import Answer, cut, forward, front, shorter, silent
from objectstore.server import S3Server
from objectstore.tls import server_side
from sources.conftest import Stored
from sources.reading import QUICK, refusal
from weightrollout.weights.errors import Reason
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, Reason.SOURCE_DENIED),
        (403, Reason.SOURCE_DENIED),
        (404, Reason.SOURCE_CHANGED),
        (412, Reason.SOURCE_CHANGED),
        (416, Reason.SOURCE_CHANGED),
        (400, Reason.SOURCE_UNREADABLE),
        (429, Reason.SOURCE_BUSY),
        (500, Reason.SOURCE_UNREADABLE),
        (503, Reason.SOURCE_BUSY),
    ],
)
def test_status_of_an_object_has_a_name(
    store: Store, stored: Stored, status: int, reason: Reason
) -> None:
    stored.front.say(".safetensors", status)
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is reason
    assert stored.uri.rstrip("/") in error.message
    assert "SECRET" not in error.message


def test_status_of_a_small_file_has_the_same_name(store: Store, stored: Stored) -> None:
    stored.front.say("/tokenizer.json", 503)
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_BUSY


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, Reason.SOURCE_DENIED),
        (403, Reason.SOURCE_DENIED),
        (404, Reason.SOURCE_NOT_FOUND),
        (503, Reason.SOURCE_BUSY),
    ],
)
def test_status_of_a_list_has_a_name(
    store: Store, stored: Stored, status: int, reason: Reason
) -> None:
    stored.front.say("list-type", status)
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is reason
    assert "SECRET" not in error.message


def test_token_that_expired_is_denied(store: Store, stored: Stored) -> None:
    body = b"<Error><Code>ExpiredToken</Code><Message>x</Message></Error>"
    stored.front.spoil(".safetensors", lambda _: Answer(400, {}, body))
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_DENIED


def test_bucket_that_is_not_there_and_folder_that_is_empty(store: Store, stored: Stored) -> None:
    gone = refusal(stored.folder, "s3://no-such-bucket-here/models/", store)
    empty = refusal(stored.folder, f"s3://{stored.bucket}/models/none/", store)
    assert (gone.reason, empty.reason) == (Reason.SOURCE_NOT_FOUND, Reason.SOURCE_EMPTY)


def test_wrong_secret_is_denied_and_not_told(
    store: Store, stored: Stored, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "WRONGSECRET")
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is Reason.SOURCE_DENIED
    assert not any(word in error.message for word in ("WRONGSECRET", s3.user, "Signature"))


def test_bucket_of_another_region_is_told_as_that(store: Store, stored: Stored) -> None:
    stored.front.say("list-type", 301)
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is Reason.SOURCE_NOT_FOUND
    assert "AWS_REGION" in error.message


def test_pod_without_credentials_is_denied(
    store: Store, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_DENIED


def test_server_that_is_not_there_is_unreachable(
    store: Store, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_UNREACHABLE


def test_connection_that_is_cut_each_time_is_unreadable(store: Store, stored: Stored) -> None:
    stored.front.spoil(".safetensors", cut(10))
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_UNREADABLE


def test_silent_server_is_given_up(store: Store, stored: Stored) -> None:
    stored.front.spoil(".safetensors", silent)
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_UNREADABLE


def test_range_that_is_too_short_is_unreadable(store: Store, stored: Stored) -> None:
    stored.front.spoil(".safetensors", shorter(1))
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_UNREADABLE


def test_object_that_is_replaced_between_list_and_read_is_a_change(
    store: Store, stored: Stored, s3: S3Server, tmp_path: Path
) -> None:
    other = checkpoints.write_checkpoint(tmp_path / "other", seed=2)
    done: list[str] = []

    def replaced(answer: Answer) -> Answer:
        if not done:
            done.append("")
            s3.upload(other, stored.bucket, "models/chat")
        return answer

    stored.front.spoil("list-type", replaced, times=1)
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is Reason.SOURCE_CHANGED
    assert "publish to a new folder" in error.message


def test_server_that_heeds_no_condition_is_seen_by_its_etag(store: Store, stored: Stored) -> None:
    def other(answer: Answer) -> Answer:
        others = {key: value for key, value in answer.headers.items() if key.lower() != "etag"}
        return replace(answer, headers={**others, "ETag": '"of-another"'})

    stored.front.spoil(".safetensors", other)
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_CHANGED


def test_file_that_is_added_while_others_are_read_is_a_change(
    store: Store, stored: Stored, s3: S3Server, tmp_path: Path
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "merges.txt").write_text("x")

    def added(answer: Answer) -> Answer:
        s3.upload(more, stored.bucket, "models/chat")
        return answer

    stored.front.spoil(".safetensors", added, times=1)
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_CHANGED


def test_certificate_of_an_unknown_authority_is_refused(
    store: Store, stored: Stored, s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with front(forward(s3.address), server_side(Authority(), tmp_path)) as secured:
        monkeypatch.setenv("AWS_ENDPOINT_URL", secured.url)
        assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_UNTRUSTED
    assert secured.heard == []


def test_endpoint_without_tls_must_be_asked_for(
    store: Store, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is Reason.SOURCE_UNSUPPORTED
    assert "AWS_ALLOW_HTTP" in error.message
    assert stored.front.heard == []
