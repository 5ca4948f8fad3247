"""What a trainer writes into a bucket is what agents read from it: whole or not there, and never two contents under one version."""

from pathlib import Path

import numpy as np
import pytest

import checkpoints
from objectstore.server import S3Server
from sources.reading import QUICK
from weightrollout.sdk import Bucket, NotPublished, NotStored
from weightrollout.weights import digest, sources

TENSORS = {
    name: np.full(shape, number, np.float32)
    for number, (name, (_, shape)) in enumerate(checkpoints.tiny_shapes().items())
}
CHANGED = {**TENSORS, "model.norm.weight": TENSORS["model.norm.weight"] + 1}


@pytest.fixture
def bucket(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    base = checkpoints.write_checkpoint(tmp_path / "base", seed=1)
    return Bucket(f"s3://{s3.bucket()}/models/chat", base, tmp_path, shard_bytes=20_000)


def read_as_agents_do(uri: str) -> str:
    source = sources.opened(uri, sources.never, QUICK)
    sums = {}
    for name in source.stamps():
        with source.open(name) as file:
            sums[name] = digest.sha256_from(file)
    source.close()
    return digest.digest_from_sums(sums)


async def test_agents_find_the_digest_that_the_trainer_was_told(bucket: Bucket) -> None:
    stored = await bucket.put("exp.1", TENSORS)
    assert stored.uri == f"{bucket.uri}/exp.1/"
    assert read_as_agents_do(stored.uri) == stored.digest


async def test_version_is_written_once_and_the_same_again_is_the_same(
    bucket: Bucket, s3: S3Server
) -> None:
    first = await bucket.put("exp.1", TENSORS)
    written = files(s3, bucket)
    assert await bucket.put("exp.1", TENSORS) == first
    with pytest.raises(NotPublished, match="VersionReused"):
        await bucket.put("exp.1", CHANGED)
    assert files(s3, bucket) == written
    assert read_as_agents_do(first.uri) == first.digest


async def test_writing_that_was_cut_is_begun_anew(bucket: Bucket, s3: S3Server) -> None:
    first = await bucket.put("exp.1", TENSORS)
    folder = folder_of(s3, bucket)
    (folder / "SHA256SUMS").unlink()  # written last
    (folder / "model-00001-of-00005.safetensors").unlink(missing_ok=True)
    assert await bucket.put("exp.1", TENSORS) == first
    assert read_as_agents_do(first.uri) == first.digest


async def test_file_of_something_else_in_the_folder_is_named(bucket: Bucket, s3: S3Server) -> None:
    await bucket.put("exp.1", TENSORS)
    folder = folder_of(s3, bucket)
    (folder / "SHA256SUMS").unlink()
    (folder / "adapter.safetensors").write_bytes(b"x")
    with pytest.raises(NotPublished, match=r"VersionReused.*adapter\.safetensors"):
        await bucket.put("exp.1", TENSORS)
    assert not (folder / "SHA256SUMS").exists()


async def test_bucket_that_is_not_ours_is_told_without_a_secret(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another secret")
    with pytest.raises(NotStored, match="SourceDenied") as refused:
        await bucket.put("exp.1", TENSORS)
    assert "another secret" not in str(refused.value)
    assert "trainer" in refused.value.message


def folder_of(s3: S3Server, bucket: Bucket) -> Path:
    return s3.root / bucket.uri.removeprefix("s3://") / "exp.1"


def files(s3: S3Server, bucket: Bucket) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder_of(s3, bucket).iterdir()}
