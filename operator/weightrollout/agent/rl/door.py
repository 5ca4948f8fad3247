"""The trainers' port. Order of checks: who asks, route, capability, JSON, fields, guard; then the engine.

Errors are one object with a real 4xx or 5xx: `{"status": "error", "error": CODE, "message": TEXT}`. A state
that may pass is never 404, and what a guard says is never 5xx, because clients repeat those.
"""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from weightrollout import bearer
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.rl.failed import Failed
from weightrollout.agent.rl.lifecycle import RlLifecycle
from weightrollout.agent.rl.routes import ROUTES, Call, Route, able, methods
from weightrollout.agent.rl.wishes import Invalid, body_of, from_query, naming, wish_of
from weightrollout.handover.records import BACKEND

#: As the engine itself takes: handles of big models are many.
MAX_BODY: Final = 32 * 1024 * 1024
#: vLLM's own names take these in the query.
QUERIES: Final = (Call.PAUSE, Call.SLEEP, Call.WAKE_UP, Call.RESET_CACHE)

_HTTP: Final = {404: "not_found", 405: "method_not_allowed"}

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class RlDoor:
    def __init__(self, lifecycle: RlLifecycle, watch: EngineWatch, token: Path) -> None:
        self._lifecycle = lifecycle
        self._watch = watch
        self._token = token

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY, middlewares=[self._as_object])
        for route in ROUTES:
            if route.name:
                app.router.add_route(
                    "*", f"/engine/{route.name}", self._handler(route, by_query=False)
                )
            handler = self._handler(route, by_query=route.call in QUERIES)
            for method in methods(route):
                app.router.add_route(method, route.alias, handler)
        app.router.add_get("/health", self._health)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        """The agent itself."""
        return web.json_response({"status": "ok"})

    def _handler(self, route: Route, *, by_query: bool) -> Handler:
        async def answer(request: web.Request) -> web.Response:
            if not able(self._watch.sight.capabilities, route.needs):
                raise self._unable(route)
            raw = await request.read()
            body: Any = body_of(raw)
            if by_query and request.query and body == {}:
                body = from_query(request.query, request.query.getall("tags", []))
            wish = wish_of(route.call, body)
            if self._watch.sight.backend == BACKEND:
                wish = naming(wish)
            if route.reads:
                return web.json_response(await self._lifecycle.read(route.call))
            log.info("%s from %s", route.call, request.remote)
            return web.json_response(await self._lifecycle.change(wish))

        return answer

    def _unable(self, route: Route) -> Failed:
        if not self._watch.sight.instance:
            return Failed(503, "starting", "the engine has not answered yet")
        return Failed(
            404, "not_offered", f"{route.call} needs an engine with {route.needs}: it reports none"
        )

    @web.middleware
    async def _as_object(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Whatever goes wrong is told in one form. /health alone is for everybody."""
        try:
            if request.path != "/health":
                self._let_in(request)
            return await handler(request)
        except Failed as failed:
            return _error(failed.status, failed.code, failed.message)
        except Invalid as wrong:
            return _error(400, "invalid", str(wrong))
        except web.HTTPRequestEntityTooLarge:
            return _error(413, "too_large", f"a body has at most {MAX_BODY} bytes")
        except web.HTTPException as other:
            return _error(other.status, _HTTP.get(other.status, "http"), other.reason)
        except (
            Exception
        ) as error:  # the door: a bug is told to the client, and the log has it whole
            log.exception("%s %s", request.method, request.path)
            return _error(500, "internal", repr(error))

    def _let_in(self, request: web.Request) -> None:
        """Raises Failed."""
        try:
            if bearer.brings(request.headers.get("Authorization", ""), self._token):
                return
        except bearer.NoToken as none:
            raise Failed(503, "no_token", str(none)) from none
        log.warning("a call of %s from %s was refused", request.path, request.remote)
        raise Failed(401, "unauthorized", "give the trainer's token: Authorization: Bearer")


def _error(status: int, code: str, message: str) -> web.Response:
    body = {"status": "error", "error": code, "message": message}
    return web.json_response(body, status=status)
