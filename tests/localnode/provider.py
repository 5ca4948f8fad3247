"""The cluster of the node tier: kind where it is asked for and a Docker engine answers, else a node of our own.

Tests see a `Ground` and not which of the two it is.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import yaml

from localcluster.provider import KIND_S, kind_is_available
from localnode.ground import Ground
from localnode.node import LocalNode
from localnode.oci import Image, write_archive
from localnode.packages import why_not
from localnode.settings import CONTAINERD_NAMESPACE

RUNNING: Final = "WEIGHTROLLOUT_NODE"  # the folder of one that `python -m localnode up` runs
ASK_KIND: Final = "WEIGHTROLLOUT_NODE_KIND"
KIND_NAME: Final = "weightrollout-node"


@asynccontextmanager
async def find_ground(logs: Path) -> AsyncIterator[Ground]:
    """For as long as the context is open. A kind cluster is kept for the next run."""
    if os.environ.get(ASK_KIND) == "1":
        yield await asyncio.to_thread(kind_up)
    elif folder := os.environ.get(RUNNING):
        yield LocalNode.running(Path(folder))
    else:
        async with LocalNode(logs) as node:
            yield node


def why_none() -> str | None:
    """Why there can be no ground here; None: there can."""
    if os.environ.get(ASK_KIND) == "1":
        return None if kind_is_available() else "no kind, or no Docker engine answers"
    return why_not()


async def import_made(ground: Ground, image: Image) -> None:
    """An image of files."""
    with tempfile.TemporaryDirectory() as folder:
        archive = await asyncio.to_thread(write_archive, image, Path(folder) / "image.tar")
        await ground.import_images({image.name: archive})


class KindNode(Ground):
    """A kind cluster. It has never run where this was written: see docs/limits.md."""

    def __init__(self, kubeconfig: Path, shared: Path) -> None:
        """`shared`: mounted into its node by `kind_up`."""
        super().__init__(kubeconfig, f"kind {KIND_NAME}")
        self._shared = shared

    @property
    def shared(self) -> Path:
        """As `Ground` has it."""
        return self._shared

    async def import_images(self, archives: Mapping[str, Path]) -> None:
        """The names are those in the archives."""
        for archive in archives.values():
            await asyncio.to_thread(_kind, "load", "image-archive", str(archive))

    async def kill_container(self, container: str) -> None:
        """As `Ground` has it."""
        name = container.removeprefix("containerd://")
        ctr = ("ctr", "--namespace", CONTAINERD_NAMESPACE)
        kill = ("docker", "exec", f"{KIND_NAME}-control-plane", *ctr, "tasks", "kill")
        await asyncio.to_thread(_run, *kill, "--signal", "SIGKILL", name)


def kind_up() -> KindNode:
    """Ours, created where there is none; its kubeconfig goes to a folder of the temporary ones."""
    folder = Path(tempfile.gettempdir()) / KIND_NAME
    shared, kubeconfig = folder / "shared", folder / "kubeconfig"
    shared.mkdir(parents=True, exist_ok=True)
    if KIND_NAME in _run("kind", "get", "clusters").split():
        _kind("export", "kubeconfig", "--kubeconfig", str(kubeconfig))
    else:
        mount = {"hostPath": str(shared), "containerPath": str(shared)}
        config = {
            "kind": "Cluster",
            "apiVersion": "kind.x-k8s.io/v1alpha4",
            "nodes": [{"role": "control-plane", "extraMounts": [mount]}],
        }
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        flags = ("--config", str(folder / "config.yaml"), "--wait", "120s")
        _kind("create", "cluster", "--kubeconfig", str(kubeconfig), *flags)
    return KindNode(kubeconfig, shared)


def _kind(*arguments: str) -> None:
    _run("kind", *arguments, "--name", KIND_NAME)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=KIND_S)
    return done.stdout
