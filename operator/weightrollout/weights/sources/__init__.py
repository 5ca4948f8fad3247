"""Where checkpoints come from: one file per kind of URI, one interface for all (`source.Source`)."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import file
from weightrollout.weights.sources.file import Folder
from weightrollout.weights.sources.source import Source


def opened(uri: str, cancelled: Callable[[], bool]) -> Source:
    """The source that a URI names. Looks at nothing yet; raises WeightsError where no such is known.

    `cancelled`: asked while a source waits, from any thread.
    """
    if _scheme(uri) == file.SCHEME:
        return Folder(file.folder(uri))
    raise _unsupported(uri)


def resolve(uri: str) -> Path:
    """The folder that a file:// URI names, seen from this machine. Looks at nothing."""
    if _scheme(uri) == file.SCHEME:
        return file.folder(uri)
    raise _unsupported(uri)


def _scheme(uri: str) -> str:
    try:
        return urlsplit(uri).scheme
    except ValueError as error:
        raise WeightsError(Reason.SOURCE_UNSUPPORTED, f"{uri}: is not a URI: {error}") from error


def _unsupported(uri: str) -> WeightsError:
    return WeightsError(
        Reason.SOURCE_UNSUPPORTED,
        f"{uri}: only {file.SCHEME}:// is supported, not {_scheme(uri) or '?'}",
    )
