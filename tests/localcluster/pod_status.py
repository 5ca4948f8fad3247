"""Compute a pod's status from what is known of its containers, by the kubelet's rules.

Purely computational: records and the newest pod object in, a status to patch out. Conditions of other writers are read (readiness
gates), never returned, so a strategic merge patch of the result leaves them alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from localcluster.manifest import ContainerKind

Json = dict[str, Any]
Phase = Literal["Pending", "Running", "Succeeded", "Failed"]


@dataclass
class ContainerRecord:
    """What is known of one container; its runner writes it."""

    name: str
    image: str
    kind: ContainerKind
    container_id: str = ""  # "": never started
    restarts: int = 0
    state: Json = field(default_factory=lambda: {"waiting": {"reason": "PodInitializing"}})
    last_state: Json = field(default_factory=dict)
    started: bool = False  # the startup probe, if any, has passed
    ready: bool = False  # init containers: has ended well

    def status(self) -> Json:
        """The entry of containerStatuses."""
        entry: Json = {
            "name": self.name,
            "image": self.image,
            "imageID": "",
            "ready": self.ready,
            "started": self.started,
            "restartCount": self.restarts,
            "state": self.state,
            "lastState": self.last_state,
        }
        if self.container_id:
            entry["containerID"] = f"process://{self.container_id}"
        return entry


@dataclass(frozen=True)
class PodAddress:
    """Where the pod is, and since when; `pod_ip` is None until it has one."""

    pod_ip: str | None
    host_ip: str
    start_time: str


def now_text(now: datetime.datetime) -> str:
    """A time as the API writes it."""
    return now.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_status(
    pod: Json,
    records: Sequence[ContainerRecord],
    address: PodAddress,
    now: datetime.datetime,
    before: Sequence[Json],
) -> Json:
    """The status to write. `before` are the conditions written last: one whose status is the same keeps its times."""
    phase = phase_of(pod, records)
    init = [record for record in records if record.kind != "main"]
    status: Json = {
        "phase": phase,
        "hostIP": address.host_ip,
        "hostIPs": [{"ip": address.host_ip}],
        "startTime": address.start_time,
        "conditions": conditions(pod, records, phase, address, now, before),
        "containerStatuses": [record.status() for record in records if record.kind == "main"],
    }
    if init:
        status["initContainerStatuses"] = [record.status() for record in init]
    if address.pod_ip:
        status["podIP"] = address.pod_ip
        # Merged by address otherwise, and a pod taken over from a dead node would have two.
        status["podIPs"] = [{"$patch": "replace"}, {"ip": address.pod_ip}]
    return status


def phase_of(pod: Json, records: Sequence[ContainerRecord]) -> Phase:
    """Pending until a main container has run; Succeeded or Failed only once no container runs or will run again."""
    policy = pod["spec"].get("restartPolicy", "Always")
    mains = [record for record in records if record.kind == "main"]
    if policy == "Never" and any(record.kind == "init" and _failed(record) for record in records):
        return "Failed"
    if any(
        "running" in record.state or ("waiting" in record.state and record.last_state)
        for record in mains
    ):
        return "Running"
    ended = [record for record in mains if "terminated" in record.state]
    if len(ended) < len(mains):
        return "Running" if ended else "Pending"
    deleted = "deletionTimestamp" in pod["metadata"]
    if any(record.kind == "sidecar" and "running" in record.state for record in records):
        return "Running"
    if any(_failed(record) for record in mains):
        return "Failed" if policy == "Never" or deleted else "Running"
    return "Running" if policy == "Always" and not deleted else "Succeeded"


def conditions(
    pod: Json,
    records: Sequence[ContainerRecord],
    phase: Phase,
    address: PodAddress,
    now: datetime.datetime,
    before: Sequence[Json],
) -> list[Json]:
    """The five conditions a kubelet owns."""
    over = phase in ("Succeeded", "Failed")
    uninitialized = [r.name for r in records if r.kind != "main" and not _is_initialized(r)]
    unready = [record.name for record in records if record.kind != "init" and not record.ready]
    closed_gates = _closed_gates(pod)

    initialized = _condition("Initialized", "ContainersNotInitialized", "incomplete", uninitialized)
    containers_ready = _condition("ContainersReady", "ContainersNotReady", "unready", unready)
    ready = _condition("Ready", "ContainersNotReady", "unready", unready)
    if over:
        reason = "PodCompleted" if phase == "Succeeded" else "PodFailed"
        containers_ready = {"type": "ContainersReady", "status": "False", "reason": reason}
        ready = {"type": "Ready", "status": "False", "reason": reason}
    elif not unready and closed_gates:
        message = "; ".join(closed_gates)
        ready = {
            "type": "Ready",
            "status": "False",
            "reason": "ReadinessGatesNotReady",
            "message": message,
        }
    sandbox = {
        "type": "PodReadyToStartContainers",
        "status": "True" if address.pod_ip and not over else "False",
    }
    scheduled = {"type": "PodScheduled", "status": "True"}
    found = [sandbox, initialized, ready, containers_ready, scheduled]
    return [_dated(condition, before, now) for condition in found]


def is_ready(status: Json) -> bool:
    """Whether the condition Ready is True."""
    return any(
        c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions") or []
    )


def _failed(record: ContainerRecord) -> bool:
    return "terminated" in record.state and record.state["terminated"]["exitCode"] != 0


def _is_initialized(record: ContainerRecord) -> bool:
    return record.started if record.kind == "sidecar" else record.ready


def _closed_gates(pod: Json) -> list[str]:
    found = {c["type"]: c["status"] for c in (pod.get("status") or {}).get("conditions") or []}
    closed = []
    for gate in pod["spec"].get("readinessGates") or []:
        name = gate["conditionType"]
        if name not in found:
            closed.append(f'corresponding condition of pod readiness gate "{name}" does not exist.')
        elif found[name] != "True":
            closed.append(
                f'the status of pod readiness gate "{name}" is not "True", but {found[name]}'
            )
    return closed


def _condition(name: str, reason: str, what: str, culprits: Sequence[str]) -> Json:
    if not culprits:
        return {"type": name, "status": "True"}
    message = f"containers with {what} status: [{' '.join(culprits)}]"
    return {"type": name, "status": "False", "reason": reason, "message": message}


def _dated(condition: Json, before: Sequence[Json], now: datetime.datetime) -> Json:
    # None removes a reason that no longer holds: a merge patch keeps what it is not told.
    full = {"reason": None, "message": None, **condition}
    for earlier in before:
        if earlier["type"] == condition["type"] and earlier["status"] == condition["status"]:
            return {
                **full,
                "lastTransitionTime": earlier.get("lastTransitionTime") or now_text(now),
            }
    return {**full, "lastTransitionTime": now_text(now)}
