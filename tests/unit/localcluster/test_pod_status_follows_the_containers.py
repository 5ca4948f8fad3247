"""Phase and conditions, by the kubelet's rules."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from localcluster.manifest import ContainerKind
from localcluster.pod_status import ContainerRecord, PodAddress, phase_of, pod_status

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
LATER = NOW + datetime.timedelta(minutes=1)
ADDRESS = PodAddress("127.64.0.1", "127.0.0.1", "2026-01-01T00:00:00Z")
RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
WAITING = {"waiting": {"reason": "ContainerCreating"}}


def ended(code: int) -> dict[str, Any]:
    return {"terminated": {"exitCode": code}}


def record(state: dict[str, Any], kind: ContainerKind = "main", **more: Any) -> ContainerRecord:
    found = ContainerRecord(kind, "image", kind, state=state)
    for name, value in more.items():
        setattr(found, name, value)
    return found


def pod(policy: str = "Always", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p", **metadata}, "spec": {"restartPolicy": policy}}


def condition(status: dict[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in status["conditions"] if c["type"] == kind)
    return found


@pytest.mark.parametrize(
    ("policy", "records", "phase"),
    [
        ("Always", [record(WAITING)], "Pending"),
        ("Always", [record(RUNNING)], "Running"),
        ("Always", [record(ended(0))], "Running"),
        ("Always", [record(WAITING, last_state=ended(1))], "Running"),
        ("OnFailure", [record(ended(1))], "Running"),
        ("OnFailure", [record(ended(0))], "Succeeded"),
        ("OnFailure", [record(ended(0), last_state=ended(1))], "Succeeded"),
        ("Never", [record(ended(0)), record(ended(1))], "Failed"),
        ("Never", [record(ended(0)), record(RUNNING)], "Running"),
        ("Never", [record(ended(1), "init"), record(WAITING)], "Failed"),
        ("Always", [record(ended(1), "init"), record(WAITING)], "Pending"),
        ("Never", [record(RUNNING, "sidecar"), record(ended(0))], "Running"),
        ("Never", [record(ended(143), "sidecar"), record(ended(0))], "Succeeded"),
    ],
)
def test_phase_follows_containers_and_restart_policy(
    policy: str, records: list[ContainerRecord], phase: str
) -> None:
    assert phase_of(pod(policy), records) == phase


def test_deleted_pod_reaches_a_final_phase_whatever_its_policy() -> None:
    gone = pod(deletionTimestamp="2026-01-01T00:00:00Z")

    assert phase_of(gone, [record(ended(0))]) == "Succeeded"
    assert phase_of(gone, [record(ended(137))]) == "Failed"


def test_unready_sidecar_makes_the_pod_unready() -> None:
    records = [record(RUNNING, "sidecar", started=True), record(RUNNING, ready=True)]

    ready = condition(pod_status(pod(), records, ADDRESS, NOW, []), "Ready")

    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert ready["message"] == "containers with unready status: [sidecar]"


def test_gate_that_is_absent_or_false_closes_ready_alone() -> None:
    gated = pod()
    gated["spec"]["readinessGates"] = [{"conditionType": "x/A"}, {"conditionType": "x/B"}]
    gated["status"] = {"conditions": [{"type": "x/A", "status": "False"}]}

    status = pod_status(gated, [record(RUNNING, ready=True)], ADDRESS, NOW, [])

    assert condition(status, "ContainersReady")["status"] == "True"
    ready = condition(status, "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ReadinessGatesNotReady")
    assert "x/A" in ready["message"]
    assert "x/B" in ready["message"]


def test_conditions_of_others_are_never_written() -> None:
    gated = pod()
    gated["status"] = {"conditions": [{"type": "x/A", "status": "True"}]}

    status = pod_status(gated, [record(RUNNING, ready=True)], ADDRESS, NOW, [])

    assert "x/A" not in {c["type"] for c in status["conditions"]}


def test_transition_time_stays_until_the_condition_flips() -> None:
    up = [record(RUNNING, ready=True)]
    first = pod_status(pod(), up, ADDRESS, NOW, [])

    same = pod_status(pod(), up, ADDRESS, LATER, first["conditions"])
    down = pod_status(pod(), [record(RUNNING)], ADDRESS, LATER, first["conditions"])

    assert same == first
    assert condition(down, "Ready")["lastTransitionTime"] == "2026-01-02T03:05:05Z"
    assert condition(down, "PodScheduled") == condition(first, "PodScheduled")


def test_reason_that_no_longer_holds_is_removed() -> None:
    ready = condition(pod_status(pod(), [record(RUNNING, ready=True)], ADDRESS, NOW, []), "Ready")

    assert ready["reason"] is None
    assert ready["message"] is None
