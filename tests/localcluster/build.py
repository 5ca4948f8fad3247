"""The control plane as one binary, built once from the Go module in `binary/` (see `gobinary`)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from gobinary import GoModule

VERSION: Final = "v1.34.4"  # what the API server calls itself; the modules in go.mod say what it is

MODULE: Final = GoModule(
    "localcluster",
    Path(__file__).with_name("binary"),
    ("go.mod", "go.sum", "main.go"),
    # The linker's flags have to be told the version, as Kubernetes' own build scripts do; without -s -w the file is twice as large.
    (
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        f"-s -w -X k8s.io/component-base/version.gitVersion={VERSION}",
    ),
    "about 5 minutes on 2 cores the first time, seconds when the Go cache is warm",
)


def control_plane_binary() -> Path:
    """The binary with etcd, API server, controller manager and scheduler; built now if the cache has none."""
    contents = f"etcd, kube-apiserver, kube-controller-manager and kube-scheduler {VERSION}"
    return MODULE.built("localcluster", ".", contents)


def kubectl_binary() -> Path:
    """The kubectl on PATH, else one built from the same module."""
    if found := shutil.which("kubectl"):
        return Path(found)
    return MODULE.built("kubectl", "k8s.io/kubernetes/cmd/kubectl", f"kubectl {VERSION}")


def is_built() -> bool:
    """Whether `control_plane_binary` would return at once."""
    return MODULE.is_built("localcluster")
