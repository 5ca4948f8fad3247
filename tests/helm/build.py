"""The real helm as a binary, built once from the Go module in `binary/` (see `gobinary`)."""

from pathlib import Path
from typing import Final

from gobinary import GoModule

VERSION: Final = "v3.19.5"
#: What a chart is told of the cluster unless one is named; helm's own default is years old.
KUBERNETES: Final = ("1", "34")

MODULE: Final = GoModule(
    "helm",
    Path(__file__).with_name("binary"),
    ("go.mod", "go.sum"),
    (
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        f"-s -w -X helm.sh/helm/v3/internal/version.version={VERSION}"
        f" -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor={KUBERNETES[0]}"
        f" -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={KUBERNETES[1]}",
    ),
    "about 2 minutes on 2 cores the first time, seconds when the Go cache is warm",
)


def helm_binary() -> Path:
    """helm, built now if the cache has none. Raises gobinary.BuildFailed."""
    return MODULE.built("helm", "helm.sh/helm/v3/cmd/helm", f"helm {VERSION}")


def is_built() -> bool:
    """Whether `helm_binary` would return at once."""
    return MODULE.is_built("helm")
