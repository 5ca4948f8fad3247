"""The S3 server as a binary, built once from the Go module in `binary/` (see `gobinary`)."""

from pathlib import Path
from typing import Final

from gobinary import GoModule

VERSION: Final = "v1.8.0"

MODULE: Final = GoModule(
    "objectstore",
    Path(__file__).with_name("binary"),
    ("go.mod", "go.sum"),
    ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w"),
    "about 3 minutes on 2 cores the first time, seconds when the Go cache is warm",
)


def server_binary() -> Path:
    """versitygw, built now if the cache has none. Raises gobinary.BuildFailed."""
    package = "github.com/versity/versitygw/cmd/versitygw"
    return MODULE.built("versitygw", package, f"versitygw {VERSION}")
