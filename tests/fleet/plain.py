"""A fleet as it is before it is injected: simulated engines that are started as vLLM is, and nothing of ours."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fleet.manifests import ENGINE_GRPC, ENGINE_HTTP, pod_ip

Json = dict[str, Any]

SIDECAR_PORT: Final = 9090

TESTS: Final = Path(__file__).resolve().parents[1]
#: What the image of such an engine would hold.
PYTHON_PATH: Final = os.pathsep.join([str(TESTS), str(TESTS.parent / "operator")])


def stateful_set(name: str, model: Path, replicas: int, selector: Mapping[str, str]) -> Json:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(model, selector)},
        },
    }


def _pod_spec(model: Path, selector: Mapping[str, str]) -> Json:
    return {
        "nodeSelector": dict(selector),
        "terminationGracePeriodSeconds": 5,
        "containers": [
            {
                "name": "engine",
                "image": "vllm-simulator",
                "command": ["python", "-m", "simulator"],
                "args": [
                    f"--model={model}",
                    "--host=$(POD_IP)",
                    f"--port={ENGINE_HTTP}",
                    "--token-seconds=0.01",
                ],
                "env": [pod_ip(), {"name": "PYTHONPATH", "value": PYTHON_PATH}],
                "ports": [{"name": "http", "containerPort": ENGINE_HTTP}],
                "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}},
            }
        ],
    }


def dynamo_sidecar() -> Json:
    """NVIDIA Dynamo's, beside the engine of such a pod."""
    return {
        "name": "main",
        "image": "dynamo-vllm-sidecar",
        "command": ["python", "-m", "simulator.sidecar"],
        "args": ["--grpc-endpoint", f"$(POD_IP):{ENGINE_GRPC}", "--enable-rl"],
        "env": [
            pod_ip(),
            {"name": "DYN_SYSTEM_HOST", "value": "$(POD_IP)"},
            {"name": "DYN_SYSTEM_PORT", "value": str(SIDECAR_PORT)},
            {"name": "PYTHONPATH", "value": PYTHON_PATH},
        ],
    }
