"""What befalls a file that was looked at already: each fault by its name, from a bucket, a web server and a hub's other host."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.files import hub, sha256sum, static
from objectstore.front import Answer, Front, Spoil, cut, forward, front, shorter, silent, trickling
from objectstore.server import S3Server
from objectstore.tls import server_side, trusted
from sources.reading import refusal, stage_uri
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason
from weightrollout.weights.sources.retry import Patience
from weightrollout.weights.staging import Store

#: Two attempts, so that what is asked for again is; a request may take four times the deadline.
TWICE = Patience(attempts=2, first_s=0.01, most_s=0.05, deadline_s=0.3)
FILE = "model-00001-of-00002.safetensors"
OTHER = "model-00002-of-00002.safetensors"
MIB = 1 << 20
#: One in each file.
TENSORS = {"one.weight": ("BF16", (MIB,)), "other.weight": ("BF16", (MIB,))}


@dataclass(frozen=True)
class Place:
    folder: Path
    uri: str
    files: Front  # who gives the ranges of tensor files


@pytest.fixture(params=["s3", "https", "hf"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1, tensors=TENSORS)
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    tls = server_side(authority, tmp_path)
    with ExitStack() as stack:
        match request.param:
            case "s3":
                s3: S3Server = request.getfixturevalue("s3")
                bucket = s3.bucket()
                s3.upload(folder, bucket, "chat")
                served = stack.enter_context(front(forward(s3.address)))
                for name, value in s3.environment(served.url).items():
                    monkeypatch.setenv(name, value)
                yield Place(folder, f"s3://{bucket}/chat/", served)
            case "https":
                sha256sum(folder)
                served = stack.enter_context(front(static(folder), tls))
                yield Place(folder, f"{served.url}/models/chat/", served)
            case _:
                served = stack.enter_context(front(static(folder, "/blobs/"), tls))
                at = stack.enter_context(front(hub(folder, lambda: served.url), tls))
                monkeypatch.setenv("HF_ENDPOINT", at.url)
                yield Place(folder, "hf://org/chat/", served)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=TWICE)


def later(spoil: Spoil) -> Spoil:
    """Spares the look at the first byte by which a web server's file is known."""
    return lambda answer: answer if len(answer.body) <= 1 else spoil(answer)


def status(code: int) -> Spoil:
    return later(lambda _: Answer(code, {"Retry-After": "0"}, b"SECRET-OF-THE-SERVER"))


def other_etag(answer: Answer) -> Answer:
    kept = {name: value for name, value in answer.headers.items() if name.lower() != "etag"}
    return replace(answer, headers={**kept, "ETag": '"of-another"'})


def other_size(answer: Answer) -> Answer:
    headers = {
        name: re.sub(r"/\d+$", "/99", value) if name.lower() == "content-range" else value
        for name, value in answer.headers.items()
    }
    return replace(answer, headers=headers)


def longer(answer: Answer) -> Answer:
    kept = {name: each for name, each in answer.headers.items() if name.lower() != "content-length"}
    return replace(answer, headers=kept, body=answer.body + b"more")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (status(401), Reason.SOURCE_DENIED),
        (status(403), Reason.SOURCE_DENIED),
        (status(404), Reason.SOURCE_CHANGED),
        (status(416), Reason.SOURCE_CHANGED),
        (status(429), Reason.SOURCE_BUSY),
        (status(500), Reason.SOURCE_UNREADABLE),
        (later(cut(10)), Reason.SOURCE_UNREADABLE),
        (later(silent), Reason.SOURCE_UNREADABLE),
        (later(trickling), Reason.SOURCE_UNREADABLE),
        (later(shorter(1)), Reason.SOURCE_UNREADABLE),
        (later(longer), Reason.SOURCE_UNREADABLE),
    ],
    ids=[
        *("401 as of a token that expired", "403", "404", "416", "429", "500", "reset in mid-body"),
        *("silent", "slow", "too short", "too long"),
    ],
)
def test_fault_in_mid_reading_has_a_name_and_nothing_is_staged(
    store: Store, place: Place, spoil: Spoil, reason: Reason
) -> None:
    place.files.spoil(FILE, spoil)
    error = refusal(place.folder, place.uri, store)
    assert error.reason is reason
    assert "SECRET" not in error.message


@pytest.mark.parametrize(
    "spoil", [status(429), status(500), later(cut(10)), later(silent), later(shorter(1))]
)
def test_reading_goes_on_after_a_fault_that_passes(
    store: Store, place: Place, spoil: Spoil
) -> None:
    place.files.spoil(FILE, spoil, times=1)
    found = stage_uri(place.folder, place.uri, store)
    assert found.digest == digest.digest_of(place.folder, threads=1)


def test_what_came_before_a_failure_is_not_read_again(place: Place, tmp_path: Path) -> None:
    store = Store(tmp_path / "staging", threads=1, patience=TWICE)  # one file after the other
    expired = [True]

    def denied(answer: Answer) -> Answer:
        return Answer(403) if expired and len(answer.body) > 64 << 10 else answer

    place.files.spoil(OTHER, denied)
    assert refusal(place.folder, place.uri, store).reason is Reason.SOURCE_DENIED
    expired.clear()
    place.files.heard.clear()

    after = Store(tmp_path / "staging", threads=1, patience=TWICE)  # as a new process has it
    found = stage_uri(place.folder, place.uri, after)

    assert found.digest == digest.digest_of(place.folder, threads=1)
    ranges = [each.headers["range"].removeprefix("bytes=") for each in place.files.asked(FILE)]
    asked = (each.partition("-") for each in ranges)
    assert sum(int(end) - int(begin) for begin, _, end in asked) < MIB  # its header


def test_range_of_a_file_of_another_size_is_not_taken(store: Store, place: Place) -> None:
    place.files.spoil(FILE, later(other_size))
    library = place.uri.startswith("s3:")  # it finds that out by itself, and does not say so
    reason = Reason.SOURCE_UNREADABLE if library else Reason.SOURCE_CHANGED
    assert refusal(place.folder, place.uri, store).reason is reason


# Not of a hub: a commit's files cannot change, and other bytes are SourceCorrupt.
@pytest.mark.parametrize("place", ["s3", "https"], indirect=True)
def test_file_that_is_another_one_in_its_second_half_is_a_change(
    store: Store, place: Place
) -> None:
    asked: list[int] = []

    def second(answer: Answer) -> Answer:
        asked.append(len(answer.body))
        return other_etag(answer) if len(asked) > 1 else answer

    place.files.spoil(FILE, later(second))
    assert refusal(place.folder, place.uri, store).reason is Reason.SOURCE_CHANGED


def test_certificate_of_another_host_is_refused(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    sha256sum(folder)
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    with front(static(folder), server_side(authority, tmp_path, ["elsewhere.example"])) as served:
        error = refusal(folder, f"{served.url}/models/chat/", store)
    assert error.reason is Reason.SOURCE_UNTRUSTED
    assert served.heard == []


def test_server_that_speaks_no_tls_is_untrusted(store: Store, tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    sha256sum(folder)
    with front(static(folder)) as served:
        uri = served.url.replace("http://", "https://") + "/models/chat/"
        assert refusal(folder, uri, store).reason is Reason.SOURCE_UNTRUSTED
    assert served.heard == []
