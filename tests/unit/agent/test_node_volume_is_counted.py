"""What a pod took from its node's volume is counted apart from what it read, and whom it waits for is shown."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from localcluster.waiting import eventually
from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.stage import Stager, sharing
from weightrollout.agent.state import Bell, Board
from weightrollout.clock import SystemClock
from weightrollout.metrics import (
    AGENT_NODE_BYTES,
    AGENT_NODE_NOTICES,
    AGENT_STAGED_BYTES,
    Door,
    Metrics,
    Row,
)
from weightrollout.swap.records import Content
from weightrollout.weights.build import StageCount
from weightrollout.weights.pace import Pace
from weightrollout.weights.staging import Store

DIGEST = f"sha256:{'a' * 64}"
NOTE = "waits for another pod of its node"


class _Store:
    """Waits for a neighbour, then takes 900 bytes from it beside 100 of the source."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.pace = Pace()

    def collect(self, _: object) -> list[str]:
        return []

    def staged(self, *_: object) -> frozenset[str]:
        return frozenset()

    def signed(self) -> frozenset[str]:
        return frozenset()

    def stage(self, _: str, **asked: Any) -> SimpleNamespace:
        asked["progress"](StageCount(0, 1000, note=NOTE))
        assert self.go_on.wait(30)
        asked["progress"](StageCount(600, 1000, shared=500))
        asked["progress"](StageCount(1000, 1000, shared=900))
        return SimpleNamespace(digest=DIGEST)


def _value(metrics: Metrics, row: Row, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"weightrollout_{row.name}", labels)


async def test_bytes_of_the_volume_are_not_the_sources_and_a_wait_is_shown_while_it_lasts() -> None:
    store, board, metrics = _Store(), Board(Bell()), Metrics(Door.AGENT)
    stager = Stager(cast("Store", store), board, SystemClock(), metrics)
    job = await stager.stage(Content("r", "v", DIGEST, "s3://bucket/v/"), EngineSight(), ())
    await eventually(lambda: board.staging is not None and board.staging.message == NOTE, 30, NOTE)
    store.go_on.set()
    await job.task
    assert (job.progress.done, job.progress.message) == (True, "")
    assert _value(metrics, AGENT_STAGED_BYTES) == 100
    assert _value(metrics, AGENT_NODE_BYTES) == 900


def test_volume_that_is_of_no_use_is_counted_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = Metrics(Door.AGENT)
    tmp_path.chmod(0o777)
    shared = sharing(tmp_path, 15, metrics)
    assert shared is not None
    assert shared.collect([]) == []
    assert _value(metrics, AGENT_NODE_NOTICES, reason="NodeVolumeUnusable") == 1
    assert "NodeVolumeUnusable" in caplog.text


def test_without_the_flag_nothing_is_shared() -> None:
    assert sharing(None, 15, Metrics(Door.AGENT)) is None
