"""What a virtual node is told, and what it hands to each of its pods."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from localcluster.manifest import Lookup
from localcluster.probes import Prober
from localcluster.sweeper import Sweeper
from localcluster.volumes import TokenSource

HOST_IP: Final = "127.0.0.1"


@dataclass(frozen=True)
class NodeSettings:
    """How a node behaves; the defaults suit tests, times that differ from the kubelet's are marked."""

    backoff_base_s: float = 0.5  # kubelet: 10
    backoff_cap_s: float = 10.0  # kubelet: 300
    backoff_reset_s: float = 10.0  # a run that long clears the back-off; kubelet: 600
    heartbeat_s: float = 10.0
    # What SIGTERM gets after a preStop hook that took all of the grace period.
    minimum_grace_s: float = 2.0
    config_retry_s: float = 0.2  # how often a container that lacks a ConfigMap is tried again
    # Accept probe port names of other containers, which a kubelet refuses.
    ports_of_any_container: bool = False
    capacity: Mapping[str, str] = field(
        default_factory=lambda: {"cpu": "256", "memory": "1Ti", "pods": "5000"}
    )
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()
    entrypoints: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # image (tag or not) to command: images are not run


@dataclass(frozen=True)
class Host:
    """What every pod of one node uses."""

    name: str
    settings: NodeSettings
    environment: Mapping[str, str]
    folder: Path  # private to the node, removed at its end
    memory_folder: Path  # the same, in memory
    logs: Path
    mark: str  # in the environment of every process of this node
    lookup: Lookup
    tokens: TokenSource
    prober: Prober
    sweeper: Sweeper


def python_environment(*paths: Path) -> dict[str, str]:
    """A base environment for pods: this interpreter as `python`, and `paths` on PYTHONPATH."""
    interpreter = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([interpreter, os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONUNBUFFERED": "1",  # logs are read while the process runs
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
    }
