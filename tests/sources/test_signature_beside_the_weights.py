"""A signature lies beside the weights in any store: absent is the weights' fault, unreadable never is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import checkpoints
from localcluster.certificates import Authority
from objectstore.files import sha256sum, static
from objectstore.front import Front, front
from objectstore.server import S3Server
from objectstore.tls import server_side, trusted
from reports import report_of
from signers import Signer
from sources.conftest import Stored
from sources.reading import QUICK
from weightrollout.api.signature import SIGNATURE_FILE
from weightrollout.api.swap import FailureClass
from weightrollout.handover.records import ImageIndex
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import never
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.made(tmp_path / "signer")


def stage(store: Store, folder: Path, uri: str, signer: Signer) -> ImageIndex:
    return store.stage(
        uri,
        digest=None,
        reports=[report_of(folder)],
        progress=lambda _: None,
        cancelled=never,
        signature=signer.by_key,
    )


def reason(store: Store, folder: Path, uri: str, signer: Signer) -> tuple[Reason, FailureClass]:
    with pytest.raises(WeightsError) as caught:
        stage(store, folder, uri, signer)
    assert store.signed() == frozenset()
    return caught.value.reason, caught.value.failure_class


def test_signed_objects_become_an_image_and_a_store_that_fails_is_no_fault_of_theirs(
    store: Store, stored: Stored, s3: S3Server, signer: Signer
) -> None:
    missing = reason(store, stored.folder, stored.uri, signer)
    assert missing == (Reason.SIGNATURE_MISSING, FailureClass.WEIGHTS)
    signer.sign(stored.folder)
    s3.upload(stored.folder, stored.bucket, "models/chat")
    stored.front.say(SIGNATURE_FILE, 403, times=1)
    denied = reason(store, stored.folder, stored.uri, signer)
    assert denied == (Reason.SOURCE_DENIED, FailureClass.ENVIRONMENT)
    stored.front.say(SIGNATURE_FILE, 503, times=1)
    index = stage(store, stored.folder, stored.uri, signer)
    assert store.signed() == {signer.by_key.proof(index.digest)}


@contextmanager
def web(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:
    authority = Authority()
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted(authority, tmp_path)))
    with front(static(folder), server_side(authority, tmp_path)) as served:
        yield served


def test_web_server_need_not_list_the_signature(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signer: Signer
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    sha256sum(folder)
    with web(folder, tmp_path, monkeypatch) as served:
        uri = f"{served.url}/models/chat/"
        missing = reason(store, folder, uri, signer)
        assert missing == (Reason.SIGNATURE_MISSING, FailureClass.WEIGHTS)
        signer.sign(folder)
        served.say(SIGNATURE_FILE, 500, times=QUICK.attempts)
        unreadable = reason(store, folder, uri, signer)
        assert unreadable == (Reason.SOURCE_UNREADABLE, FailureClass.ENVIRONMENT)
        served.say(SIGNATURE_FILE, 503, times=1)
        assert stage(store, folder, uri, signer)
