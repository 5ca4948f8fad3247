"""What lies in a bucket is staged as what lies in a folder: the same digest, the same image, little memory."""

from pathlib import Path

import pytest

import checkpoints
from objectstore.front import cut
from objectstore.server import S3Server
from reports import report_of
from sources.conftest import Stored
from sources.reading import QUICK, stage_uri
from stagings import block_bytes
from weightrollout.weights import digest
from weightrollout.weights.staging import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2, patience=QUICK)


def test_image_from_s3_holds_the_bytes_of_the_folder(store: Store, stored: Stored) -> None:
    report = report_of(stored.folder)
    index = stage_uri(stored.folder, stored.uri, store)
    assert index.digest == digest.digest_of(stored.folder, threads=1)
    region = store.region(index.digest, index.plan_id)
    for block in report.plan.blocks:
        name = block.parameter
        assert block_bytes(region, report, name) == checkpoints.stored(stored.folder)[name].data()


@pytest.mark.parametrize("end", ["", "/"])
def test_slash_at_the_end_changes_nothing(store: Store, stored: Stored, end: str) -> None:
    uri = stored.uri.rstrip("/") + end
    assert stage_uri(stored.folder, uri, store).digest


def test_folder_with_a_longer_name_and_subfolders_are_not_read(
    store: Store, stored: Stored, s3: S3Server, tmp_path: Path
) -> None:
    other = checkpoints.write_checkpoint(tmp_path / "other", seed=2)
    s3.upload(other, stored.bucket, "models/chat-2")
    s3.upload(other, stored.bucket, "models/chat/checkpoint-1")
    found = stage_uri(stored.folder, stored.uri, store).digest
    assert found == digest.digest_of(stored.folder, threads=1)


def test_reading_goes_on_after_connections_were_cut(store: Store, stored: Stored) -> None:
    stored.front.spoil(".safetensors", cut(10), times=2)
    index = stage_uri(stored.folder, stored.uri, store)
    assert index.digest == digest.digest_of(stored.folder, threads=1)
    asked = [(each.path, each.headers.get("range")) for each in stored.front.asked(".safetensors")]
    assert len(asked) > len(set(asked))  # the same range again


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_failure_that_passes_is_not_seen(store: Store, stored: Stored, status: int) -> None:
    stored.front.say(".safetensors", status, times=2)
    stored.front.say("list-type", status, times=2)
    assert stage_uri(stored.folder, stored.uri, store).digest
