"""The node's programs, built once from the Go modules in `binary/` and `programs/` (see `gobinary`)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gobinary import GoModule
from localcluster.build import VERSION

_HERE: Final = Path(__file__).parent
NODE: Final = GoModule(
    "localnode",
    _HERE / "binary",
    ("go.mod", "go.sum", "main.go"),
    (
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        f"-s -w -X k8s.io/component-base/version.gitVersion={VERSION}",
    ),
    "about 4 minutes on 2 cores the first time, one when the control plane was built before",
)
PROGRAMS: Final = GoModule(
    "localnode-programs",
    _HERE / "programs",
    ("go.mod", "pause/main.go", "toy/main.go", "toy/store.go", "toy/stream.go"),
    ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w"),
    "seconds",
)


def node_binary() -> Path:
    """The binary with kubelet and kube-proxy; built now if the cache has none. Raises gobinary.BuildFailed."""
    return NODE.built("localnode", ".", f"kubelet and kube-proxy {VERSION}")


def program(name: str) -> Path:
    """One of the static programs of `programs/`: "pause", or "toy". Raises gobinary.BuildFailed."""
    return PROGRAMS.built(name, f"./{name}", f"the program {name}")


def is_built() -> bool:
    """Whether everything is in the cache."""
    return NODE.is_built("localnode") and all(PROGRAMS.is_built(each) for each in ("pause", "toy"))
