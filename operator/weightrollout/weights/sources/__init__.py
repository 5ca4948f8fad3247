"""Where checkpoints come from: one file per kind of URI, one interface for all (`source.Source`)."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from weightrollout.weights.errors import WeightsError
from weightrollout.weights.pace import Pace
from weightrollout.weights.sources import file, https, hub, objects
from weightrollout.weights.sources.file import Folder
from weightrollout.weights.sources.https import Https
from weightrollout.weights.sources.hub import Hub
from weightrollout.weights.sources.objects import open_objects
from weightrollout.weights.sources.retry import PATIENCE, Patience
from weightrollout.weights.sources.source import Source
from weightrollout.weights.sources.uri import scheme, shown, unsupported

SCHEMES: Final = (file.SCHEME, *objects.SCHEMES, https.SCHEME, hub.SCHEME)


def opened(
    uri: str,
    cancelled: Callable[[], bool],
    patience: Patience = PATIENCE,
    pace: Pace | None = None,
) -> Source:
    """The source that a URI names. Looks at nothing yet; raises WeightsError where no such is known.

    `cancelled`: asked while a source waits, from any thread. `pace` None: as fast as bytes come.
    """
    source = _of(uri, cancelled, patience)
    if pace is not None:
        source.pace = pace
    return source


def _of(uri: str, cancelled: Callable[[], bool], patience: Patience) -> Source:
    match scheme(uri):
        case file.SCHEME:
            return Folder(file.folder(uri), cancelled)
        case kind if kind in objects.SCHEMES:
            return open_objects(uri, patience, cancelled)
        case https.SCHEME:
            return Https(uri, patience, cancelled)
        case hub.SCHEME:
            return Hub(uri, patience, cancelled)
        case _:
            raise _unknown(uri)


def never() -> bool:
    """For `cancelled`, where nobody can change their mind."""
    return False


def folder(uri: str) -> Path | None:
    """The folder on this machine that a URI names; None: it names another place. Looks at nothing."""
    kind = scheme(uri)
    if kind == file.SCHEME:
        return file.folder(uri)
    if kind in SCHEMES:
        return None
    raise _unknown(uri)


def _unknown(uri: str) -> WeightsError:
    names = ", ".join(f"{each}://" for each in SCHEMES)
    return unsupported(shown(uri), f"only {names} are supported, not {scheme(uri) or '?'}")
