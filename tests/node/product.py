"""The product as a platform team installs it: images of our Dockerfile, the chart, and injected engines."""

import asyncio
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from fleet.world import World
from helm.chart import CHART, ROOT, Said, helm
from localcluster.pods import Pods, sidecar
from localnode.ground import Ground
from node.toys import ask, toy
from weightrollout.cli.inject import documents
from weightrollout.cli.main import app

Json = dict[str, Any]

IMAGES: Final = ("weightrollout-operator", "weightrollout-agent", "weightrollout-simulator")
READY_MADE: Final = "WEIGHTROLLOUT_NODE_IMAGES"
BUILD_S: Final = 1800.0
RELEASE: Final = "wr"
MODELS: Final = "/models"
PROXY: Final = 8080  # what clients reach
HTTP: Final = 8000  # on the pod's loopback only, as the next
GRPC: Final = 50051


class NoImages(Exception):
    """They could not be built; the message says why."""


@dataclass(frozen=True)
class Images:
    """References, as pods name them."""

    operator: str
    agent: str
    simulator: str


def built_images() -> dict[str, tuple[str, Path]]:
    """Reference and archive of each, by its name: what `make image` makes, built now where it is not. Raises NoImages.

    A folder named by WEIGHTROLLOUT_NODE_IMAGES holds them instead, each as NAME.tar.
    """
    if folder := os.environ.get(READY_MADE):
        archives = {name: Path(folder) / f"{name}.tar" for name in IMAGES}
        return {name: (_reference(path), path) for name, path in archives.items()}
    command = [sys.executable, "-m", "images", "build"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment,
        timeout=BUILD_S,
        check=False,
    )
    if done.returncode != 0:
        raise NoImages(done.stderr[-2000:])
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: (reference, Path(archive)) for name, reference, archive in rows}


def _reference(archive: Path) -> str:
    """The image's name in an OCI archive."""
    with tarfile.open(archive) as opened:
        index = opened.extractfile("index.json")
        assert index is not None
        [manifest] = json.load(index)["manifests"]
    return str(manifest["annotations"]["org.opencontainers.image.ref.name"])


async def bring_images(ground: Ground) -> Images:
    """Build and import what a fleet needs. Raises NoImages."""
    found = await asyncio.to_thread(built_images)
    wanted = [found[name] for name in IMAGES]
    await ground.import_images(dict(wanted))
    return Images(*(reference for reference, _ in wanted))


def install(ground: Ground, namespace: str, images: Images, *more: str) -> Said:
    """`helm upgrade --install`, and wait until the operator is ready. `more`: further arguments."""
    repository, _, tag = images.operator.rpartition(":")
    values = {"image.repository": repository, "image.tag": tag, "image.pullPolicy": "Never"}
    sets = [f"--set={name}={value}" for name, value in values.items()]
    waits = ("--wait", "--timeout=110s")
    where = f"--namespace={namespace}"
    arguments = ["upgrade", "--install", RELEASE, str(CHART), where, *sets, *waits, *more]
    return helm(*arguments, kubeconfig=ground.kubeconfig)


def inject(workload: Json, images: Images, *arguments: str) -> Json:
    """`kubectl weightrollout inject`, through its command line and through YAML."""
    run = ["inject", "-f", "-", "--agent-image", images.agent, *arguments]
    done = CliRunner().invoke(app, run, input=documents.write([workload]))
    assert done.exit_code == 0, done.stderr
    [found] = documents.read(done.stdout)
    return dict(found)


def engines(name: str, images: Images, model: str, replicas: int, flags: Sequence[str]) -> Json:
    """A Deployment before injection, as its owner would write it: engines on loopback, a proxy in front of their HTTP port.

    `flags`: of the simulator, beside where its model is and where it listens.
    """
    container = {
        "name": "vllm",
        "image": images.simulator,
        "imagePullPolicy": "Never",
        "command": ["python", "-m", "simulator"],
        "args": [
            f"--model={MODELS}/{model}",
            "--host=127.0.0.1",
            f"--port={HTTP}",
            f"--grpc-port={GRPC}",
            "--drain-seconds=10",
            *flags,
        ],
        "volumeMounts": [{"name": "models", "mountPath": MODELS, "readOnly": True}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    # A native sidecar, which ends after the engine has: what the engine still answers in its preStop hook gets out.
    proxy = sidecar(toy("proxy", "proxy", f":{PROXY}", f"127.0.0.1:{HTTP}", volumeMounts=[]))
    models = {"claimName": "models", "readOnly": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "terminationGracePeriodSeconds": 30,
                    "initContainers": [proxy],
                    "containers": [container],
                    "volumes": [{"name": "models", "persistentVolumeClaim": models}],
                },
            },
        },
    }


def volume(claimed: str, folder: Path, namespace: str) -> tuple[Json, Json]:
    """A volume with what is in a folder, read-only, and the claim of the namespace on it."""
    name = f"{claimed}-{namespace}"
    size = {"storage": "1Gi"}
    held = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": size,
            "accessModes": ["ReadOnlyMany"],
            "storageClassName": "",
            "hostPath": {"path": str(folder)},
            "claimRef": {"namespace": namespace, "name": claimed},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": claimed, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadOnlyMany"],
            "storageClassName": "",
            "volumeName": name,
            "resources": {"requests": size},
        },
    }
    return held, claim


def clients(name: str, url: str, count: int = 2) -> Json:
    """A pod of clients that stream completions; see `Clients`."""
    pod: Json = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "terminationGracePeriodSeconds": 5,
            "containers": [toy("clients", "stream", url, str(count))],
            "volumes": [{"name": "shared", "emptyDir": {}}],
        },
    }
    return pod


def described(world: World, kubeconfig: Path) -> str:
    """What a person would look at first."""
    asked: Sequence[Sequence[str]] = (
        ("get", "pods,weightrollouts", "-o", "wide"),
        ("get", "events", "--sort-by=.lastTimestamp"),
        ("logs", "--selector=app.kubernetes.io/component=operator", "--tail=40"),
    )
    environment: Mapping[str, str] = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    found = []
    for arguments in asked:
        done = subprocess.run(
            ["kubectl", "--namespace", world.namespace, *arguments],
            capture_output=True,
            text=True,
            env=environment,
            timeout=30,
            check=False,
        )
        found.append(
            f"--- kubectl {' '.join(arguments)}\n{done.stdout[-6000:]}{done.stderr[-500:]}"
        )
    return "\n".join(found)


async def engine_state(world: World, pod: str) -> Json:
    """instance, fingerprint, paused, version, calls of a simulated engine. LookupError when it does not answer."""
    found: Json = json.loads(
        await ask(world.api, Pods(world.api, world.namespace), pod, "/simulator/state", PROXY)
    )
    return found
