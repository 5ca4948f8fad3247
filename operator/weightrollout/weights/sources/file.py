"""file:///absolute/folder/ - a volume that is mounted at the same place in every pod."""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from weightrollout.weights.errors import Reason, WeightsError

SCHEME: Final = "file"


def folder(uri: str) -> Path:
    """The folder that the URI names; it need not exist."""
    parts = urlsplit(uri)
    if parts.netloc:
        raise _unsupported(uri, f"names the host {parts.netloc!r}; write file:///path")
    if parts.query or parts.fragment:
        raise _unsupported(uri, "holds '?' or '#'; write them as %3F and %23")
    path = unquote(parts.path, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path:
        raise _unsupported(uri, "must name an absolute path: file:///path")
    return Path(path)


def _unsupported(uri: str, why: str) -> WeightsError:
    return WeightsError(Reason.SOURCE_UNSUPPORTED, f"{uri}: {why}")
