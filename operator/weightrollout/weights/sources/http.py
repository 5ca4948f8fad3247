"""One request over HTTPS, whose every end has a name. No redirect is followed unasked, no word of a server is repeated.

Certificates are checked against the system's authorities, or those of SSL_CERT_FILE.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources.meaning import refused
from weightrollout.weights.sources.retry import Again, Patience, retry_after_s

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS: Final = 3
_CUT: Final = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)
#: Longer bodies are read from the socket itself.
_DIRECT_BYTES: Final = 64 << 10
#: More than any list of files needs.
MAX_LIST_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: memoryview
    url: str  # who answered, after redirects; may hold a credential

    def refusal(self, what: str, *, pinned: bool) -> Exception:
        """Of a status that is none of success: WeightsError, or Again."""
        after_s = retry_after_s(self.headers.get("retry-after"))
        return refused(what, self.status, after_s, pinned=pinned)


def origin(url: str) -> tuple[str, str]:
    """Scheme and host with port."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()


class Http:
    """Connections of one source, one for each thread and origin."""

    def __init__(
        self,
        patience: Patience,
        home: str,
        headers: Mapping[str, str],
        may_follow: Callable[[str, str], bool],
    ) -> None:
        """`headers` hold credentials, so they go to the origin of the URL `home` and nowhere else.

        `may_follow`: from which URL a redirect may lead to which other.
        """
        self._home = origin(home)
        self._patience = patience
        self._may_follow = may_follow
        self._headers = headers
        self._mine = _Mine()
        self._all: set[http.client.HTTPSConnection] = set()
        self._busy: set[http.client.HTTPSConnection] = set()
        self._lock = threading.Lock()
        self._closed = False
        self._tls = ssl.create_default_context()

    def close(self) -> None:
        """Requests under way end now, as far as they have a connection."""
        with self._lock:
            self._closed = True
            for each in self._all - self._busy:
                each.close()
            for each in self._busy:
                if each.sock is not None:
                    with suppress(OSError):  # it ends by itself just now
                        # Not SSLSocket's own: that takes TLS away from under a reader.
                        socket.socket.shutdown(each.sock, socket.SHUT_RDWR)

    @contextmanager
    def _using(self, url: str) -> Iterator[http.client.HTTPSConnection]:
        connection = self._connection(url)
        with self._lock:
            self._busy.add(connection)
        try:
            yield connection
        finally:
            with self._lock:
                self._busy.discard(connection)
                if self._closed:
                    connection.close()

    def ask(
        self,
        method: str,
        url: str,
        what: str,
        *,
        room: memoryview | int = MAX_LIST_BYTES,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """`room`: memory for the body, or how many bytes it may have; of a longer one nothing is given.

        Raises WeightsError, Again.
        """
        first = url
        for _ in range(_MAX_REDIRECTS + 1):
            own = self._headers if origin(url) == self._home else {}
            answer = self._once(method, url, {**own, **(headers or {})}, room, what)
            if answer.status not in _REDIRECTS:
                return answer
            target = urljoin(url, answer.headers.get("location", ""))
            if urlsplit(target).scheme != "https" or not self._may_follow(first, target):
                raise WeightsError(
                    Reason.SOURCE_UNTRUSTED,
                    f"{what}: is redirected to {'://'.join(origin(target))}, which is another host:"
                    " name that one in the uri, if it is the right one",
                )
            url = target
        raise WeightsError(Reason.SOURCE_UNTRUSTED, f"{what}: is redirected without end")

    def _once(
        self, method: str, url: str, headers: Mapping[str, str], room: memoryview | int, what: str
    ) -> Answer:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        with self._using(url) as connection:
            try:
                connection.request(method, path, headers={**headers, "Accept-Encoding": "identity"})
                sock = connection.sock  # it lets go of one that the server closes
                response = connection.getresponse()
                found = {name.lower(): value for name, value in response.getheaders()}
                length = response.length
                most = room if isinstance(room, int) else len(room)
                if response.status >= 300 or (length is not None and length > most):
                    connection.close()  # its body is nobody's news
                    return Answer(response.status, found, memoryview(b""), url)
                body = _body(response, room, sock, 4 * self._patience.deadline_s)
                if length is None:
                    connection.close()  # there may be more of it
                else:
                    response.close()  # an empty body does not end by itself
                return Answer(response.status, found, body, url)
            except ssl.SSLCertVerificationError as error:
                connection.close()
                raise WeightsError(
                    Reason.SOURCE_UNTRUSTED,
                    f"{what}: the certificate of {parts.hostname} is refused: {error.verify_message}",
                ) from None
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                raise _failed(what, error) from None

    def _connection(self, url: str) -> http.client.HTTPSConnection:
        key = origin(url)
        if key not in self._mine.connections:
            try:
                made = http.client.HTTPSConnection(
                    key[1], timeout=self._patience.deadline_s, context=self._tls
                )
            except http.client.InvalidURL:
                raise WeightsError(
                    Reason.SOURCE_UNSUPPORTED, f"{key[1]}: is no host and port"
                ) from None
            self._mine.connections[key] = made
            with self._lock:
                self._all.add(made)
        return self._mine.connections[key]


class _Mine(threading.local):
    """Of one thread."""

    def __init__(self) -> None:
        self.connections: dict[tuple[str, str], http.client.HTTPSConnection] = {}


def _body(
    response: http.client.HTTPResponse, room: memoryview | int, sock: socket.socket, within_s: float
) -> memoryview:
    """What `response` announces, else as much as there is room for. A server that trickles is given up, some time."""
    until = time.monotonic() + within_s
    announced = response.length is not None
    if isinstance(room, int):
        room = memoryview(bytearray(room if response.length is None else response.length))
    view = room[: response.length]
    size, done = len(view), 0
    if announced and size > _DIRECT_BYTES:
        # What its reader has taken already; then past it, whose four calls for each record of TLS cost as much as the decryption.
        done = response.readinto(view[: len(response.fp.peek())])
        while done < size and (read := sock.recv_into(view[done:])):
            done += read
            _in_time(until)
    while done < size and (part := response.read1(size - done)):
        view[done : done + len(part)] = part
        done += len(part)
        _in_time(until)
    if done < size and announced:
        raise http.client.IncompleteRead(b"", size - done)
    return view[:done]


def _in_time(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError


def _failed(what: str, error: Exception) -> Exception:
    """A connection's end, by what it is; its words are left out."""
    if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
        return WeightsError(Reason.SOURCE_UNTRUSTED, f"{what}: TLS fails: {error.reason}")
    if isinstance(error, TimeoutError):
        text, reason = "the server is silent or slow for too long", Reason.SOURCE_UNREADABLE
    elif isinstance(error, http.client.IncompleteRead):
        text, reason = "fewer bytes came than the server announced", Reason.SOURCE_UNREADABLE
    elif isinstance(error, _CUT) or not isinstance(error, OSError):
        text, reason = "the connection was cut", Reason.SOURCE_UNREADABLE
    else:
        text, reason = f"no connection: {error.strerror or 'refused'}", Reason.SOURCE_UNREACHABLE
    return Again(WeightsError(reason, f"{what}: {text}"))
