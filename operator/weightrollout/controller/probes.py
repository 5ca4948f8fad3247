"""/healthz, /readyz and /metrics of the operator, on a port of their own."""

import asyncio
from collections.abc import Callable
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from weightrollout.metrics import LOOP_LAG, Metrics

BEAT_S: Final = 1.0
LATE_S: Final = 10.0  # one unlucky list may block the loop for a second, never for so long


class Probes:
    """`ready` answers None when all is well, else what is wrong. Alive is whose event loop turns."""

    def __init__(self, metrics: Metrics, ready: Callable[[], str | None]) -> None:
        self._metrics = metrics
        self._ready = ready
        self._beat_at = asyncio.get_running_loop().time()
        self._runner: web.AppRunner | None = None

    async def start(self, host: str, port: int) -> int:
        """The port it listens on: the one asked for, or a free one for 0."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metricsz)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port, shutdown_timeout=1.0).start()
        bound: int = self._runner.addresses[0][1]
        return bound

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def beat(self) -> None:
        """Never returns; cancel it. A loop that is stuck stops it, and /healthz says so."""
        loop = asyncio.get_running_loop()
        while True:
            asked = loop.time()
            await asyncio.sleep(BEAT_S)
            self._beat_at = loop.time()
            self._metrics.gauge(LOOP_LAG).set(self._beat_at - asked - BEAT_S)

    async def _healthz(self, request: web.Request) -> web.Response:
        silent_s = asyncio.get_running_loop().time() - self._beat_at
        stuck = f"the event loop was stuck for {silent_s:.0f} s"
        return _answer(stuck if silent_s > LATE_S else None)

    async def _readyz(self, request: web.Request) -> web.Response:
        return _answer(self._ready())

    async def _metricsz(self, request: web.Request) -> web.Response:
        body = generate_latest(self._metrics.registry)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE_LATEST})


def _answer(problem: str | None) -> web.Response:
    return web.Response(text=f"{problem or 'ok'}\n", status=503 if problem else 200)
