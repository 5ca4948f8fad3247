"""The port where trainers find a fleet's workers. Reads only; asked by a bearer token.

GET /v1/rl/workers                          of the operator's own namespace
GET /NAMESPACE/v1/rl/workers                of a namespace
GET /NAMESPACE/NAME/v1/rl/workers           of one WeightRollout
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from weightrollout import bearer
from weightrollout.controller.rl_workers import Worker, listing
from weightrollout.engine.server_tls import RotatingContext, ServerFiles

PATH: Final = "/v1/rl/workers"

#: Of a namespace, and of one fleet there or of all. None: this replica does not lead, and knows no agent.
Lister = Callable[[str, str | None], list[Worker] | None]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    host: str
    port: int
    token: Path
    files: ServerFiles | None = None  # None: without TLS, which main allows on loopback alone
    with_backend: bool = False  # a key more than Dynamo's


def routes(handler: Handler) -> list[web.RouteDef]:
    """The three of them; namespace and name are in the request where they were said."""
    prefixes = ("", "/{namespace}", "/{namespace}/{name}")
    return [web.get(f"{prefix}{PATH}", handler) for prefix in prefixes]


class DiscoveryDoor:
    def __init__(self, options: DiscoveryOptions, namespace: str, workers: Lister) -> None:
        """`namespace`: the operator's own. Raises FilesUnusable."""
        self._options = options
        self._namespace = namespace
        self._workers = workers
        files = options.files
        self._context = RotatingContext(files, "TLS of the discovery").context() if files else None
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """The port it listens on."""
        app = web.Application()
        app.add_routes(routes(self._list))
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        where = (self._options.host, self._options.port)
        await web.TCPSite(
            self._runner, *where, ssl_context=self._context, shutdown_timeout=1.0
        ).start()
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _list(self, request: web.Request) -> web.Response:
        """Other failures than those of the listing would end a client: its own are 4xx, ours are 503."""
        why = self._why_not(request.headers.get("Authorization", ""))
        if why:
            log.warning("a listing for %s was refused: %s", request.remote, why)
            return _error(401, "unauthorized", why)
        namespace = request.match_info.get("namespace", self._namespace)
        found = self._workers(namespace, request.match_info.get("name"))
        if found is None:
            message = "this replica of the operator does not lead: ask again"
            refused = _error(503, "discovery_failed", message)
            refused.force_close()  # behind a Service the next connection may meet the leader
            return refused
        with_backend = self._options.with_backend
        return web.json_response(listing(namespace, found, with_backend=with_backend))

    def _why_not(self, said: str) -> str:
        try:
            if bearer.brings(said, self._options.token):
                return ""
        except bearer.NoToken as none:
            return str(none)
        return "give the token of the discovery: Authorization: Bearer"


def _error(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"error": code, "message": message}, status=status)
