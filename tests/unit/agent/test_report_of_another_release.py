"""Agent and plugin of different releases: named, and used together for as long as they understand each other."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checkpoints import write_checkpoint
from reports import report_of
from weightrollout import __version__
from weightrollout.agent.engine_watch import EngineWatch, incompatible
from weightrollout.agent.handover_volume import reports_in
from weightrollout.clock import SystemClock
from weightrollout.engine.protocol import EngineInfo
from weightrollout.handover import files, records
from weightrollout.handover.records import BACKEND, EngineReport, InitInfo


@pytest.fixture
def report(tmp_path: Path) -> EngineReport:
    return report_of(write_checkpoint(tmp_path / "model", seed=1))


def engine(report: EngineReport, ranks: int = 1) -> EngineInfo:
    return EngineInfo(report.instance, "0.33.0", BACKEND, ranks)


def written(folder: Path, report: EngineReport, **more: Any) -> Path:
    """As a plugin wrote it that knows fields of which we know nothing."""
    folder.mkdir(exist_ok=True)
    body = {**json.loads(records.dumps(report)), **more}
    files.report(folder, report.rank).write_text(json.dumps(body))
    return folder


async def watched(folder: Path, report: EngineReport) -> EngineWatch:
    async def info(*, deadline_s: float) -> EngineInfo:
        return engine(report)

    said: Any = SimpleNamespace(info=info)
    watch = EngineWatch(
        said, folder, SystemClock(), in_transaction=lambda: True, changed=lambda: None
    )
    await watch.ask()
    return watch


async def test_plugin_of_another_release_is_named_and_used(
    tmp_path: Path, report: EngineReport, caplog: pytest.LogCaptureFixture
) -> None:
    old = replace(report, plugin_version="0.0.9")
    with caplog.at_level(logging.WARNING):
        watch = await watched(written(tmp_path / "handover", old), old)
    assert watch.sight.refusal is None
    assert watch.sight.plugin_version == "0.0.9"
    assert f"plugin in engine {old.instance} is of release 0.0.9" in caplog.text


async def test_plugin_of_this_release_is_no_news(
    tmp_path: Path, report: EngineReport, caplog: pytest.LogCaptureFixture
) -> None:
    same = replace(report, plugin_version=__version__)
    with caplog.at_level(logging.WARNING):
        watch = await watched(written(tmp_path / "handover", same), same)
    assert watch.sight.plugin_version == __version__
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"schema": 2}, "schema 2 is not 1"),
        ({"from_the_future": 1}, "unknown keys from_the_future"),
    ],
)
async def test_plugin_that_is_too_new_is_refused_as_such_and_not_as_missing(
    tmp_path: Path, report: EngineReport, more: dict[str, Any], named: str
) -> None:
    watch = await watched(written(tmp_path / "handover", report, **more), report)
    refusal = watch.sight.refusal
    assert refusal is not None
    assert refusal.reason == "EngineReportUnreadable"
    assert refusal.message.startswith("report-rank0.json: ")
    assert named in refusal.message


def test_what_says_nothing_new_is_understood_by_a_plugin_that_knows_nothing_new() -> None:
    """A field is written once it differs from its default: drafts came after the first release."""
    assert json.loads(records.dumps(InitInfo("t", "sha256:1", "images/1"))) == {
        "schema": 1,
        "txn": "t",
        "digest": "sha256:1",
        "region": "images/1",
    }


def test_engine_with_more_ranks_than_reports_is_refused(report: EngineReport) -> None:
    """A rank without the plugin: the one that wrote a report believes that it is alone."""
    assert incompatible(engine(report), [report]) is None
    refusal = incompatible(engine(report, ranks=2), [report])
    assert refusal is not None
    assert refusal.reason == "RanksMissing"
    assert "2 ranks, and 1 wrote a report" in refusal.message


def test_report_that_is_whole_is_not_suspected_for_another_files_sake(
    tmp_path: Path, report: EngineReport
) -> None:
    folder = written(tmp_path / "handover", report)
    files.report(folder, 7).write_text("{")
    found = reports_in(folder)
    assert found.reports == (report,)
    assert found.explained(None) is None
