"""Host and path of a URI. What may be a credential is refused, not carried on."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from weightrollout.weights.errors import Reason, WeightsError


@dataclass(frozen=True, slots=True)
class Place:
    host: str  # of https, with its port; else a bucket, a container or an organisation
    path: str  # decoded, without slashes at its ends


def place(uri: str) -> Place:
    """Raises WeightsError SourceUnsupported."""
    try:
        parts = urlsplit(uri)
        host, path = parts.netloc, unquote(parts.path, errors="strict").strip("/")
    except ValueError as error:  # also bytes that are no Unicode
        raise unsupported(shown(uri), "is not a URI") from error
    if "@" in host:
        raise unsupported(
            shown(uri), "holds a user: credentials are the agent's own, never in a uri"
        )
    if parts.query or parts.fragment or "?" in uri or "#" in uri:
        raise unsupported(shown(uri), "holds '?' or '#': a query may be a credential; leave it out")
    if not host:
        raise unsupported(shown(uri), "names no host, bucket or organisation")
    if any(part in ("", ".", "..") for part in path.split("/")) and path:
        raise unsupported(shown(uri), "has an empty part, '.' or '..' in its path")
    if not path.isprintable():
        raise unsupported(shown(uri), "holds a character that is not printable")
    return Place(host, path)


def scheme(uri: str) -> str:
    """In lower case; "" where there is none. Raises WeightsError."""
    try:
        return urlsplit(uri).scheme
    except ValueError as error:
        raise unsupported(shown(uri), f"is not a URI: {error}") from error


def shown(uri: str) -> str:
    """Without user, query and fragment: each may be a credential."""
    begin, colon, rest = uri.partition("://")
    rest = rest.partition("?")[0].partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{begin}{colon}{host.rpartition('@')[2]}{slash}{path}" if colon else uri


def unsupported(where: str, why: str) -> WeightsError:
    return WeightsError(Reason.SOURCE_UNSUPPORTED, f"{where}: {why}")
