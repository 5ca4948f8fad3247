"""https://host/folder/ - files behind any web server, which say by SHA256SUMS which they are.

There is no listing over HTTP. What `sha256sum * > SHA256SUMS` writes is one, and what comes is checked
against it. Each file must be given in ranges (RFC 9110), as nginx, Apache and every object store do.

Name and password come from the netrc file that NETRC names, for the host that it names.
"""

import base64
import netrc
import os
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import quote

from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources import uri
from weightrollout.weights.sources.http import Answer, Http, origin
from weightrollout.weights.sources.meaning import changed, too_few
from weightrollout.weights.sources.remote import Remote
from weightrollout.weights.sources.retry import Patience
from weightrollout.weights.sources.source import Stamp

SCHEME: Final = "https"
SUMS: Final = "SHA256SUMS"

_LINE: Final = re.compile(r"([0-9a-f]{64}) [ *](?:\./)?([^/]+)")
_RANGE: Final = re.compile(r"bytes (?:\d+-\d+|\*)/(\d+)")


class Https(Remote):
    def __init__(self, text: str, patience: Patience, cancelled: Callable[[], bool]) -> None:
        """Raises WeightsError where the URI, or the netrc file, cannot be used."""
        place = uri.place(text)
        super().__init__(uri.shown(text).rstrip("/"), patience, cancelled)
        self._base = f"https://{place.host}/{quote(place.path)}"
        self._http = Http(
            patience,
            self._base,
            _login(place.host),
            lambda begin, end: origin(begin) == origin(end),
        )

    def close(self) -> None:
        super().close()
        self._http.close()

    def _url(self, name: str) -> str:
        return f"{self._base.rstrip('/')}/{quote(name)}"

    def _list(self) -> dict[str, Stamp]:
        answer = self._http.ask("GET", self._url(SUMS), f"{self.where}/{SUMS}")
        if answer.status == 404:
            raise WeightsError(
                Reason.SOURCE_NOT_FOUND,
                f"{self.where}/{SUMS}: nothing lies there. It is the list of the folder's files: write"
                " it with sha256sum * > SHA256SUMS and publish it last",
            )
        if answer.status != 200:
            raise answer.refusal(f"{self.where}/{SUMS}", pinned=False)
        sums = parse_sums(bytes(answer.body), f"{self.where}/{SUMS}")
        self.promised = self.promised or {name: sums[name] for name in digest.counting(sums)}
        # Each for itself: one that fails is no reason to ask for all of them again.
        return {name: self._retried(partial(self._stamp, name)) for name in digest.counting(sums)}

    def _stamp(self, name: str) -> Stamp:
        """By one byte of it: that tells size, ETag, and whether the server gives ranges at all."""
        what = f"{self.where}/{name}"
        answer = self._http.ask(
            "GET", self._url(name), what, headers={"Range": "bytes=0-0"}, room=1
        )
        size = _RANGE.fullmatch(answer.headers.get("content-range", ""))
        if answer.status == 416 and size is not None and size[1] == "0":
            return Stamp(0, "empty")
        if answer.status == 200:
            raise WeightsError(
                Reason.SOURCE_UNREADABLE,
                f"{what}: the server gives no ranges of a file; use one that does, or a bucket",
            )
        if answer.status != 206:
            raise answer.refusal(what, pinned=False)
        if size is None:
            raise WeightsError(
                Reason.SOURCE_UNREADABLE, f"{what}: the server does not say its size"
            )
        return Stamp(int(size[1]), _identity(answer))

    def _beside(self, name: str) -> Stamp | None:
        """It need not be in the list: nobody believes a signature for where it lies."""
        try:
            return self._retried(partial(self._stamp, name))
        except WeightsError as error:
            if error.reason is Reason.SOURCE_NOT_FOUND:
                return None
            raise

    def _range(self, name: str, pin: Stamp, begin: int, end: int) -> memoryview:
        what = f"{self.where}/{name}"
        headers = {"Range": f"bytes={begin}-{end - 1}"}
        if pin.identity.startswith('"'):  # others never match
            headers["If-Match"] = pin.identity
        answer = self._http.ask(
            "GET", self._url(name), what, headers=headers, room=self.memory(end - begin)
        )
        return ranged(answer, what, pin, begin, end)


def ranged(answer: Answer, what: str, pin: Stamp, begin: int, end: int) -> memoryview:
    """The bytes of an answer to a request for a range, if they are those of the pinned file.

    A pin of "" is of a file that cannot change. Raises WeightsError, Again.
    """
    if answer.status not in (200, 206):
        raise answer.refusal(what, pinned=True)
    size = _RANGE.fullmatch(answer.headers.get("content-range", ""))
    whole = answer.status == 200 and (begin, end) == (0, pin.bytes)
    if not whole and (size is None or int(size[1]) != pin.bytes):
        raise changed(what)
    if pin.identity and _identity(answer) != pin.identity:
        raise changed(what)
    if len(answer.body) != end - begin:
        raise too_few(what, len(answer.body), end - begin)
    return answer.body


def _identity(answer: Answer) -> str:
    """An ETag, else the time; a server that gives neither is checked by SHA256SUMS alone."""
    return answer.headers.get("etag") or answer.headers.get("last-modified", "")


def parse_sums(data: bytes, what: str) -> dict[str, str]:
    """File name -> sha256 hex, of what sha256sum printed. Raises WeightsError."""
    found: dict[str, str] = {}
    for line in data.decode(errors="surrogateescape").splitlines():
        entry = _LINE.fullmatch(line)
        if entry is None:
            if "/" in line or not line.strip():
                continue  # of a subfolder, which does not count
            raise WeightsError(
                Reason.SOURCE_UNREADABLE, f"{what}: a line is not as sha256sum prints it"
            )
        if found.setdefault(entry[2], entry[1]) != entry[1]:
            raise WeightsError(Reason.SOURCE_UNREADABLE, f"{what}: names {entry[2]} twice")
    return found


def _login(host: str) -> Mapping[str, str]:
    """A header, or none. The words of an unreadable file are left out: they may be a password."""
    path = os.environ.get("NETRC")
    if not path:
        return {}
    try:
        hosts = netrc.netrc(path).hosts
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError) as error:
        raise WeightsError(
            Reason.SOURCE_DENIED,
            f"https://{host}: the file of NETRC cannot be read ({type(error).__name__})",
        ) from None
    found = hosts.get(host) or hosts.get(host.partition(":")[0])
    if found is None:
        return {}
    user, _, password = found
    text = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {text}"}
