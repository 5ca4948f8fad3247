"""What we keep of a pod: 20 small facts instead of 8 KB of JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Any, Final

from weightrollout.api.callers import Callee
from weightrollout.api.names import (
    AGENT_CONTAINER,
    ANNOTATION_SWAP,
    DEFAULT_GRPC_PORT,
    GATE_SERVING,
    LABEL_NAME,
    LABEL_VERSION,
    PORT_GRPC,
)
from weightrollout.kube.client import Client, Json
from weightrollout.kube.store import Source

#: Pods of a fleet, and pods that left one and still carry our version label.
MEMBERS: Final = LABEL_NAME
STRAYS: Final = f"{LABEL_VERSION},!{LABEL_NAME}"


@dataclass(frozen=True, slots=True)
class Gate:
    """The condition of our readiness gate, as it stands on the pod."""

    open: bool
    reason: str
    message: str
    since: str  # lastTransitionTime


@dataclass(frozen=True, slots=True)
class Pod:
    namespace: str
    name: str
    uid: str
    resource_version: int
    rollout: str  # label weightrollout.dev/name; "" without
    version_label: str
    swap_annotation: str  # JSON; "" without
    phase: str
    ready: bool
    terminating: bool
    ip: str
    agent_port: int | None  # None: the pod has no agent container
    gated: bool
    gate: Gate | None  # None: the condition is absent
    agent_container: str = ""  # id of the container that runs the agent now; "": not started yet
    labels: Mapping[str, str] = field(default_factory=dict)
    controlled: bool = (
        False  # a StatefulSet, a Deployment...: who makes another one when it is gone
    )

    @property
    def callee(self) -> Callee:
        return Callee(self.namespace, self.uid)

    @property
    def running(self) -> bool:
        return self.phase == "Running"

    @property
    def counts(self) -> bool:
        """Finished pods (evicted, completed) are no part of a fleet."""
        return self.phase not in ("Succeeded", "Failed")


def pods_path(client: Client) -> str:
    return client.collection("/api/v1", "pods")


def pod_source(client: Client, name: str, selector: str) -> Source[Pod]:
    return Source(name, pods_path(client), selector, trim_pod)


def trim_pod(body: Json) -> Pod:
    metadata, spec, status = body["metadata"], body["spec"], body.get("status") or {}
    labels: Mapping[str, str] = metadata.get("labels") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    return Pod(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=int(metadata["resourceVersion"]),
        rollout=labels.get(LABEL_NAME, ""),
        version_label=labels.get(LABEL_VERSION, ""),
        swap_annotation=(metadata.get("annotations") or {}).get(ANNOTATION_SWAP, ""),
        phase=status.get("phase", "Pending"),
        ready=conditions.get("Ready", {}).get("status") == "True",
        terminating="deletionTimestamp" in metadata,
        ip=status.get("podIP", ""),
        agent_port=_agent_port(spec),
        gated=any(
            each["conditionType"] == GATE_SERVING for each in spec.get("readinessGates") or ()
        ),
        gate=_gate(conditions.get(GATE_SERVING)),
        agent_container=_agent_container(status),
        labels={intern(key): intern(value) for key, value in labels.items()},
        controlled=any(each.get("controller") for each in metadata.get("ownerReferences") or ()),
    )


def _agent_port(spec: Mapping[str, Any]) -> int | None:
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        if container["name"] == AGENT_CONTAINER:
            ports = {
                each.get("name"): each["containerPort"] for each in container.get("ports") or ()
            }
            return int(ports.get(PORT_GRPC, DEFAULT_GRPC_PORT))
    return None


def _agent_container(status: Mapping[str, Any]) -> str:
    """Another one after every restart: the kubelet's word, which no neighbour of the pod can say."""
    for kind in ("initContainerStatuses", "containerStatuses"):
        for each in status.get(kind) or ():
            if each["name"] == AGENT_CONTAINER:
                return str(each.get("containerID") or "")
    return ""


def _gate(condition: Mapping[str, str] | None) -> Gate | None:
    if condition is None:
        return None
    return Gate(
        condition.get("status") == "True",
        condition.get("reason") or "",
        condition.get("message") or "",
        condition.get("lastTransitionTime") or "",  # null where another writer left it out
    )
