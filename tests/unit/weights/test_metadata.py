"""Weights that an engine would serve with another config, tokenizer or template are refused by name."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import checkpoints
from reports import report_of
from stagings import stage
from weightrollout.api.spec import Metadata
from weightrollout.api.swap import FailureClass
from weightrollout.handover import records
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.staging import Store

REQUIRE, IGNORE = Metadata.REQUIRE, Metadata.IGNORE


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "staging", threads=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkpoints.write_checkpoint(tmp_path / "model", seed=1)


def change(folder: Path, name: str, **fields: Any) -> None:
    path = folder / name
    said = json.loads(path.read_text()) | fields
    path.write_text(json.dumps({key: value for key, value in said.items() if value != "gone"}))


def refusal(
    store: Store, folder: Path, harm: Callable[[], object], policy: Metadata = REQUIRE
) -> WeightsError:
    report = report_of(folder)
    harm()
    with pytest.raises(WeightsError) as caught:
        stage(store, folder, [report], policy=policy)
    assert caught.value.failure_class is FailureClass.WEIGHTS
    return caught.value


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"eos_token_id": 255}, "config.json: eos_token_id is 255 here, 256 in the engine"),
        ({"rope_theta": 1e6}, "rope_theta is 1000000 here, absent in the engine"),
        ({"head_dim": "gone"}, "head_dim is absent here, 8 in the engine"),
        ({"torch_dtype": "float16"}, 'dtype is "float16" here, "bfloat16" in the engine'),
        ({"quantization_config": {"bits": 4}}, 'quantization_config is {"bits":4} here'),
    ],
)
@pytest.mark.parametrize("policy", list(Metadata))
def test_config_that_means_something_else_needs_a_restart_and_names_its_field(
    store: Store, folder: Path, fields: dict[str, Any], said: str, policy: Metadata
) -> None:
    error = refusal(store, folder, lambda: change(folder, "config.json", **fields), policy)
    assert error.reason is Reason.RESTART_REQUIRED
    assert said in error.message


def test_config_that_was_only_written_by_another_tool_is_no_reason_to_restart(
    store: Store, folder: Path
) -> None:
    report = report_of(folder)
    change(
        folder,
        "config.json",
        **{"_name_or_path": "/runs/7", "transformers_version": "4.57.1", "use_cache": False},
        **{"torch_dtype": "gone", "dtype": "bfloat16", "hidden_size": 32.0},
    )
    assert stage(store, folder, [report])


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("policy", list(Metadata))
def test_any_other_tokenizer_needs_a_restart(
    store: Store, folder: Path, name: str, policy: Metadata
) -> None:
    error = refusal(store, folder, lambda: (folder / name).write_text("{}"), policy)
    assert error.reason is Reason.RESTART_REQUIRED
    assert f"{name} differs" in error.message


def test_tokenizer_that_the_engine_was_started_without_needs_a_restart(
    store: Store, folder: Path
) -> None:
    error = refusal(store, folder, lambda: (folder / "merges.txt").write_text("a b"))
    assert "merges.txt is new" in error.message


def test_checkpoint_without_the_engines_tokenizer_needs_a_restart(
    store: Store, folder: Path
) -> None:
    error = refusal(store, folder, lambda: (folder / "tokenizer.json").unlink())
    assert "tokenizer.json is missing" in error.message


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1, "a": 2}', "[" * 9000])
def test_config_that_is_no_object_is_a_broken_checkpoint(
    store: Store, folder: Path, text: str
) -> None:
    error = refusal(store, folder, lambda: (folder / "config.json").write_text(text))
    assert error.reason is Reason.CHECKPOINT_MALFORMED
    assert "config.json" in error.message


def test_engine_that_reports_no_fields_is_compared_by_hash(store: Store, folder: Path) -> None:
    report = replace(report_of(folder), file_fields={})
    change(folder, "config.json", use_cache=False)
    with pytest.raises(WeightsError, match=r"config\.json differs from the engine's") as caught:
        stage(store, folder, [report])
    assert caught.value.reason is Reason.RESTART_REQUIRED


GOVERNED: list[tuple[Callable[[Path], object], str]] = [
    (
        lambda folder: change(folder, "generation_config.json", eos_token_id=[255, 256]),
        "generation_config.json: eos_token_id is [255,256] here, 256 in the engine",
    ),
    (
        lambda folder: (folder / "generation_config.json").unlink(),
        "generation_config.json is missing",
    ),
    (
        lambda folder: (folder / "chat_template.jinja").write_text("{{ messages }}"),
        "chat_template.jinja is new",
    ),
]


@pytest.mark.parametrize(("harm", "said"), GOVERNED)
def test_other_sampling_or_template_is_refused_unless_it_is_ignored(
    store: Store,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    harm: Callable[[Path], object],
    said: str,
) -> None:
    report = report_of(folder)
    error = refusal(store, folder, lambda: harm(folder))
    assert error.reason is Reason.METADATA_DIFFERS
    assert said in error.message
    assert "spec.weights.metadata" in error.message
    assert stage(store, folder, [report], policy=IGNORE)
    (told,) = (
        each.message for each in caplog.records if "the engine keeps its own" in each.message
    )
    assert said in told


def test_generation_config_that_was_only_written_anew_is_taken(store: Store, folder: Path) -> None:
    report = report_of(folder)
    change(folder, "generation_config.json", transformers_version="5.0", _from_model_config=True)
    assert stage(store, folder, [report])


def test_image_is_not_offered_to_an_engine_that_was_restarted_on_another_tokenizer(
    store: Store, folder: Path
) -> None:
    report = report_of(folder)
    index = stage(store, folder, [report])
    assert store.staged(index.plan_id, [report]) == {index.digest}
    hashes = {**report.file_hashes, "tokenizer.json": "0" * 64}
    restarted = replace(report, instance="engine-2", file_hashes=hashes)
    assert store.staged(index.plan_id, [restarted]) == frozenset()
    with pytest.raises(WeightsError, match=r"tokenizer\.json differs"):
        stage(store, folder, [restarted], digest=index.digest)


def test_image_that_was_staged_under_ignore_is_refused_to_who_requires(
    store: Store, folder: Path
) -> None:
    report = report_of(folder)
    change(folder, "generation_config.json", top_k=7)
    index = stage(store, folder, [report], policy=IGNORE)
    with pytest.raises(WeightsError, match="top_k is 7 here") as caught:
        stage(store, folder, [report], digest=index.digest)
    assert caught.value.reason is Reason.METADATA_DIFFERS
    assert stage(store, folder, [report], digest=index.digest, policy=IGNORE) == index


def test_image_of_an_older_agent_that_kept_nothing_beside_it_is_staged_again(
    store: Store, folder: Path
) -> None:
    report = report_of(folder)
    index = stage(store, folder, [report])
    kept = store.region(index.digest, index.plan_id) / "companions.json"
    kept.unlink()
    assert store.index(index.digest, index.plan_id) is None
    assert stage(store, folder, [report], digest=index.digest) == index
    assert kept.exists()


def test_message_of_a_huge_difference_stays_short(store: Store, folder: Path) -> None:
    long = "x" * 50_000
    error = refusal(store, folder, lambda: change(folder, "config.json", **{long: long}))
    assert len(error.message) < 500


def test_fields_survive_the_way_through_a_report(folder: Path) -> None:
    report = report_of(folder)
    assert report.file_fields["config.json"]["eos_token_id"] == "256"
    assert records.loads(records.EngineReport, records.dumps(report)) == report
