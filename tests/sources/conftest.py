"""Checkpoints in a real S3 server, and a front before it that spoils what it answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import checkpoints
from objectstore.front import Front, forward, front
from objectstore.server import S3Server, s3_server
from sources.nodes import Node, node_with_a_bucket


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as found:
        yield found


@dataclass(frozen=True)
class Stored:
    """One checkpoint, here and in a bucket."""

    folder: Path
    bucket: str
    front: Front  # the store's endpoint, for the source

    @property
    def uri(self) -> str:
        return f"s3://{self.bucket}/models/chat/"


@pytest.fixture
def stored(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stored]:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    bucket = s3.bucket()
    s3.upload(folder, bucket, "models/chat")
    with front(forward(s3.address)) as before:
        for name, value in s3.environment(before.url).items():
            monkeypatch.setenv(name, value)
        yield Stored(folder, bucket, before)


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    with node_with_a_bucket(tmp_path, monkeypatch.setenv) as found:
        yield found
