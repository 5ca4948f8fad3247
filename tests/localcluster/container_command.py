"""Turn one container's spec into the command, environment and folder of a local process.

Reads ConfigMaps and Secrets through the node's lookup and makes the working folder; starts nothing.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from localcluster.manifest import (
    ConfigError,
    MountPaths,
    PodFacts,
    environment,
    expand,
    mount_folders,
)
from localcluster.node_settings import Host
from localcluster.volumes import PodVolumes

Json = dict[str, Any]

CONTAINER_MARK: Final = "LOCALCLUSTER_CONTAINER"


@dataclass
class PodContext:
    """What the containers of one pod share."""

    host: Host
    facts: PodFacts  # replaced when the pod object changes
    volumes: PodVolumes
    folder: Path
    changed: Callable[[], None]

    @property
    def grace_s(self) -> float:
        """The pod's terminationGracePeriodSeconds."""
        return float(self.facts.pod["spec"].get("terminationGracePeriodSeconds", 30))


@dataclass(frozen=True)
class Prepared:
    """One run of a container, ready to start; what its probes and hooks run in, too."""

    container_id: str
    argv: list[str]
    environment: dict[str, str]
    paths: MountPaths
    folder: Path

    @property
    def mark(self) -> str:
        """The environment entry that all processes of this run carry."""
        return f"{CONTAINER_MARK}={self.container_id}"


def prepare(spec: Json, pod: PodContext) -> Prepared:
    """The next run. ConfigError while something it refers to is missing."""
    own = environment(spec, pod.facts, pod.host.lookup)
    argv = [*_entrypoint(spec, pod), *(spec.get("args") or [])]
    paths = MountPaths(mount_folders(spec, pod.volumes.folders))
    container_id = uuid.uuid4().hex
    node_mark, _, node_id = pod.host.mark.partition("=")
    variables = {
        **pod.host.environment,
        "HOSTNAME": pod.facts.pod["metadata"]["name"],
        **{key: paths.rewrite(value) for key, value in own.items()},
        node_mark: node_id,
        CONTAINER_MARK: container_id,
    }
    return Prepared(
        container_id,
        paths.rewrite_all([expand(part, own) for part in argv]),
        variables,
        paths,
        _folder_to_work_in(spec, pod, paths),
    )


def _entrypoint(spec: Json, pod: PodContext) -> list[str]:
    if command := spec.get("command"):
        return list(command)
    image = spec.get("image", "")
    known = pod.host.settings.entrypoints
    for name in (image, untagged(image)):
        if name in known:
            return list(known[name])
    raise ConfigError(
        f"no command: the virtual node runs no images, and has no entry point for {image}"
    )


def untagged(image: str) -> str:
    """An image without its tag and digest; the port of a registry stays."""
    return re.sub(r"(:[^:/@]+)?(@.*)?$", "", image)


def _folder_to_work_in(spec: Json, pod: PodContext, paths: MountPaths) -> Path:
    wanted = Path(paths.rewrite(spec.get("workingDir") or ""))
    if wanted.is_absolute() and wanted.is_dir():
        return wanted
    folder = pod.folder / "work" / str(spec["name"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder
