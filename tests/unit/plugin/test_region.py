"""Only what lies in the staging volume, and is what was announced, is mapped into an engine."""

import zlib
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="only an engine's environment has torch")

import torch

from weightrollout.handover import files, records
from weightrollout.handover.records import (
    PAGE,
    Block,
    BlockSum,
    ImageIndex,
    LoadPlan,
    Piece,
    RankImage,
    TensorFact,
)
from weightrollout.plugin.region import Region, RegionError, inside

DIGEST = "sha256:" + "a" * 64
FACT = TensorFact("w", "F32", (2, 3))
PLAN = LoadPlan(0, PAGE, (Block("w", 0, 24, "flip", (Piece("w", 0, 0, 24),)),))
BYTES = torch.arange(6, dtype=torch.float32).numpy().tobytes()


def staged(
    folder: Path, *, digest: str = DIGEST, size: int = PAGE, name: str = "w", block: int = 24
) -> Path:
    files.rank_image(folder, 0).write_bytes(BYTES + bytes(size - len(BYTES)))
    sums = (BlockSum(name, block, zlib.crc32(BYTES)),)
    index = ImageIndex(digest, PLAN.plan_id(), (RankImage(0, size, sums),))
    records.write(folder / files.INDEX, index)
    return folder


def region(folder: Path) -> Region:
    return Region(folder, DIGEST, PLAN, {"w": FACT})


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "images/../../x"])
def test_folder_outside_the_staging_volume_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RegionError, match="outside"):
        inside(tmp_path / "staging", name)


def test_tensors_are_those_of_the_image_and_so_are_the_sums(tmp_path: Path) -> None:
    mapped = region(staged(tmp_path))
    [(name, tensor)] = mapped.tensors()
    assert (name, tensor.tolist()) == ("w", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert mapped.sums() == (BlockSum("w", 24, zlib.crc32(BYTES)),)
    assert mapped.holds(tensor)
    assert not mapped.holds(tensor.clone())


def test_what_a_loader_writes_never_reaches_the_volume(tmp_path: Path) -> None:
    [(_, tensor)] = region(staged(tmp_path)).tensors()
    tensor.fill_(7)
    assert files.rank_image(tmp_path, 0).read_bytes()[:24] == BYTES


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"digest": "sha256:" + "b" * 64}, "ImageMismatch"),
        ({"size": 2 * PAGE}, "ImageMismatch"),
        ({"name": "another"}, "ImageMismatch"),
        ({"block": 12}, "ImageMismatch"),  # the right names with another shape
    ],
)
def test_another_image_than_announced_is_refused(
    tmp_path: Path, change: dict[str, str | int], reason: str
) -> None:
    staged(tmp_path, **change)  # type: ignore[arg-type]
    with pytest.raises(RegionError) as caught:
        region(tmp_path)
    assert caught.value.reason == reason


def test_image_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RegionError) as caught:
        region(tmp_path)
    assert caught.value.reason == "ImageMissing"
