"""A repository of a hub: its commit is pinned, its hashes are checked, its token goes nowhere else."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.files import COMMIT, hub, static
from objectstore.front import Answer, Front, front
from objectstore.tls import server_side, trusted
from sources.reading import QUICK, refusal, stage_uri
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason
from weightrollout.weights.staging import Store

URI = "hf://org/chat@main"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


@dataclass(frozen=True)
class Published:
    folder: Path
    hub: Front
    cdn: Front


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Published]:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    tls = server_side(authority, tmp_path)
    with (
        front(static(folder, "/blobs/"), tls) as cdn,
        front(hub(folder, lambda: cdn.url), tls) as at,
    ):
        monkeypatch.setenv("HF_ENDPOINT", at.url)
        monkeypatch.setenv("HF_TOKEN", "hf_hidden")
        yield Published(folder, at, cdn)


def test_repository_is_staged_at_its_commit(store: Store, published: Published) -> None:
    found = stage_uri(published.folder, URI, store)
    assert found.digest == digest.digest_of(published.folder, threads=1)
    assert published.cdn.heard
    assert all(COMMIT in each.path for each in published.hub.asked("/resolve/"))
    assert len(published.hub.asked("/revision/")) == 1


def test_token_goes_to_the_hub_and_to_no_other_host(store: Store, published: Published) -> None:
    stage_uri(published.folder, URI, store)
    assert {each.headers.get("authorization") for each in published.hub.heard} == {
        "Bearer hf_hidden"
    }
    assert {each.headers.get("authorization") for each in published.cdn.heard} == {None}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_token_does_not_follow_the_hub_to_another_host(
    store: Store, published: Published, status: int
) -> None:
    target = f"{published.cdn.url}/elsewhere"
    published.hub.spoil("/api/", lambda _: Answer(status, {"Location": target}))
    refusal(published.folder, URI, store)
    assert published.cdn.heard
    assert not any("hf_hidden" in str(each) for each in published.cdn.heard)


def test_branch_that_moves_while_it_is_read_changes_nothing(
    store: Store, published: Published
) -> None:
    published.hub.spoil("/revision/", lambda answer: answer, times=1)
    published.hub.spoil("/revision/", lambda _: Answer(200, {}, b'{"sha": "another"}'))
    found = stage_uri(published.folder, URI, store)
    assert found.digest == digest.digest_of(published.folder, threads=1)
    assert not published.hub.asked("another")


def test_link_that_expired_is_asked_for_again(store: Store, published: Published) -> None:
    file = "/blobs/model-00001"
    published.cdn.spoil(
        file, lambda answer: answer, times=1
    )  # its header is read, by the hub's link
    published.cdn.spoil(file, lambda _: Answer(403), times=1)
    assert stage_uri(published.folder, URI, store).digest


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, Reason.SOURCE_DENIED),
        (403, Reason.SOURCE_DENIED),
        (404, Reason.SOURCE_NOT_FOUND),
        (429, Reason.SOURCE_BUSY),
        (500, Reason.SOURCE_UNREADABLE),
    ],
)
def test_status_of_the_hub_has_a_name(
    store: Store, published: Published, status: int, reason: Reason
) -> None:
    published.hub.say("/api/", status)
    error = refusal(published.folder, URI, store)
    assert error.reason is reason
    assert "hidden" not in error.message


def test_other_bytes_than_the_hub_names_are_corrupt(store: Store, published: Published) -> None:
    file = min(published.folder.glob("*.safetensors"))

    def spoilt(answer: Answer) -> Answer:
        file.write_bytes(file.read_bytes()[:-1] + b"\x01")
        return answer

    published.hub.spoil("/tree/", spoilt, times=1)
    error = refusal(published.folder, URI, store)
    assert error.reason is Reason.SOURCE_CORRUPT
    assert "SIGNED-LINK" not in error.message


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"sha": 3}', b"<html>"])
def test_answer_that_is_no_hubs_is_unreadable(
    store: Store, published: Published, body: bytes
) -> None:
    published.hub.spoil("/revision/", lambda _: Answer(200, {}, body))
    assert refusal(published.folder, URI, store).reason is Reason.SOURCE_UNREADABLE


@pytest.mark.parametrize("uri", ["hf://org", "hf://org/chat@", "hf://org/@main"])
def test_uri_that_names_no_repository_is_refused(
    store: Store, published: Published, uri: str
) -> None:
    assert refusal(published.folder, uri, store).reason is Reason.SOURCE_UNSUPPORTED
