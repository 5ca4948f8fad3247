"""A store that sends its reader to another host gets nothing there: no request is made, so no credential is in it.

One test says what a redirect takes along where we cannot forbid it, behind a proxy of the environment: it fails when
the library's habits change, and docs/sources.md with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.files import azure, google
from objectstore.front import Answer, Front, Request, front
from objectstore.tls import server_side, trusted
from sources.reading import QUICK, refusal, stage_uri
from weightrollout.weights.errors import Reason
from weightrollout.weights.staging import Store

SECRET = "c2VjcmV0LXNlY3JldHNl"
#: By kind: what an agent's environment holds.
CREDENTIALS = {
    "s3": {
        "AWS_ACCESS_KEY_ID": "AKIDFORTESTS",
        "AWS_SECRET_ACCESS_KEY": "unseen",
        "AWS_SESSION_TOKEN": SECRET,
    },
    "az key": {"AZURE_STORAGE_ACCOUNT_KEY": SECRET},
    "az sas": {"AZURE_STORAGE_SAS_TOKEN": f"sv=2023-11-03&sig={SECRET}"},
    "az token": {"AZURE_STORAGE_TOKEN": SECRET},
    "gs token": {"GOOGLE_BEARER_TOKEN": SECRET},
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


@dataclass(frozen=True)
class Place:
    uri: str
    folder: Path
    store: Front
    elsewhere: Front  # the same machine by another name
    lured: list[Request]  # what came there

    def redirect(self, part: str, status: int) -> None:
        port = self.elsewhere.url.rpartition(":")[2]
        target = f"http://localhost:{port}/elsewhere"
        self.store.spoil(part, lambda _: Answer(status, {"Location": target}))


@pytest.fixture(params=CREDENTIALS)
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    """A checkpoint in a store of one kind, for a reader with one kind of credential."""
    scheme = request.param[:2]
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    # A list of S3 has the form of Google's.
    answers = azure(folder, "a", "b", "m/") if scheme == "az" else google(folder, "b", "m/")
    with front(lambda _: Answer(200)) as elsewhere, front(answers) as served:
        settings = {
            "AWS_ENDPOINT_URL": served.url,
            "AWS_ALLOW_HTTP": "true",
            "GOOGLE_BASE_URL": served.url,
            "GOOGLE_ALLOW_HTTP": "true",
            "AZURE_STORAGE_ACCOUNT_NAME": "a",
            "AZURE_STORAGE_ENDPOINT": f"{served.url}/a",
            "AZURE_ALLOW_HTTP": "true",
            **CREDENTIALS[request.param],
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield Place(f"{scheme}://b/m/", folder, served, elsewhere, elsewhere.heard)


@pytest.mark.parametrize("part", ["?", ".safetensors"], ids=["list", "file"])
def test_no_request_is_made_to_another_host(store: Store, place: Place, part: str) -> None:
    place.redirect(part, 302)
    assert refusal(place.folder, place.uri, store).reason is Reason.SOURCE_UNTRUSTED
    assert place.lured == []


@pytest.mark.parametrize("place", ["az sas"], indirect=True)
@pytest.mark.parametrize("status", [301, 303, 307, 308])
def test_every_kind_of_redirect_is_one(store: Store, place: Place, status: int) -> None:
    place.redirect(".safetensors", status)
    assert refusal(place.folder, place.uri, store).reason is Reason.SOURCE_UNTRUSTED
    assert place.lured == []


@pytest.mark.parametrize("place", ["az sas", "gs token"], indirect=True)
def test_store_may_send_its_reader_to_another_place_of_its_own(store: Store, place: Place) -> None:
    def moved(_: Answer) -> Answer:
        path = place.store.heard[-1].path
        return Answer(307, {"Location": f"{place.store.url}{path}"})

    place.store.spoil("model-00001", moved, times=1)
    assert stage_uri(place.folder, place.uri, store).digest


def test_behind_a_proxy_a_redirect_takes_along_what_the_docs_say(
    store: Store, place: Place, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # these stores are read without TLS
    place.redirect(".safetensors", 307)
    refusal(place.folder, place.uri, store)
    taken = {
        name
        for each in place.lured
        for name in ("authorization", "x-amz-security-token", "referer")
        if SECRET in each.headers.get(name, "")
    }
    kind = request.node.callspec.params["place"]
    assert place.lured
    assert taken == {"s3": {"x-amz-security-token"}, "az sas": {"referer"}}.get(kind, set())
    assert not any("authorization" in each.headers for each in place.lured)


def test_no_redirect_leaves_tls(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", SECRET)
    with (
        front(lambda _: Answer(200)) as plain,
        front(google(folder, "b", "m/"), server_side(authority, tmp_path)) as served,
    ):
        monkeypatch.setenv("GOOGLE_BASE_URL", served.url)
        target = f"{plain.url.replace('127.0.0.1', 'localhost')}/elsewhere"
        served.spoil(".safetensors", lambda _: Answer(302, {"Location": target}))
        error = refusal(folder, "gs://b/m/", store)
    assert (error.reason, plain.heard) == (Reason.SOURCE_UNTRUSTED, [])
