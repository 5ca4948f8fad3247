"""kopf as a part that may fail: it runs in a loop of its own, is started again, and its watches are paced.

kopf ends for good on what an API server does on a bad day (an error in the stream, a line that was cut,
credentials that stay refused), and opens watches that close at once in a tight loop. It only wakes us,
and the sweep of the WeightRollouts does the same more slowly, so none of this is worth the process.
When it ends it cancels every task that its event loop has got since it began: hence the thread.
"""

import asyncio
import logging
import threading
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import kopf

from weightrollout.controller import handlers
from weightrollout.kube.client import Client
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import SHORT_S

BACKOFF_S: Final = (0.25, 15.0)  # first, and longest
STOP_S: Final = 10.0
STEADY_S: Final = 60.0  # one that ran for so long starts with the first pause again
IDENTITY: Final[Any] = "weightrollout"  # of a type that kopf keeps to itself

log = logging.getLogger(__name__)


class Wakeups:
    """Run `run` as a task; cancel it to stop. `restart` makes kopf log in and list anew."""

    def __init__(self, client: Client, rollouts: Rollouts) -> None:
        self._client = client
        self._rollouts = rollouts
        self._end = threading.Event()  # of the kopf that runs now
        client.connection.subscribe(self.restart)

    def restart(self) -> None:
        self._end.set()

    async def run(self) -> None:
        """Never returns."""
        loop, pause_s, pacer = asyncio.get_running_loop(), BACKOFF_S[0], Pacer()
        while True:
            begun, self._end = loop.time(), threading.Event()
            ended = self._start(self._end, pacer)
            try:
                why = await asyncio.shield(ended)
            except asyncio.CancelledError:
                self._end.set()
                await asyncio.wait({ended}, timeout=STOP_S)
                raise
            log.warning("the watch of the WeightRollouts starts anew: %s", why)
            if loop.time() - begun > STEADY_S:
                pause_s = BACKOFF_S[0]
            await asyncio.sleep(pause_s)  # waits for no fact: it spares a server that is away
            pause_s = min(pause_s * 2, BACKOFF_S[1])

    def _start(self, end: threading.Event, pacer: "Pacer") -> asyncio.Future[str]:
        """Why it ended."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[str] = loop.create_future()

        def deliver(event: kopf.RawEvent) -> None:
            loop.call_soon_threadsafe(handlers.take, self._rollouts, event)

        async def until_it_ends() -> None:
            registry = handlers.registry(deliver, self._client.connection, pacer.traces())
            try:
                await kopf.operator(
                    registry=registry,
                    settings=handlers.settings(),
                    namespaces=[self._client.namespace] if self._client.namespace else (),
                    clusterwide=not self._client.namespace,
                    standalone=True,
                    # Else kopf asks for the name of the user, and a container's need not have one. Nobody reads it.
                    identity=IDENTITY,
                    stop_flag=end,
                )
            finally:
                end.set()  # a thread of kopf waits for it, and the loop cannot close before that

        def work() -> None:
            try:
                asyncio.run(until_it_ends())
                why = "it was asked to"
            except Exception as error:
                why = repr(error)
            with suppress(RuntimeError):  # our process has ended
                loop.call_soon_threadsafe(_say, ended, why)

        threading.Thread(target=work, name="kopf", daemon=True).start()
        return ended


def _say(ended: asyncio.Future[str], why: str) -> None:
    if not ended.done():
        ended.set_result(why)


class Pacer:
    """Lets watches that end at once be opened more and more slowly."""

    def __init__(self) -> None:
        self._opened_at = float("-inf")
        self._pause_s = 0.0

    def traces(self) -> list[aiohttp.TraceConfig]:
        trace = aiohttp.TraceConfig()
        trace.on_request_start.append(self._before)
        return [trace]

    async def _before(
        self,
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        request: aiohttp.TraceRequestStartParams,
    ) -> None:
        if "watch" not in request.url.query:
            return
        loop = asyncio.get_running_loop()
        if loop.time() - self._opened_at > SHORT_S:
            self._pause_s = 0.0
        else:
            self._pause_s = min(max(self._pause_s * 2, BACKOFF_S[0]), BACKOFF_S[1])
        await asyncio.sleep(self._pause_s)
        self._opened_at = loop.time()
