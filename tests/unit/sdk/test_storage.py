"""Tensors become a folder that agents take: whole or not there, and the same one for the same tensors."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import checkpoints
from weightrollout.sdk import Folder, NotPublished
from weightrollout.sdk import storage as storage_module
from weightrollout.weights.digest import digest_of

TENSORS = {
    name: np.full(shape, number, np.float32)
    for number, (name, (_, shape)) in enumerate(checkpoints.tiny_shapes().items())
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "base", seed=1)


async def test_folder_has_the_tensors_the_metadata_and_the_digest(
    base: Path, tmp_path: Path
) -> None:
    stored = await Folder(tmp_path / "out", base).put("exp.1", TENSORS)
    folder = tmp_path / "out" / "exp.1"
    assert stored.uri == folder.as_uri() + "/"
    assert stored.digest == digest_of(folder, threads=1)
    found = checkpoints.stored(folder)
    assert {name: bytes(each.data()) for name, each in found.items()} == {
        name: each.tobytes() for name, each in TENSORS.items()
    }
    assert (folder / "config.json").read_bytes() == (base / "config.json").read_bytes()
    sums = (folder / "SHA256SUMS").read_text().splitlines()
    assert len(sums) == len([each for each in folder.iterdir() if each.name != "SHA256SUMS"])
    assert folder.stat().st_mode & 0o055 == 0o055, "agents are other users"


async def test_shards_hold_every_tensor_once_and_same_tensors_give_the_same_digest(
    base: Path, tmp_path: Path
) -> None:
    one = await Folder(tmp_path / "one", base, shard_bytes=20_000).put("exp.1", TENSORS)
    other = dict(reversed(TENSORS.items()))
    two = await Folder(tmp_path / "two", base, shard_bytes=20_000).put("exp.9", other)
    assert one.digest == two.digest
    files = list((tmp_path / "one" / "exp.1").glob("model-*.safetensors"))
    assert len(files) > 1
    assert set(checkpoints.stored(tmp_path / "one" / "exp.1")) == set(TENSORS)


async def test_version_is_written_once(base: Path, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "out", base)
    first = await folder.put("exp.1", TENSORS)
    assert await folder.put("exp.1", TENSORS) == first
    changed = {**TENSORS, "model.norm.weight": TENSORS["model.norm.weight"] + 1}
    with pytest.raises(NotPublished, match="VersionReused"):
        await folder.put("exp.1", changed)
    assert digest_of(tmp_path / "out" / "exp.1", threads=1) == first.digest
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["exp.1"], "nothing is left over"


async def test_full_disk_leaves_nothing_behind(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        await Folder(tmp_path / "out", base).put("exp.1", TENSORS)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("tensors", [{}, {"a": [1.0]}, {"a": np.zeros(1), "b": 1}])
async def test_what_is_no_tensor_is_refused(
    base: Path, tmp_path: Path, tensors: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match="tensors"):
        await Folder(tmp_path / "out", base).put("exp.1", tensors)


def test_torch_is_never_imported_by_the_sdk() -> None:
    assert not hasattr(storage_module, "torch")
