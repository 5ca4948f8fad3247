"""PodDisruptionBudgets are understood as policy/v1 writes them, and the right to read them may be missing."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from apifront import api_front, refusal
from localcluster.waiting import eventually
from weightrollout.api.disruption import DisruptionBudget, Requirement
from weightrollout.kube import store as store_module
from weightrollout.kube.pdbs import pdb_source, trim_pdb
from weightrollout.kube.store import Store

PDBS = "/apis/policy/v1/namespaces/ns/poddisruptionbudgets"
SOON = 5.0


def pdb(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {
        "namespace": "ns",
        "name": "chat",
        "uid": "1",
        "resourceVersion": "7",
        "generation": 2,
    }
    return {"metadata": metadata, "spec": spec, **({"status": status} if status else {})}


def test_counts_and_selector_are_kept() -> None:
    status = {
        "observedGeneration": 2,
        "disruptionsAllowed": 1,
        "currentHealthy": 3,
        "desiredHealthy": 2,
        "expectedPods": 4,
    }
    expressions = [
        {"key": "tier", "operator": "NotIn", "values": ["test"]},
        {"key": "gpu", "operator": "Exists"},
    ]
    selector = {"matchLabels": {"app": "chat"}, "matchExpressions": expressions}
    assert trim_pdb(pdb(status, selector=selector)).budget == DisruptionBudget(
        "chat",
        (
            Requirement("app", "In", frozenset({"chat"})),
            Requirement("tier", "NotIn", frozenset({"test"})),
            Requirement("gpu", "Exists"),
        ),
        observed=True,
        allowed=1,
        healthy=3,
        desired=2,
        expected=4,
    )


@pytest.mark.parametrize("status", [None, {}, {"observedGeneration": 1, "disruptionsAllowed": 3}])
def test_what_its_controller_has_not_counted_is_unknown(status: dict[str, Any] | None) -> None:
    assert not trim_pdb(pdb(status, selector={})).budget.observed


def test_absent_selector_is_not_the_empty_one() -> None:
    assert trim_pdb(pdb()).budget.selector is None
    assert trim_pdb(pdb(selector={})).budget.selector == ()


def test_what_its_controller_cannot_make_out_is_passed_on() -> None:
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "SyncFailed",
        "message": "found no controllers for pod chat-0",
    }
    status = {"observedGeneration": 2, "conditions": [condition]}
    assert trim_pdb(pdb(status)).budget.trouble == "found no controllers for pod chat-0"


async def test_missing_right_is_known_at_once_and_ends_when_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "BACKOFF_S", (0.01, 0.05))
    monkeypatch.setattr(store_module, "DENIED_S", 0.02)
    async with api_front(tmp_path) as (front, client):
        front.put(PDBS, pdb(selector={}))
        front.fault = lambda request: (
            refusal(403, "Forbidden") if "poddisruptionbudgets" in request.path else None
        )
        store = Store(client, pdb_source(client))
        told: list[str] = []
        store.subscribe(lambda before, after: told.append(store.denied))
        task = asyncio.create_task(store.run())
        try:
            await asyncio.wait_for(store.synced.wait(), SOON)
            assert "403" in store.denied
            front.fault = None
            await eventually(lambda: not store.denied, SOON, "it may be read")
            assert [each.name for each in store.all()] == ["chat"]
            assert "403" in told[0], "whoever waits is told that it is denied"
            assert told[-1] == "", "and that it is not any more"
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_right_that_is_taken_away_makes_old_counts_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "BACKOFF_S", (0.01, 0.05))
    monkeypatch.setattr(store_module, "DENIED_S", 0.02)
    async with api_front(tmp_path) as (front, client):
        front.put(PDBS, pdb(selector={}))
        store = Store(client, pdb_source(client), hung_s=0.05)
        task = asyncio.create_task(store.run())
        try:
            await asyncio.wait_for(store.synced.wait(), SOON)
            assert not store.denied
            front.fault = lambda request: refusal(403, "Forbidden")
            await eventually(lambda: store.denied, SOON, "it may not be read any more")
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
