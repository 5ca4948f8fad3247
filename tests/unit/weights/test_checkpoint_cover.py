"""A checkpoint that does not fill the engine exactly is refused from its headers alone."""

from dataclasses import replace
from pathlib import Path

import pytest

import checkpoints
from reports import report_of, sharded_reports
from weightrollout.api.swap import FailureClass
from weightrollout.handover.records import EngineReport
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.manifest import read_manifest
from weightrollout.weights.preflight import cover

HEAD, EMBEDDING, NORM = "lm_head.weight", "model.embed_tokens.weight", "model.norm.weight"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "model", seed=1)


def _refusal(folder: Path, report: EngineReport) -> WeightsError:
    with pytest.raises(WeightsError) as caught:
        cover(read_manifest(folder), [report])
    assert caught.value.failure_class is FailureClass.WEIGHTS
    return caught.value


def test_checkpoint_of_the_same_form_covers_the_engine(folder: Path) -> None:
    coverage = cover(read_manifest(folder), [report_of(folder)])
    assert coverage.suppliers.keys() == checkpoints.tiny_shapes().keys()
    assert coverage.ties == ()


def test_missing_tensor_is_refused_by_name(folder: Path) -> None:
    report = report_of(folder)
    checkpoints.drop_tensor(folder, NORM)
    error = _refusal(folder, report)
    assert error.reason is Reason.TENSOR_MISSING
    assert NORM in error.message


def test_many_missing_tensors_are_counted_not_listed(folder: Path) -> None:
    report = report_of(folder)
    for name in sorted(checkpoints.tiny_shapes())[:9]:
        checkpoints.drop_tensor(folder, name)
    assert "and 6 more" in _refusal(folder, report).message


def test_extra_tensor_is_refused_by_name_and_file(folder: Path) -> None:
    report = report_of(folder)
    checkpoints.add_tensor(folder, "model.layers.2.surprise.weight")
    error = _refusal(folder, report)
    assert error.reason is Reason.TENSOR_UNEXPECTED
    assert "model.layers.2.surprise.weight" in error.message
    assert "model-00002-of-00002.safetensors" in error.message


def test_wrong_shape_of_the_same_size_is_refused_with_both_shapes(folder: Path) -> None:
    report = report_of(folder)
    checkpoints.reshape_tensor(folder, EMBEDDING, (32, 257))
    error = _refusal(folder, report)
    assert error.reason is Reason.SHAPE_MISMATCH
    assert "[32, 257]" in error.message
    assert "[257, 32]" in error.message


def test_other_dtype_of_the_same_size_is_refused_with_both_dtypes(tmp_path: Path) -> None:
    shapes = {"w": ("F16", (4, 4))}
    report = report_of(checkpoints.write_checkpoint(tmp_path / "a", seed=1, tensors=shapes))
    other = checkpoints.write_checkpoint(tmp_path / "b", seed=1, tensors={"w": ("BF16", (4, 4))})
    error = _refusal(other, report)
    assert error.reason is Reason.DTYPE_MISMATCH
    assert "BF16" in error.message
    assert "F16" in error.message


def test_tied_head_left_out_is_covered_by_the_embedding(folder: Path) -> None:
    checkpoints.drop_tensor(folder, HEAD)
    report = report_of(folder, aliases={EMBEDDING: (HEAD,)})
    coverage = cover(read_manifest(folder), [report])
    assert coverage.suppliers[EMBEDDING].name == EMBEDDING
    assert coverage.ties == ()


def test_embedding_left_out_is_supplied_by_the_tied_head(folder: Path) -> None:
    report = report_of(folder, aliases={EMBEDDING: (HEAD,)})
    checkpoints.drop_tensor(folder, EMBEDDING)
    assert cover(read_manifest(folder), [report]).suppliers[EMBEDDING].name == HEAD


def test_tied_tensors_that_are_both_there_must_be_compared(folder: Path) -> None:
    report = report_of(folder, aliases={EMBEDDING: (HEAD,)})
    (tie,) = cover(read_manifest(folder), [report]).ties
    assert [tensor.name for tensor in tie] == [EMBEDDING, HEAD]


def test_tensor_that_only_one_rank_loads_is_no_extra(folder: Path) -> None:
    first, second = sharded_reports(folder)
    first = replace(first, tensors=first.tensors[:10])
    second = replace(second, tensors=second.tensors[10:])
    assert len(cover(read_manifest(folder), [first, second]).suppliers) == 25
