"""Where checkpoints come from: one file per kind of URI."""

from pathlib import Path
from urllib.parse import urlsplit

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import file


def resolve(uri: str) -> Path:
    """The folder that a URI names, seen from this machine. Looks at nothing."""
    try:
        scheme = urlsplit(uri).scheme
    except ValueError as error:
        raise WeightsError(Reason.SOURCE_UNSUPPORTED, f"{uri}: is not a URI: {error}") from error
    if scheme == file.SCHEME:
        return file.folder(uri)
    raise WeightsError(
        Reason.SOURCE_UNSUPPORTED, f"{uri}: only {file.SCHEME}:// is supported, not {scheme or '?'}"
    )
