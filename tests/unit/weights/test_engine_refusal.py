"""An engine that cannot be swapped safely, or might not, is refused by name before anything is read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import checkpoints
from reports import report_of, sharded_reports
from weightrollout.handover.records import PATHS, EngineReport, LoadPlan
from weightrollout.weights.preflight import engine_refusal

INSTANCE = "engine-1"


@pytest.fixture
def report(tmp_path: Path) -> EngineReport:
    return report_of(checkpoints.write_checkpoint(tmp_path, seed=1), instance=INSTANCE)


@pytest.fixture
def shards(tmp_path: Path) -> tuple[EngineReport, ...]:
    return sharded_reports(checkpoints.write_checkpoint(tmp_path, seed=1), instance=INSTANCE)


def _reason(reports: Sequence[EngineReport]) -> str | None:
    refusal = engine_refusal(reports, INSTANCE)
    return None if refusal is None else refusal.reason


def test_plain_engine_is_let_through(report: EngineReport) -> None:
    assert _reason([report]) is None


def test_all_ranks_of_a_sharded_engine_are_let_through(shards: tuple[EngineReport, ...]) -> None:
    assert _reason(shards) is None


def test_engine_without_a_report_is_refused() -> None:
    assert _reason([]) == "NoEngineReport"


def test_report_of_a_process_that_is_gone_is_refused(report: EngineReport) -> None:
    assert _reason([replace(report, instance="engine-0")]) == "ReportOfAnotherInstance"


def test_one_stale_rank_among_fresh_ones_is_refused(shards: tuple[EngineReport, ...]) -> None:
    assert (
        _reason([shards[0], replace(shards[1], instance="engine-0")]) == "ReportOfAnotherInstance"
    )


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("quantisation", None, "QuantisationUnknown"),
        ("eplb", None, "EplbUnknown"),
        ("eplb", True, "EplbEnabled"),
        ("kv_connector", None, "KvConnectorUnknown"),
        ("kv_connector", "NixlConnector", "KvConnectorUnsupported"),
        ("speculative", None, "DraftUnknown"),
        ("loras", None, "LorasUnknown"),
        ("loras", 2, "LorasLoaded"),
        ("free_bytes", None, "FreeMemoryUnknown"),
    ],
)
def test_setting_that_breaks_a_swap_or_is_unknown_is_refused(
    report: EngineReport, field: str, value: Any, reason: str
) -> None:
    assert _reason([replace(report, **{field: value})]) == reason


def test_missing_rank_is_refused(shards: tuple[EngineReport, ...]) -> None:
    assert _reason(shards[:1]) == "RanksMissing"


def test_same_rank_twice_is_refused(shards: tuple[EngineReport, ...]) -> None:
    assert _reason([shards[0], shards[0]]) == "RanksMissing"


def test_ranks_that_disagree_on_the_world_size_are_refused(
    shards: tuple[EngineReport, ...],
) -> None:
    assert _reason([shards[0], replace(shards[1], world_size=3)]) == "RanksMissing"


def test_ranks_that_disagree_on_a_tensor_are_refused(shards: tuple[EngineReport, ...]) -> None:
    odd = replace(shards[1].tensors[0], dtype="F32")
    second = replace(shards[1], tensors=(odd, *shards[1].tensors[1:]))
    assert _reason([shards[0], second]) in {"ReportsDisagree", "LoadPlanUnsound"}


def _with_plan(report: EngineReport, plan: LoadPlan) -> list[EngineReport]:
    return [replace(report, plan=plan)]


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("LayerNotPlain", "lm_head was packed"),
        ("LayerUntested", "model.layers.0.mixer is a vllm.Novel with nothing else"),
    ],
)
def test_engine_whose_plugin_refuses_is_refused_in_its_words(
    report: EngineReport, reason: str, message: str
) -> None:
    odd = replace(report, refusal_reason=reason, refusal_message=message)
    found = engine_refusal([odd], odd.instance)
    assert found is not None
    assert (found.reason, found.message) == (reason, f"rank 0: {message}")


@pytest.mark.parametrize("path", PATHS)
def test_every_path_of_the_plugin_is_let_through(report: EngineReport, path: str) -> None:
    first, *rest = report.plan.blocks
    plan = replace(report.plan, blocks=(replace(first, path=path), *rest))
    assert engine_refusal(_with_plan(report, plan), report.instance) is None


def test_path_that_nobody_knows_is_refused(report: EngineReport) -> None:
    first, *rest = report.plan.blocks
    plan = replace(report.plan, blocks=(replace(first, path="wishful"), *rest))
    assert _reason(_with_plan(report, plan)) == "LoadPathUnsupported"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bytes": 1 << 20}, "bytes are filled"),
        ({"offset": 7}, "begins within a page"),
        ({"offset": 4096}, "overlaps"),
        ({"pieces": ()}, "bytes are filled"),
    ],
)
def test_plan_whose_block_is_torn_is_refused(
    report: EngineReport, change: dict[str, Any], message: str
) -> None:
    first, *rest = report.plan.blocks
    plan = replace(report.plan, blocks=(replace(first, **change), *rest))
    refusal = engine_refusal(_with_plan(report, plan), INSTANCE)
    assert refusal is not None
    assert refusal.reason == "LoadPlanUnsound"
    assert message in refusal.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "nobody"}, "not in the report"),
        ({"source_offset": 2}, "ends behind"),
        ({"source_offset": -2}, "a piece of"),
        ({"bytes": 0}, "a piece of"),
        ({"block_offset": 2}, "filled by no piece"),
    ],
)
def test_plan_whose_piece_points_astray_is_refused(
    report: EngineReport, change: dict[str, Any], message: str
) -> None:
    first, *rest = report.plan.blocks
    torn = replace(first, pieces=(replace(first.pieces[0], **change),))
    refusal = engine_refusal(
        _with_plan(report, replace(report.plan, blocks=(torn, *rest))), INSTANCE
    )
    assert refusal is not None
    assert message in refusal.message


def test_plan_that_is_larger_than_its_image_is_refused(report: EngineReport) -> None:
    assert _reason(_with_plan(report, replace(report.plan, image_bytes=4096))) == "LoadPlanUnsound"


def test_tensor_that_fills_no_parameter_of_any_rank_is_refused(report: EngineReport) -> None:
    plan = replace(report.plan, blocks=report.plan.blocks[:-1])
    assert _reason(_with_plan(report, plan)) == "LoadPlanUnsound"
