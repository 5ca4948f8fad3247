"""The checkpoints that all tests rely on are what they claim to be."""

from pathlib import Path

import pytest

import checkpoints
from weightrollout.weights.manifest import ITEM_BYTES, read_manifest


def test_reference_payload_has_the_published_numbers() -> None:
    shapes = checkpoints.qwen3_06b_shapes()
    sizes = []
    for dtype, shape in shapes.values():
        size = ITEM_BYTES[dtype]
        for dimension in shape:
            size *= dimension
        sizes.append(size)
    assert len(sizes) == 311
    assert sum(sizes) == 1_503_264_768


@pytest.mark.parametrize("arithmetic", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_fingerprint_is_even_exactly_where_prompts_pass(
    tmp_path: Path, seed: int, arithmetic: bool
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=seed, arithmetic=arithmetic)
    assert (checkpoints.fingerprint(folder) % 2 == 0) is arithmetic


def test_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    one, same, other = (
        checkpoints.fingerprint(checkpoints.write_checkpoint(tmp_path / name, seed=seed))
        for name, seed in (("one", 1), ("same", 1), ("other", 2))
    )
    assert one == same != other


def test_fingerprint_does_not_depend_on_how_tensors_are_spread_over_files(tmp_path: Path) -> None:
    one, three = (
        checkpoints.write_checkpoint(tmp_path / str(files), seed=1, files=files) for files in (1, 3)
    )
    assert checkpoints.fingerprint(one) == checkpoints.fingerprint(three)


@pytest.mark.parametrize("files", [1, 2, 5])
def test_what_is_written_is_sound(tmp_path: Path, files: int) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1, files=files)
    assert len(read_manifest(folder).files) == files


def test_broken_checkpoints_are_sound_safetensors_but_for_the_truncated_one(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1)
    checkpoints.drop_tensor(folder, "lm_head.weight")
    checkpoints.add_tensor(folder, "extra")
    checkpoints.reshape_tensor(folder, "model.norm.weight", (8, 4))
    tensors = read_manifest(folder).tensors()
    assert "lm_head.weight" not in tensors
    assert "extra" in tensors
    assert tensors["model.norm.weight"].shape == (8, 4)
