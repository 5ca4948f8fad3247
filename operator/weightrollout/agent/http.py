"""The port that the kubelet and Prometheus read: /readyz, /livez, /startupz, /prestop, /healthz, /metrics."""

import logging
import math
from dataclasses import asdict
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from weightrollout import __version__
from weightrollout.agent.departure import GRACE_S, MAX_GRACE_S
from weightrollout.agent.liveness import Life, not_live
from weightrollout.agent.orders import guard_word
from weightrollout.agent.readiness import NotReady, not_ready
from weightrollout.agent.service import Desk
from weightrollout.agent.state import facts, guard, loaded
from weightrollout.metrics import AGENT_INFO, AGENT_READY, AGENT_TRAINER_GUARD, ENGINE_INFO

log = logging.getLogger(__name__)

#: The probe's period: an older answer of the engine does not count.
PROBE_S: Final = 1.0


class HttpDoor:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/startupz", self._startupz)
        app.router.add_get("/prestop", self._prestop)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/metrics", self._serve_metrics)
        return app

    async def _readyz(self, _: web.Request) -> web.Response:
        # A container that was restarted just now must not be Ready by its old process's word.
        await self._desk.watch.ask()
        why = self._why_not()
        if why is None:
            return web.json_response({"ready": True})
        body: dict[str, object] = {"ready": False, "reason": why.reason, "message": why.message}
        if self._desk.board.alone is not None:
            body["alone"] = asdict(self._desk.board.alone)
        return web.json_response(body, status=503)

    def _why_not(self) -> NotReady | None:
        sight, now = self._desk.watch.sight, self._desk.clock.monotonic()
        heard = sight.answered_within(PROBE_S, now) and not self._desk.pulse.dead
        return not_ready(facts(self._desk.journal.book, self._desk.board, sight, answering=heard))

    async def _livez(self, _: web.Request) -> web.Response:
        """The engine's life, from what is known already."""
        desk, sight = self._desk, self._desk.watch.sight
        heard_at = max(desk.pulse.answered_at, sight.answered_at or 0.0)
        why = not_live(
            Life(
                swapping=self._desk.journal.book.running is not None,
                asked_to_end_s=desk.restarter.asked_s(sight.instance),
                dead=desk.pulse.dead,
                silent_s=self._desk.clock.monotonic() - heard_at,
            )
        )
        if why is None:
            return web.json_response({"live": True})
        body = {"live": False, "reason": why.reason, "message": why.message}
        return web.json_response(body, status=503)

    async def _startupz(self, _: web.Request) -> web.Response:
        """Whether the engine that is there now has come up: it answers who it is."""
        await self._desk.watch.ask()
        started = self._desk.watch.sight.answered_within(PROBE_S, self._desk.clock.monotonic())
        return web.json_response({"started": started}, status=200 if started else 503)

    async def _prestop(self, request: web.Request) -> web.Response:
        """Answered when the engine may be ended. `seconds`: how long that may take."""
        try:
            grace_s = float(request.query.get("seconds", GRACE_S))
        except ValueError:
            grace_s = math.nan
        if not 0 <= grace_s <= MAX_GRACE_S:
            message = f"seconds must be from 0 to {MAX_GRACE_S:g}"
            return web.json_response({"message": message}, status=400)
        log.info("%s says that the engine is about to be ended", request.remote)
        left = await self._desk.departure.leave(grace_s)
        return web.json_response({"left": left})

    async def _healthz(self, _: web.Request) -> web.Response:
        """The agent itself: its loop runs, or nobody would answer."""
        return web.json_response({"ok": True})

    async def _serve_metrics(self, _: web.Request) -> web.Response:
        book, sight = self._desk.journal.book, self._desk.watch.sight
        self._desk.metrics.gauge(AGENT_READY).set(0 if self._why_not() else 1)
        info = self._desk.metrics.gauge(ENGINE_INFO)
        info.clear()
        content = loaded(book, sight)
        if content is not None:
            info.labels(content.version, content.digest, sight.instance).set(1)
        mine = self._desk.metrics.gauge(AGENT_INFO)
        mine.clear()
        mine.labels(__version__, sight.plugin_version, sight.engine_version).set(1)
        asked = self._desk.metrics.gauge(AGENT_TRAINER_GUARD)
        asked.clear()
        if self._desk.board.trainer is not None:
            asked.labels(guard_word(guard(book, self._desk.board))).set(1)
        text = generate_latest(self._desk.metrics.registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})
