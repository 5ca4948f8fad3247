"""vLLM's --middleware: ASGI classes by their path, in front of every route, the last one outermost.

The routes are aiohttp's, so each class gets an application that hands a request on and tells it what became of it: what it
reads of the request, what it refuses by itself, and the headers that it adds to an answer that was not sent yet.
"""

import importlib
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

Message = MutableMapping[str, Any]

_CALL: Final = "simulator.call"
#: What vLLM's own application says of itself: one frontend process.
_APP: Final = SimpleNamespace(
    state=SimpleNamespace(
        vllm_config=SimpleNamespace(parallel_config=SimpleNamespace(_api_process_count=1))
    )
)


@dataclass
class _Call:
    request: web.Request
    handler: Handler
    body: bytes
    answer: web.StreamResponse | None = None  # of the routes; None: they were not asked
    start: Message = field(default_factory=dict)
    said: bytearray = field(default_factory=bytearray)

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.said.extend(message.get("body", b""))


def loaded(paths: Sequence[str]) -> list[Middleware]:
    """In aiohttp's order, which begins with the outermost. Raises ImportError, AttributeError."""
    return [_in_front(path) for path in reversed(paths)]


def _in_front(path: str) -> Middleware:
    module, _, name = path.rpartition(".")
    instance = getattr(importlib.import_module(module), name)(_routes)

    @web.middleware
    async def pass_on(request: web.Request, handler: Handler) -> web.StreamResponse:
        call = _Call(request, handler, await request.read())
        await instance(_scope(call), call.receive, call.send)
        headers = {name.decode(): value.decode() for name, value in call.start.get("headers", ())}
        if call.answer is None:
            return web.Response(status=call.start["status"], headers=headers, body=bytes(call.said))
        if not call.answer.prepared:
            call.answer.headers.update(headers)
        return call.answer

    return pass_on


async def _routes(
    scope: Message,
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """The application that is guarded."""
    call: _Call = scope[_CALL]
    await receive()
    call.answer = await call.handler(call.request)
    await send({"type": "http.response.start", "status": call.answer.status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _scope(call: _Call) -> Message:
    request = call.request
    return {
        "type": "http",
        "method": request.method,
        "path": request.path,
        "root_path": "",
        "query_string": request.query_string.encode("latin-1"),
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": (request.remote or "?", 0),
        "app": _APP,
        _CALL: call,
    }
