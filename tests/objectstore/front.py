"""A threaded HTTP server that answers as a function says, and spoils answers as a test says."""

from __future__ import annotations

import http.client
import http.server
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

TRICKLE_S: Final = 0.05
_HOP: Final = frozenset({"connection", "transfer-encoding", "keep-alive", "date", "server"})


@dataclass(frozen=True)
class Request:
    method: str
    path: str  # with its query
    headers: Mapping[str, str]  # names in lower case
    body: bytes = b""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut_after: int | None = None  # bytes of the body; then the connection ends
    silent: bool = False  # nothing comes, until the front ends
    trickles: bool = False  # the body comes a byte at a time, never silent for long


Answerer = Callable[[Request], Answer]
Spoil = Callable[[Answer], Answer]


@dataclass
class Front:
    answerer: Answerer
    url: str = ""
    heard: list[Request] = field(default_factory=list)
    _spoils: list[tuple[str, int, Spoil]] = field(default_factory=list)  # path's part, times left
    _lock: threading.Lock = field(default_factory=threading.Lock)
    ended: threading.Event = field(default_factory=threading.Event)

    def spoil(self, part: str, spoil: Spoil, times: int = 1_000_000) -> None:
        """The next `times` answers to requests whose path, decoded, holds `part`."""
        with self._lock:
            self._spoils.append((part, times, spoil))

    def say(self, part: str, status: int, times: int = 1_000_000, **headers: str) -> None:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        self.spoil(part, lambda _: Answer(status, given, b"SECRET-OF-THE-SERVER"), times)

    def answer(self, request: Request) -> Answer:
        with self._lock:
            self.heard.append(request)
        answer = self.answerer(request)
        with self._lock:
            for number, (part, times, spoil) in enumerate(self._spoils):
                if part in unquote(request.path) and times:
                    self._spoils[number] = (part, times - 1, spoil)
                    return spoil(answer)
        return answer

    def asked(self, part: str) -> list[Request]:
        return [each for each in self.heard if part in unquote(each.path)]


@contextmanager
def front(answerer: Answerer, tls: ssl.SSLContext | None = None) -> Iterator[Front]:
    found = Front(answerer)
    server = _Server(("127.0.0.1", 0), _handler(found))
    if tls is not None:
        # The handshake belongs to the connection's own thread.
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    scheme, host = ("http", "127.0.0.1") if tls is None else ("https", "localhost")
    found.url = f"{scheme}://{host}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients go away in mid-answer here, and refuse certificates."""


def _handler(of: Front) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            self._send(of.answer(Request(self.command, self.path, headers, body)))

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def _send(self, answer: Answer) -> None:
            if answer.silent:
                of.ended.wait()
                self.close_connection = True
                return
            self.send_response(answer.status)
            given = {"Content-Length": str(len(answer.body)), **answer.headers}
            for name, value in given.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD" and answer.trickles:
                for at in range(len(answer.body)):
                    self.wfile.write(answer.body[at : at + 1])
                    if of.ended.wait(TRICKLE_S):
                        return
            elif self.command != "HEAD":
                self.wfile.write(answer.body[: answer.cut_after])
            self.wfile.flush()
            if answer.cut_after is not None:
                self.close_connection = True

    return Handler


def forward(address: str) -> Answerer:
    """To another server, with the headers as they came: a signature holds the name it was made for."""

    def answer(request: Request) -> Answer:
        connection = http.client.HTTPConnection(address, timeout=60)
        try:
            connection.request(request.method, request.path, headers=dict(request.headers))
            response = connection.getresponse()
            headers = {
                name: value for name, value in response.getheaders() if name.lower() not in _HOP
            }
            return Answer(response.status, headers, response.read())
        finally:
            connection.close()

    return answer


def cut(after: int) -> Spoil:
    return lambda answer: replace(answer, cut_after=after)


def silent(_: Answer) -> Answer:
    return Answer(200, silent=True)


def trickling(answer: Answer) -> Answer:
    return replace(answer, trickles=True)


def shorter(by: int) -> Spoil:
    """Says so in its length, and keeps its word."""

    def spoil(answer: Answer) -> Answer:
        body = answer.body[:-by]
        others = {
            name: value
            for name, value in answer.headers.items()
            if name.lower() != "content-length"
        }
        return replace(answer, headers=others, body=body)

    return spoil
