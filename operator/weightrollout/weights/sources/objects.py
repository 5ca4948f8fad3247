"""s3://bucket/folder/, gs://bucket/folder/, az://container/folder/ - the objects of a store, by obstore.

The library finds credentials where the cloud puts them for a pod: environment, mounted token, metadata
server. No word of it leaves this file: it repeats what a server says, and where it asked.

obstore keeps a range until it was copied into the reader's buffer, so a range is held once more for a moment.
"""

import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import reach, uri
from weightrollout.weights.sources.meaning import changed, refused, too_few
from weightrollout.weights.sources.remote import Remote
from weightrollout.weights.sources.retry import Again, Patience
from weightrollout.weights.sources.source import Stamp

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

#: Of the environment's variables.
_PREFIX: Final = {"s3": "AWS", "gs": "GOOGLE", "az": "AZURE"}
SCHEMES: Final = tuple(_PREFIX)

_STATUS: Final = re.compile(r"status code: (\d{3})")
_KIND: Final = re.compile(r"\bkind: (\w+)")
#: Where the library asks for credentials, as its words name it; what lies there is never asked for by POST.
_IDENTITY: Final = re.compile(
    r"performing POST|//169\.254\.\d+\.\d+|fd00:ec2::|/v1/credentials"
    r"|metadata\.google\.internal|/computeMetadata/|/latest/(api/token|meta-data/)"
    r"|AssumeRoleWithWebIdentity|/oauth2/v2\.0/token|oauth2\.googleapis\.com"
)
_TIME: Final = "time "
#: S3 says so with status 400.
_EXPIRED: Final = re.compile(r"<Code>(ExpiredToken|InvalidToken|TokenRefreshRequired)</Code>")


def open_objects(text: str, patience: Patience, cancelled: Callable[[], bool]) -> "Objects":
    """Raises WeightsError where the URI or the pod's settings cannot be used."""
    place = uri.place(text)
    try:
        store = _store(uri.scheme(text), place.host, patience)
    except ImportError as error:
        raise uri.unsupported(uri.shown(text), "needs the Python package obstore") from error
    except Exception as error:  # every kind of it; the words may hold a setting's value
        if type(error).__module__.split(".")[0] not in ("obstore", "builtins"):
            raise
        raise uri.unsupported(
            uri.shown(text),
            f"the settings for this store in the environment cannot be used ({type(error).__name__})",
        ) from None
    return Objects(uri.shown(text).rstrip("/"), store, place.path, patience, cancelled)


def _store(scheme: str, bucket: str, patience: Patience) -> "S3Store | GCSStore | AzureStore":
    from obstore import store  # late: a pod that reads a volume need not have it

    again: Any = {"max_retries": 0, "retry_timeout": timedelta(seconds=1)}  # Remote does it
    client: Any = {
        "connect_timeout": timedelta(seconds=patience.deadline_s),
        "read_timeout": timedelta(seconds=patience.deadline_s),
        # Of one range, whole: a server that trickles is given up, some time.
        "timeout": timedelta(seconds=4 * patience.deadline_s),
        # The library looks for it only where it is given no options at all.
        "allow_http": os.environ.get(f"{_PREFIX[scheme]}_ALLOW_HTTP", "").lower() == "true",
        **reach.client_options(scheme, os.environ),
    }
    match scheme:
        case "s3":
            places: Any = reach.s3_settings(bucket, os.environ)
            return store.S3Store(bucket, config=places, client_options=client, retry_config=again)
        case "gs":
            return store.GCSStore(bucket, client_options=client, retry_config=again)
        case _:
            return store.AzureStore(bucket, client_options=client, retry_config=again)


class Objects(Remote):
    """The objects right below one prefix."""

    def __init__(
        self,
        where: str,
        store: "S3Store | GCSStore | AzureStore",
        folder: str,
        patience: Patience,
        cancelled: Callable[[], bool],
    ) -> None:
        super().__init__(where, patience, cancelled)
        self._store = store
        self._prefix = f"{folder}/" if folder else ""

    def _list(self) -> dict[str, Stamp]:
        import obstore

        try:
            found = obstore.list_with_delimiter(self._store, self._prefix)["objects"]
        except Exception as error:
            raise _meaning(error, self.where, pinned=False) from None
        return {
            each["path"].removeprefix(self._prefix): _stamp(each)
            for each in found
            if each["path"].startswith(self._prefix)
        }

    def _range(self, name: str, pin: Stamp, begin: int, end: int) -> memoryview:
        import obstore

        what = f"{self.where}/{name}"
        try:
            answer = obstore.get(
                self._store,
                f"{self._prefix}{name}",
                options={"range": (begin, end), "if_match": _if_match(pin)},
            )
            meta = answer.meta
            data = memoryview(answer.bytes()).cast("B")
        except Exception as error:
            raise _meaning(error, what, pinned=True) from None
        # Not every server that speaks S3 heeds If-Match.
        if _stamp(meta) != pin:
            raise changed(what)
        if len(data) != end - begin:
            raise too_few(what, len(data), end - begin)
        return data

    def names(self) -> set[str]:
        """All that lies there, also what counts for no digest. Raises WeightsError."""
        return set(self.result(self._asked(self._list)))

    def read_whole(self, name: str) -> bytes:
        """A small one, as it is now. Raises WeightsError."""
        stamp = self.result(self._asked(self._list))[name]
        return bytes(self.result(self._asked(lambda: self._range(name, stamp, 0, stamp.bytes))))

    def put(self, name: str, file: Path) -> None:
        """Write or replace one: for trainers, agents only read. Raises WeightsError."""
        self.result(self._asked(lambda: self._put(name, file)))

    def _put(self, name: str, file: Path) -> None:
        import obstore

        try:
            obstore.put(self._store, f"{self._prefix}{name}", file)
        except Exception as error:
            raise _meaning(error, f"{self.where}/{name}", pinned=False) from None


def _stamp(meta: Mapping[str, Any]) -> Stamp:
    """An ETag changes with the content; a server without any is believed its time."""
    etag = meta["e_tag"]
    # Azure quotes it in an answer and not in a list.
    return Stamp(meta["size"], etag.strip('"') if etag else f"{_TIME}{meta['last_modified']}")


def _if_match(pin: Stamp) -> str | None:
    weak_or_none = pin.identity.startswith(("W/", _TIME))
    return None if weak_or_none else f'"{pin.identity}"'


def _meaning(error: Exception, what: str, *, pinned: bool) -> Exception:
    """What the library's exception says, in our words: WeightsError, or Again; else the exception itself.

    `pinned`: the object was seen before.
    """
    # For what is not there it raises Python's own.
    if type(error).__module__.split(".")[0] != "obstore" and type(error) is not FileNotFoundError:
        return error
    text = str(error)
    status = _STATUS.search(text)
    if status is None:
        return _without_answer(text, what)
    code = int(status[1])
    if _IDENTITY.search(text[: status.start()]):
        return _no_identity(what)
    if code == 400 and _EXPIRED.search(text):
        code = 403
    return refused(what, code, None, pinned=pinned)


def _without_answer(text: str, what: str) -> Exception:
    found = _KIND.search(text)
    kind = found[1] if found else ""
    if reach.NOWHERE in text:
        return WeightsError(
            Reason.SOURCE_UNTRUSTED,
            f"{what}: leads to a host that is not the store's: a redirect, which is not followed",
        )
    if "InvalidCertificate" in text:
        return WeightsError(
            Reason.SOURCE_UNTRUSTED,
            f"{what}: the server's certificate is refused: see SSL_CERT_FILE",
        )
    if _IDENTITY.search(text):
        return _no_identity(what)
    if "inner: BareRedirect" in text:
        return WeightsError(
            Reason.SOURCE_NOT_FOUND,
            f"{what}: lies elsewhere, as a bucket of another region does: see AWS_REGION",
        )
    if "following redirect" in text:
        whither = "to a place without TLS" if "BadScheme" in text else "without end"
        return WeightsError(Reason.SOURCE_UNTRUSTED, f"{what}: is redirected {whither}")
    if "BadScheme" in text:
        name = f"{_PREFIX[uri.scheme(what)]}_ALLOW_HTTP"
        return uri.unsupported(
            what, f"the store's endpoint is http://; if that is meant, set {name}=true"
        )
    unreadable = {
        "Timeout": "the server is silent for too long",
        "Interrupted": "the connection was cut",
        "Decode": "the answer cannot be understood",
    }
    if kind in ("Connect", "Request"):
        return Again(WeightsError(Reason.SOURCE_UNREACHABLE, f"{what}: no connection"))
    if "NotPartial" in text:
        why = "the server does not give ranges of an object"
        return WeightsError(Reason.SOURCE_UNREADABLE, f"{what}: {why}")
    why = unreadable.get(kind, "the library gives no reason that may be repeated")
    return Again(WeightsError(Reason.SOURCE_UNREADABLE, f"{what}: {why}"))


def _no_identity(what: str) -> WeightsError:
    return WeightsError(
        Reason.SOURCE_DENIED,
        f"{what}: the agent found no credentials: neither in its environment nor from the cloud",
    )
