"""Google's and Azure's stores, as far as a small server can play them: a list, and ranges of one ETag.

No cloud was asked: identities of pods on them are obstore's own part.
"""

from pathlib import Path

import pytest

import checkpoints
from objectstore.files import azure, google, google_environment
from objectstore.front import Answer, Front, front
from sources.reading import QUICK, refusal, stage_uri
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "model", seed=1)


def _google(served: Front, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in google_environment(served.url, tmp_path / "account.json").items():
        monkeypatch.setenv(name, value)


def _azure(served: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", f"{served.url}/account")
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")
    monkeypatch.setenv("AZURE_SKIP_SIGNATURE", "true")


def test_folder_of_a_google_bucket_is_staged(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with front(google(folder, "bucket", "models/chat/")) as served:
        _google(served, tmp_path, monkeypatch)
        found = stage_uri(folder, "gs://bucket/models/chat/", store)
    assert found.digest == digest.digest_of(folder, threads=1)


def test_folder_of_an_azure_container_is_staged(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with front(azure(folder, "account", "container", "models/chat/")) as served:
        _azure(served, monkeypatch)
        found = stage_uri(folder, "az://container/models/chat/", store)
    assert found.digest == digest.digest_of(folder, threads=1)


@pytest.mark.parametrize(
    ("status", "reason"),
    [(403, Reason.SOURCE_DENIED), (404, Reason.SOURCE_CHANGED), (503, Reason.SOURCE_BUSY)],
)
def test_status_has_the_same_name_in_every_cloud(
    store: Store,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    reason: Reason,
) -> None:
    for served, uri in (
        (google(folder, "bucket", "m/"), "gs://bucket/m/"),
        (azure(folder, "account", "container", "m/"), "az://container/m/"),
    ):
        with front(served) as at:
            _google(at, tmp_path, monkeypatch)
            _azure(at, monkeypatch)
            at.spoil(".safetensors", lambda _: Answer(status))
            assert refusal(folder, uri, store).reason is reason


@pytest.mark.parametrize("uri", ["gs://bucket/m/", "az://container/m/"])
def test_endpoint_without_tls_is_told_with_the_variable_that_allows_it(
    store: Store, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    with front(google(folder, "bucket", "m/")) as served:
        _google(served, tmp_path, monkeypatch)
        _azure(served, monkeypatch)
        for name in ("GOOGLE_ALLOW_HTTP", "AZURE_ALLOW_HTTP"):
            monkeypatch.delenv(name)
        error = refusal(folder, uri, store)
    assert error.reason is Reason.SOURCE_UNSUPPORTED
    assert {"g": "GOOGLE", "a": "AZURE"}[uri[0]] + "_ALLOW_HTTP=true" in error.message
    assert served.heard == []
