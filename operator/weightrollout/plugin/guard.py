"""The guard of vLLM's Python frontend: everybody infers, who has the token controls, and answers say which weights gave them.

    VLLM_SERVER_DEV_MODE=1 WEIGHTROLLOUT_GUARD_TOKEN_FILE=/run/guard/token \\
        vllm serve MODEL --middleware weightrollout.plugin.guard.Guard

Whatever is not the serving API needs the token: what development mode opens today, and what a later vLLM may
open. Without a readable token nobody gets there. Standard library only; vLLM puts it outermost.
"""

import json
import logging
import os
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from weightrollout import bearer
from weightrollout.handover import files
from weightrollout.plugin.attribution import NAMING, Attribution, Moment, shown

TOKEN_FILE: Final = files.GUARD_TOKEN_VARIABLE
HEADER: Final = b"x-weightrollout-version"

#: What vLLM itself takes for its serving API: its --api-key guards what is below these.
SERVING: Final = ("/v1", "/v2", "/inference", "/cohere")
#: The same API under names without a prefix, and what a kubelet, a Prometheus or a router asks.
PUBLIC: Final = frozenset(
    {
        *("/health", "/ping", "/load", "/version", "/metrics", "/metrics/"),
        *("/tokenize", "/detokenize", "/invocations", "/generative_scoring"),
        *("/pooling", "/classify", "/score", "/rerank"),
    }
)
#: Below those prefixes, and no inference: they load what the caller names.
CONTROL: Final = frozenset({"/v1/load_lora_adapter", "/v1/unload_lora_adapter"})
#: Of a body that names a version.
MAX_BODY: Final = 1 << 16

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger(__name__)


class Guard:
    """ASGI middleware."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._weights = Attribution()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        path = route_of(scope)
        if is_public(path):
            await self._serve(scope, receive, send)
            return
        refusal = _refusal(scope)
        if refusal is None:
            await self._control(path, scope, receive, send)
            return
        log.warning("a call of %s from %s was refused", path, (scope.get("client") or ("?",))[0])
        await _refuse(scope, send, *refusal)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The header waits for the first bytes of the answer: only then it is known what gave them."""
        if scope["type"] != "http" or scope["method"] != "POST" or not _sees_every_call(scope):
            await self._app(scope, receive, send)
            return
        begun: Moment = self._weights.now
        held: list[Message] = []

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                held.append(message)
                return
            if held:
                start = held.pop()
                version = shown(begun, self._weights.now)
                if version is not None and start["status"] == 200:
                    start["headers"] = [*start.get("headers", ()), (HEADER, version.encode())]
                await send(start)
            await send(message)

        await self._app(scope, receive, named)

    async def _control(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        """What it does to the weights is followed."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        status: list[int] = []
        body = bytearray()

        async def heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
            await send(message)

        async def read() -> Message:
            message = await receive()
            if path in NAMING and len(body) <= MAX_BODY:
                body.extend(message.get("body", b""))
            return message

        self._weights.begins(
            path, dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        )
        try:
            await self._app(scope, read, heard)
        finally:
            self._weights.ended(path, ok=status == [200], body=_parsed(bytes(body)))


def is_public(path: str) -> bool:
    """Whether everybody may ask for it."""
    if path in CONTROL:
        return False
    return path in PUBLIC or any(path.startswith(f"{prefix}/") for prefix in SERVING)


def route_of(scope: Scope) -> str:
    """The path that is routed by: without --root-path, as Starlette takes it away."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    if not root or not path.startswith(root):
        return path
    rest = path[len(root) :]
    return rest if not rest or rest.startswith("/") else path


def _refusal(scope: Scope) -> tuple[int, str] | None:
    """None: whoever asks has the token."""
    name = os.environ.get(TOKEN_FILE, "")
    if not name:
        return 403, f"{TOKEN_FILE} names no file: nobody may control this engine"
    try:
        if bearer.brings(_authorization(scope), Path(name)):
            return None
    except bearer.NoToken as none:
        log.error("nobody can control this engine: %s", none)
        return 403, "the guard has no token: nobody may control this engine"
    return 401, "give the engine's token: Authorization: Bearer"


def _authorization(scope: Scope) -> str:
    """Of two headers none counts."""
    found = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    return found[0].decode("latin-1") if len(found) == 1 else ""


async def _refuse(scope: Scope, send: Send, status: int, why: str) -> None:
    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    body = json.dumps({"error": why}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _sees_every_call(scope: Scope) -> bool:
    """Of several frontend processes each sees a part of the calls, and can name nothing."""
    config = getattr(getattr(scope.get("app"), "state", None), "vllm_config", None)
    parallel = getattr(config, "parallel_config", None)
    return getattr(parallel, "_api_process_count", None) == 1


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
