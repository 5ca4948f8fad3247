"""Find the cluster that tests may use: the one they were pointed at, else kind, else one of our own.

Never the user's default kubeconfig: KUBECONFIG and the file in the home folder are not read.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from localcluster.access import Cluster
from localcluster.build import is_built
from localcluster.cluster import LocalCluster

POINTER: Final = "WEIGHTROLLOUT_KUBECONFIG"
KIND_NAME: Final = "weightrollout-test"
KIND_S: Final = 300
DOCKER_S: Final = 10


@asynccontextmanager
async def find_cluster() -> AsyncIterator[Cluster]:
    """The cluster to test on, for as long as the context is open. A kind cluster is kept for the next run."""
    if pointed := os.environ.get(POINTER):
        yield pointed_cluster(Path(pointed))
    elif await asyncio.to_thread(kind_is_available):
        with tempfile.TemporaryDirectory(prefix="localcluster-kind-") as folder:
            yield await asyncio.to_thread(kind_cluster, Path(folder))
    else:
        async with LocalCluster() as cluster:
            yield cluster


def needs_build() -> bool:
    """Whether `find_cluster` would have to build the control plane first."""
    return not os.environ.get(POINTER) and not is_built() and not kind_is_available()


def pointed_cluster(kubeconfig: Path) -> Cluster:
    """The cluster of the environment variable; an error, not a fall-back, when the file is missing or is the user's own."""
    if not kubeconfig.is_file():
        raise FileNotFoundError(f"{POINTER} names {kubeconfig}, which is not there")
    if kubeconfig.resolve() == (Path.home() / ".kube" / "config").resolve():
        raise PermissionError(
            f"{POINTER} names your own {kubeconfig}; write a kubeconfig for the test cluster alone"
        )
    return Cluster(kubeconfig, f"the cluster of {POINTER}")


def kind_is_available() -> bool:
    """Whether kind is on PATH and a Docker engine answers."""
    if not (shutil.which("kind") and shutil.which("docker")):
        return False
    try:
        return (
            subprocess.run(
                ["docker", "info"], capture_output=True, timeout=DOCKER_S, check=False
            ).returncode
            == 0
        )
    except subprocess.TimeoutExpired:
        return False


def kind_cluster(folder: Path) -> Cluster:
    """Our kind cluster, created where there is none; its kubeconfig goes to `folder` and nowhere else."""
    kubeconfig = folder / "kubeconfig"
    named = subprocess.run(
        ["kind", "get", "clusters"], capture_output=True, text=True, check=True, timeout=KIND_S
    ).stdout
    if KIND_NAME in named.split():
        export = [
            "kind",
            "export",
            "kubeconfig",
            "--name",
            KIND_NAME,
            "--kubeconfig",
            str(kubeconfig),
        ]
        subprocess.run(export, check=True, capture_output=True, timeout=KIND_S)
    else:
        create = [
            "kind",
            "create",
            "cluster",
            "--name",
            KIND_NAME,
            "--kubeconfig",
            str(kubeconfig),
            "--wait",
            "120s",
        ]
        subprocess.run(create, check=True, capture_output=True, timeout=KIND_S)
    return Cluster(kubeconfig, f"kind {KIND_NAME}")
