"""Kubernetes objects of a test fleet: what a platform engineer would write, with simulated engines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from weightrollout.api import names

STAGING: Final = names.MOUNT_STAGING
HANDOVER: Final = names.MOUNT_HANDOVER
STABLE: Final = names.MOUNT_STABLE
ENGINE_HTTP: Final = 8000
ENGINE_GRPC: Final = 50051

Json = dict[str, Any]


@dataclass(frozen=True)
class FleetSpec:
    """What differs between the fleets of the tests."""

    name: str
    model: Path  # checkpoint that the engines load at start
    replicas: int = 4
    gated: bool = False  # readiness gate: leaves its endpoints at once, not after three probes
    engine_args: Sequence[str] = ("--token-seconds=0.01",)
    with_agent: bool = True
    agent_args: Sequence[str] = ()
    rollout: str | None = None  # label value; None: the fleet's own name
    labels: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    agent_command: Sequence[str] = ("python", "-m", "weightrollout.agent")
    engine_command: Sequence[str] = ("python", "-m", "simulator")
    engine_image: str = "vllm-simulator"
    engine_flags: Sequence[str] | None = None  # before `engine_args`; None: the simulator's
    environment: Mapping[str, str] = field(default_factory=dict)  # of both containers
    engine_environment: Mapping[str, str] = field(default_factory=dict)  # of the engine alone
    agent_secrets: Sequence[str] = ()  # Secrets whose keys are variables of the agent alone
    grace_s: int = 5  # of a pod's end
    leaves_well: bool = False  # preStop: the agent lets requests and swaps end first


def stateful_set(fleet: FleetSpec) -> Json:
    labels = {"app": fleet.name, **fleet.labels}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": fleet.name},
        "spec": {
            "replicas": fleet.replicas,
            "serviceName": fleet.name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {
                    "labels": {**labels, names.LABEL_NAME: fleet.rollout or fleet.name},
                },
                "spec": pod_spec(fleet),
            },
        },
    }


def pod_spec(fleet: FleetSpec) -> Json:
    spec: Json = {
        "nodeSelector": dict(fleet.node_selector),
        "terminationGracePeriodSeconds": fleet.grace_s,
        "initContainers": [agent_container(fleet)] if fleet.with_agent else [],
        "containers": [engine_container(fleet)],
        "volumes": [
            {"name": names.VOLUME_STAGING, "emptyDir": {}},
            {"name": names.VOLUME_HANDOVER, "emptyDir": {}},
            {
                "name": names.VOLUME_STABLE,
                "configMap": {"name": names.stable_configmap(fleet.name), "optional": True},
            },
        ],
    }
    if fleet.gated:
        spec["readinessGates"] = [{"conditionType": names.GATE_SERVING}]
    return spec


def agent_container(fleet: FleetSpec) -> Json:
    """A native sidecar: starts before the engine and ends after it."""
    return {
        "name": names.AGENT_CONTAINER,
        "image": "weightrollout-agent",
        "restartPolicy": "Always",
        "command": list(fleet.agent_command),
        "args": [
            f"--engine-grpc=$(POD_IP):{ENGINE_GRPC}",
            f"--engine-http=http://$(POD_IP):{ENGINE_HTTP}",
            f"--grpc-bind=$(POD_IP):{names.DEFAULT_GRPC_PORT}",
            f"--http-bind=$(POD_IP):{names.DEFAULT_HTTP_PORT}",
            f"--staging={STAGING}",
            f"--handover={HANDOVER}",
            f"--stable={STABLE}",
            *fleet.agent_args,
        ],
        "envFrom": [{"secretRef": {"name": each}} for each in fleet.agent_secrets],
        "env": environment(fleet),
        "ports": [
            {"name": names.PORT_GRPC, "containerPort": names.DEFAULT_GRPC_PORT},
            {"name": names.PORT_HTTP, "containerPort": names.DEFAULT_HTTP_PORT},
        ],
        "volumeMounts": [
            {"name": names.VOLUME_STAGING, "mountPath": STAGING},
            {"name": names.VOLUME_HANDOVER, "mountPath": HANDOVER},
            {"name": names.VOLUME_STABLE, "mountPath": STABLE, "readOnly": True},
        ],
    }


def engine_container(fleet: FleetSpec) -> Json:
    container: Json = {
        "name": "engine",
        "image": fleet.engine_image,
        "command": list(fleet.engine_command),
        "args": [
            *(simulator_flags(fleet) if fleet.engine_flags is None else fleet.engine_flags),
            *fleet.engine_args,
        ],
        "env": environment(fleet, fleet.engine_environment),
        "ports": [{"name": "http", "containerPort": ENGINE_HTTP}],
        "volumeMounts": [
            {"name": names.VOLUME_STAGING, "mountPath": STAGING, "readOnly": True},
            {"name": names.VOLUME_HANDOVER, "mountPath": HANDOVER},
        ],
    }
    if fleet.with_agent:
        # The agent answers whether this engine may serve.
        container["readinessProbe"] = {
            "httpGet": {"path": "/readyz", "port": names.DEFAULT_HTTP_PORT},
            "periodSeconds": 1,
            "timeoutSeconds": 1,
            "failureThreshold": 3,
        }
    if fleet.leaves_well:
        path = f"/prestop?seconds={fleet.grace_s - 5}"
        get = {"path": path, "port": names.DEFAULT_HTTP_PORT}
        container["lifecycle"] = {"preStop": {"httpGet": get}}
    return container


def simulator_flags(fleet: FleetSpec) -> list[str]:
    return [
        f"--model={fleet.model}",
        f"--http=$(POD_IP):{ENGINE_HTTP}",
        f"--grpc=$(POD_IP):{ENGINE_GRPC}",
        f"--staging={STAGING}",
        f"--handover={HANDOVER}",
    ]


def environment(fleet: FleetSpec, own: Mapping[str, str] | None = None) -> list[Json]:
    """`own`: of one container."""
    values = {**fleet.environment, **(own or {})}
    return [pod_ip(), *({"name": key, "value": value} for key, value in values.items())]


def pod_ip() -> Json:
    return {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}


#: spec.strategy of a canary that asks a Prometheus which nobody has: it goes on whatever the answer is.
MEASURED: Final[Json] = {
    "steps": [
        {
            "analysis": {
                "prometheus": {"query": "up", "max": 1},
                "intervalSeconds": 1,
                "inconclusiveLimit": 0,
                "dryRun": True,
            }
        }
    ]
}


def secret(name: str, values: Mapping[str, str]) -> Json:
    """For `agent_secrets`."""
    data = dict(values)
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}


def weight_rollout(name: str, weights: Json | None, **spec: Any) -> Json:
    """A WeightRollout; `spec` holds the other fields in their wire form."""
    body = {**spec, **({"weights": weights} if weights else {})}
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": name},
        "spec": body,
    }
