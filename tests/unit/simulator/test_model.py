"""The fingerprint is that of the bytes in memory now."""

from pathlib import Path

import pytest

import checkpoints
from simulator.model import Model


def test_fingerprint_equals_that_of_the_files(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1)
    assert Model.load(folder).fingerprint() == checkpoints.fingerprint(folder)


def test_one_changed_bit_of_any_tensor_changes_the_fingerprint(tmp_path: Path) -> None:
    model = Model.load(checkpoints.write_checkpoint(tmp_path, seed=1))
    seen = {model.fingerprint()}
    for tensor in model.tensors:
        tensor.data[-1] ^= 1
        model.touch()
        seen.add(model.fingerprint())
    assert len(seen) == len(model.tensors) + 1


def test_truncated_checkpoint_does_not_load(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path, seed=1)
    checkpoints.truncate(folder)
    with pytest.raises(ValueError, match="its header says"):
        Model.load(folder)


def test_folder_without_weights_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no"):
        Model.load(tmp_path)
