"""gs:// and az:// against other people's servers: fake-gcs-server and Azurite, which checks keys and signatures.

Apart from `make test`: the servers are built and installed from some hundred packages (`make test-clouds`).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

import checkpoints
from objectstore.clouds import Azure, Cloud, azure_server, google_server, upload
from objectstore.front import Answer, Front, cut, forward, front
from sources.reading import QUICK, refusal, stage_uri
from weightrollout.weights import digest
from weightrollout.weights.errors import Reason
from weightrollout.weights.sources import never, opened
from weightrollout.weights.staging import Store

#: Of many ranges.
LARGE_BYTES = 37 * (1 << 20) + 11


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    with azure_server(tmp_path_factory.mktemp("azure")) as found:
        yield found


@pytest.fixture(scope="session", params=["google", "azure"])
def cloud(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cloud]:
    if request.param == "azure":
        yield request.getfixturevalue("azurite")
        return
    with google_server(tmp_path_factory.mktemp("google")) as found:
        yield found


@dataclass(frozen=True)
class Stored:
    """One checkpoint, here and in a bucket of its own."""

    folder: Path
    bucket: str
    front: Front

    @property
    def uri(self) -> str:
        return f"{self.bucket}/models/chat"


@pytest.fixture
def stored(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stored]:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    bucket = cloud.bucket()
    upload(cloud, folder, f"{bucket}/models/chat")
    with front(forward(cloud.address)) as before:
        for name, value in cloud.environment(before.url).items():
            monkeypatch.setenv(name, value)
        yield Stored(folder, bucket, before)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=replace(QUICK, deadline_s=10))


def test_folder_is_staged_as_itself(store: Store, stored: Stored) -> None:
    found = stage_uri(stored.folder, f"{stored.uri}/", store)
    assert found.digest == digest.digest_of(stored.folder, threads=1)


def test_object_of_many_ranges_comes_whole(cloud: Cloud, stored: Stored) -> None:
    data = os.urandom(LARGE_BYTES)
    cloud.put(f"{stored.bucket}/large/model.safetensors", data)
    source = opened(f"{stored.bucket}/large/", never, QUICK)
    source.stamps()
    with source.open("model.safetensors") as file:
        into = bytearray(LARGE_BYTES)
        assert file.readinto(into) == LARGE_BYTES
    source.close()
    assert into == data
    assert len({each.headers.get("range") for each in stored.front.asked("/large/")}) > 8


def test_longer_names_and_subfolders_are_not_read(
    cloud: Cloud, store: Store, stored: Stored
) -> None:
    cloud.put(f"{stored.uri}-2/model.safetensors", b"x")
    cloud.put(f"{stored.uri}/deeper/model.safetensors", b"x")
    found = stage_uri(stored.folder, stored.uri, store)
    assert found.digest == digest.digest_of(stored.folder, threads=1)


def test_object_that_is_replaced_while_it_is_read_is_a_change(
    cloud: Cloud, store: Store, stored: Stored
) -> None:
    file = min(stored.folder.glob("*.safetensors"))

    def replaced(answer: Answer) -> Answer:
        cloud.put(f"{stored.uri}/{file.name}", file.read_bytes()[:-1] + b"x")
        return answer

    stored.front.spoil("prefix=", replaced, times=1)
    assert refusal(stored.folder, stored.uri, store).reason is Reason.SOURCE_CHANGED


def test_folder_that_is_not_there_is_empty(store: Store, stored: Stored) -> None:
    error = refusal(stored.folder, f"{stored.bucket}/none/", store)
    assert error.reason is Reason.SOURCE_EMPTY


def test_reading_goes_on_after_connections_were_cut(store: Store, stored: Stored) -> None:
    stored.front.spoil("model-00001", cut(10), times=2)
    assert stage_uri(stored.folder, stored.uri, store).digest


only_azure = pytest.mark.parametrize("cloud", ["azure"], indirect=True)


@only_azure  # fake-gcs-server answers 500, where Google says 404
def test_container_that_is_not_there_is_not_found(store: Store, stored: Stored) -> None:
    error = refusal(stored.folder, f"{stored.bucket}-none/models/", store)
    assert error.reason is Reason.SOURCE_NOT_FOUND


@only_azure
def test_wrong_key_is_denied_and_not_told(
    store: Store, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "d3Jvbmcta2V5LXdyb25n")
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is Reason.SOURCE_DENIED
    assert "d3Jvbmcta2V5LXdyb25n" not in error.message


@only_azure
@pytest.mark.parametrize(
    ("rights", "hours", "reason"),
    [("rl", 1, None), ("r", 1, Reason.SOURCE_DENIED), ("rl", -1, Reason.SOURCE_DENIED)],
    ids=["enough", "no list", "expired"],
)
def test_signature_opens_what_it_says_and_as_long(
    azurite: Azure,
    store: Store,
    stored: Stored,
    monkeypatch: pytest.MonkeyPatch,
    rights: str,
    hours: int,
    reason: Reason | None,
) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_KEY")
    sas = azurite.sas(stored.bucket, rights, timedelta(hours=hours))
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", sas)
    if reason is None:
        assert stage_uri(stored.folder, stored.uri, store).digest
        return
    error = refusal(stored.folder, stored.uri, store)
    assert error.reason is reason
    assert "sig" not in error.message
