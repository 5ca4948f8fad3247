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
from weightrollout.weights.preflight import check_metadata, cover

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


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "generation_config.json"])
def test_file_that_differs_from_the_engines_needs_a_restart(folder: Path, name: str) -> None:
    report = report_of(folder)
    sums = {**report.file_hashes, name: "0" * 64}
    with pytest.raises(WeightsError, match=f"{name} differs") as caught:
        check_metadata(sums, [report])
    assert caught.value.reason is Reason.RESTART_REQUIRED
    assert caught.value.failure_class is FailureClass.WEIGHTS


def test_tokenizer_that_the_engine_was_started_without_needs_a_restart(folder: Path) -> None:
    report = report_of(folder)
    with pytest.raises(WeightsError, match=r"merges\.txt is new"):
        check_metadata({**report.file_hashes, "merges.txt": "0" * 64}, [report])


def test_checkpoint_without_the_engines_tokenizer_needs_a_restart(folder: Path) -> None:
    report = report_of(folder)
    sums = {name: text for name, text in report.file_hashes.items() if name != "tokenizer.json"}
    with pytest.raises(WeightsError, match=r"tokenizer\.json is missing"):
        check_metadata(sums, [report])


def test_new_chat_template_is_refused_before_the_pause(folder: Path) -> None:
    report = report_of(folder)
    with pytest.raises(WeightsError, match=r"chat_template\.jinja is new") as refused:
        check_metadata({**report.file_hashes, "chat_template.jinja": "0" * 64}, [report])
    assert refused.value.reason is Reason.RESTART_REQUIRED
