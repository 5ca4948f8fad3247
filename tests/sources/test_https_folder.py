"""A folder behind a web server is staged by its SHA256SUMS; whatever the server does, a failure has a name."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.files import sha256sum, static
from objectstore.front import Answer, Front, cut, front, shorter, silent
from objectstore.tls import server_side, trusted
from sources.reading import QUICK, refusal, stage_uri
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


@dataclass(frozen=True)
class Web:
    folder: Path
    front: Front
    authority: Authority  # that the agent trusts

    @property
    def uri(self) -> str:
        return f"{self.front.url}/models/chat/"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    sha256sum(folder)
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    with front(static(folder), server_side(authority, tmp_path)) as served:
        yield Web(folder, served, authority)


def test_digest_of_a_web_folder_is_that_of_the_folder(store: Store, web: Web) -> None:
    assert stage_uri(web.folder, web.uri, store).digest == digest.digest_of(web.folder, threads=1)


def test_reading_goes_on_after_connections_were_cut_and_asks_to_wait(
    store: Store, web: Web
) -> None:
    web.front.spoil(".safetensors", cut(10), times=2)
    web.front.say("SHA256SUMS", 503, times=2, Retry_After="0")
    assert stage_uri(web.folder, web.uri, store).digest == digest.digest_of(web.folder, threads=1)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda _: Answer(401), Reason.SOURCE_DENIED),
        (lambda _: Answer(403), Reason.SOURCE_DENIED),
        (lambda _: Answer(404), Reason.SOURCE_NOT_FOUND),
        (lambda _: Answer(429, {"Retry-After": "9"}), Reason.SOURCE_BUSY),
        (lambda _: Answer(500), Reason.SOURCE_UNREADABLE),
        (lambda _: Answer(302, {"Location": "https://other.example/x"}), Reason.SOURCE_UNTRUSTED),
        (lambda _: Answer(302, {"Location": "http://localhost/x"}), Reason.SOURCE_UNTRUSTED),
        (cut(0), Reason.SOURCE_UNREADABLE),
        (shorter(1), Reason.SOURCE_UNREADABLE),
        (silent, Reason.SOURCE_UNREADABLE),
        (lambda answer: replace(answer, status=200), Reason.SOURCE_UNREADABLE),
    ],
    ids=[
        *("401", "403", "404", "429", "500", "other host", "no TLS"),
        *("cut", "short", "silent", "no ranges"),
    ],
)
def test_answer_about_a_file_has_a_name(
    store: Store, web: Web, spoil: Callable[[Answer], Answer], reason: Reason
) -> None:
    web.front.spoil("/model-00001", spoil)
    assert refusal(web.folder, web.uri, store).reason is reason


def test_folder_without_a_list_is_told_how_to_make_one(store: Store, web: Web) -> None:
    (web.folder / "SHA256SUMS").unlink()
    error = refusal(web.folder, web.uri, store)
    assert error.reason is Reason.SOURCE_NOT_FOUND
    assert "sha256sum" in error.message


def test_file_that_is_replaced_while_it_is_read_is_a_change(store: Store, web: Web) -> None:
    file = min(web.folder.glob("*.safetensors"))

    def replaced(answer: Answer) -> Answer:
        file.write_bytes(file.read_bytes()[:-1] + b"x")
        return answer

    web.front.spoil("/model-00001", replaced, times=1)
    assert refusal(web.folder, web.uri, store).reason is Reason.SOURCE_CHANGED


def test_other_bytes_than_the_list_names_are_corrupt(store: Store, web: Web) -> None:
    file = min(web.folder.glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    assert refusal(web.folder, web.uri, store).reason is Reason.SOURCE_CORRUPT


def test_certificate_of_an_unknown_authority_is_refused(
    store: Store, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(Authority(), other)))
    assert refusal(web.folder, web.uri, store).reason is Reason.SOURCE_UNTRUSTED
    assert web.front.heard == []


def test_server_that_is_not_there_is_unreachable(store: Store, web: Web) -> None:
    error = refusal(web.folder, "https://127.0.0.1:1/models/chat/", store)
    assert error.reason is Reason.SOURCE_UNREACHABLE


def test_password_goes_to_its_host_alone(
    store: Store, web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    monkeypatch.setenv("NETRC", str(netrc))
    netrc.write_text("machine localhost login me password hidden\n")
    netrc.chmod(0o600)
    stage_uri(web.folder, web.uri, store)
    sent = {each.headers.get("authorization") for each in web.front.heard}
    assert sent == {"Basic " + base64.b64encode(b"me:hidden").decode()}
    web.front.heard.clear()
    other = Store(tmp_path / "other", threads=2, patience=QUICK)
    refusal(web.folder, web.uri.replace("localhost", "127.0.0.1") + "none/", other)
    assert {each.headers.get("authorization") for each in web.front.heard} == {None}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_leads_to_another_port(
    store: Store, web: Web, tmp_path: Path, status: int
) -> None:
    """Although that one is trusted as much, and has the file."""
    with front(static(web.folder), server_side(web.authority, tmp_path)) as other:
        target = f"{other.url}/models/chat/SHA256SUMS"
        web.front.spoil("SHA256SUMS", lambda _: Answer(status, {"Location": target}))
        assert refusal(web.folder, web.uri, store).reason is Reason.SOURCE_UNTRUSTED
    assert other.heard == []


@pytest.mark.parametrize(
    "uri", ["https://me:pw@host/x/", "https://host/x/?token=pw", "https://host/#pw"]
)
def test_credential_in_a_uri_is_refused_and_not_told(store: Store, web: Web, uri: str) -> None:
    error = refusal(web.folder, uri, store)
    assert error.reason is Reason.SOURCE_UNSUPPORTED
    assert "pw" not in error.message
