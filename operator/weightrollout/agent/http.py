"""The port that the kubelet and Prometheus read: /readyz, /healthz, /metrics."""

from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.readiness import not_ready
from weightrollout.agent.state import PROBE_S, Board, facts, loaded
from weightrollout.clock import Clock
from weightrollout.metrics import AGENT_READY, ENGINE_INFO, Metrics
from weightrollout.swap.journal import Journal

#: Answers older than this are asked again for the probe: younger than its period of 1 s.
FRESH_S: Final = PROBE_S * 0.9


class HttpDoor:
    def __init__(
        self, journal: Journal, board: Board, watch: EngineWatch, clock: Clock, metrics: Metrics
    ) -> None:
        self._journal = journal
        self._board = board
        self._watch = watch
        self._clock = clock
        self._metrics = metrics

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/metrics", self._serve_metrics)
        return app

    async def _readyz(self, _: web.Request) -> web.Response:
        sight = await self._watch.fresh(FRESH_S)
        why = not_ready(facts(self._journal.book, self._board, sight, self._clock.monotonic()))
        if why is None:
            return web.json_response({"ready": True})
        body = {"ready": False, "reason": why.reason, "message": why.message}
        return web.json_response(body, status=503)

    async def _healthz(self, _: web.Request) -> web.Response:
        """The agent itself: its loop runs, or nobody would answer."""
        return web.json_response({"ok": True})

    async def _serve_metrics(self, _: web.Request) -> web.Response:
        book, sight = self._journal.book, self._watch.sight
        why = not_ready(facts(book, self._board, sight, self._clock.monotonic()))
        self._metrics.gauge(AGENT_READY).set(0 if why else 1)
        info = self._metrics.gauge(ENGINE_INFO)
        info.clear()
        content = loaded(book, sight)
        if content is not None:
            info.labels(content.version, content.digest, sight.instance).set(1)
        text = generate_latest(self._metrics.registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})
