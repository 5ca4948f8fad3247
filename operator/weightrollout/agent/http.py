"""The port that the kubelet and Prometheus read: /readyz, /healthz, /metrics."""

from dataclasses import asdict
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from weightrollout import __version__
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.readiness import NotReady, not_ready
from weightrollout.agent.state import Board, facts, loaded
from weightrollout.clock import Clock
from weightrollout.metrics import AGENT_INFO, AGENT_READY, ENGINE_INFO, Metrics
from weightrollout.swap.journal import Journal

#: The probe's period: an older answer of the engine does not count.
PROBE_S: Final = 1.0


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
        # A container that was restarted just now must not be Ready by its old process's word.
        await self._watch.ask()
        why = self._why_not()
        if why is None:
            return web.json_response({"ready": True})
        body: dict[str, object] = {"ready": False, "reason": why.reason, "message": why.message}
        if self._board.alone is not None:
            body["alone"] = asdict(self._board.alone)
        return web.json_response(body, status=503)

    def _why_not(self) -> NotReady | None:
        sight, now = self._watch.sight, self._clock.monotonic()
        heard = sight.answered_within(PROBE_S, now)
        return not_ready(facts(self._journal.book, self._board, sight, answering=heard))

    async def _healthz(self, _: web.Request) -> web.Response:
        """The agent itself: its loop runs, or nobody would answer."""
        return web.json_response({"ok": True})

    async def _serve_metrics(self, _: web.Request) -> web.Response:
        book, sight = self._journal.book, self._watch.sight
        self._metrics.gauge(AGENT_READY).set(0 if self._why_not() else 1)
        info = self._metrics.gauge(ENGINE_INFO)
        info.clear()
        content = loaded(book, sight)
        if content is not None:
            info.labels(content.version, content.digest, sight.instance).set(1)
        mine = self._metrics.gauge(AGENT_INFO)
        mine.clear()
        mine.labels(__version__, sight.plugin_version, sight.engine_version).set(1)
        text = generate_latest(self._metrics.registry)
        return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE_LATEST})
