"""The operator's tokens: one for each pod, good for that pod alone, renewed long before its end."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

import grpc

from weightrollout.api.callers import TOKEN_S, Callee, audience
from weightrollout.clock import Clock
from weightrollout.kube.client import Client
from weightrollout.kube.errors import KubeError
from weightrollout.kube.tokens import request_token

#: From then on a token is renewed beside the calls that go on using it.
RENEW_S: Final = TOKEN_S / 2
#: From then on it is not used any more.
LAST_S: Final = TOKEN_S - 60.0
#: One that was refused is replaced, if it is older than this: a new one would be refused, too.
YOUNG_S: Final = 10.0
#: TokenRequests under way; the API server signs each.
IN_FLIGHT: Final = 8

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Held:
    text: str
    since: float  # when it was asked for; monotonic, so that no clock of ours has to be right


class Tokens:
    """Of one account, for pods of any namespace. Nothing is asked for before somebody is called."""

    def __init__(self, client: Client, account: str, clock: Clock) -> None:
        """`client`: of the account's own namespace."""
        self._client = client.beside()
        self._account = account
        self._clock = clock
        self._held: dict[Callee, _Held] = {}
        self._asking: dict[Callee, asyncio.Task[str]] = {}
        self._slots = asyncio.Semaphore(IN_FLIGHT)
        self._why = ""  # the last one was not given

    async def token(self, callee: Callee) -> str:
        """Raises KubeError."""
        held = self._held.get(callee)
        age_s = self.age_s(callee)
        if held is not None and age_s < LAST_S:
            if age_s >= RENEW_S:
                self._renewal(callee)
            return held.text
        return await asyncio.shield(self._renewal(callee))

    def age_s(self, callee: Callee) -> float:
        """Infinite where there is none."""
        held = self._held.get(callee)
        return float("inf") if held is None else self._clock.monotonic() - held.since

    def refused(self, callee: Callee) -> None:
        """By the agent: the next call brings another one."""
        if self.age_s(callee) >= YOUNG_S:
            self._held.pop(callee, None)

    def forget(self, callee: Callee) -> None:
        self._held.pop(callee, None)
        if (asking := self._asking.pop(callee, None)) is not None:
            asking.cancel()

    async def close(self) -> None:
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _renewal(self, callee: Callee) -> asyncio.Task[str]:
        """The one that is under way, or a new one."""
        task = self._asking.get(callee)
        if task is None:
            task = asyncio.create_task(self._renew(callee), name=f"token for {callee.pod_uid}")
            self._asking[callee] = task
            task.add_done_callback(lambda done: self._ended(callee, done))
        return task

    async def _renew(self, callee: Callee) -> str:
        async with self._slots:
            since = self._clock.monotonic()
            wanted = audience(*callee)
            text = await request_token(self._client, self._account, wanted, TOKEN_S)
        self._held[callee] = _Held(text, since)
        return text

    def _ended(self, callee: Callee, task: asyncio.Task[str]) -> None:
        if self._asking.get(callee) is task:
            del self._asking[callee]
        error = None if task.cancelled() else task.exception()
        why = "" if error is None else str(error)
        if why and why != self._why:
            log.warning("no token for the agent of pod %s: %s", callee.pod_uid, why)
        self._why = why


class Bearer(grpc.AuthMetadataPlugin):
    """Puts the pod's token on every call of a channel. gRPC does so over TLS only."""

    def __init__(self, tokens: Tokens, callee: Callee) -> None:
        self._ask: Callable[[], Coroutine[Any, Any, str]] = lambda: tokens.token(callee)
        self._loop = asyncio.get_running_loop()

    def __call__(
        self, context: grpc.AuthMetadataContext, callback: grpc.AuthMetadataPluginCallback
    ) -> None:
        """In a thread of gRPC's."""
        asking = self._ask()
        try:
            asked = asyncio.run_coroutine_threadsafe(asking, self._loop)
        except RuntimeError as closed:  # the process ends
            asking.close()
            callback((), closed)
            return
        asked.add_done_callback(lambda done: _answer(callback, done))


def _answer(callback: grpc.AuthMetadataPluginCallback, done: "Future[str]") -> None:
    try:
        callback((("authorization", f"Bearer {done.result()}"),), None)
    except KubeError as error:
        callback((), error)
    except Exception as error:  # gRPC would wait for ever
        callback((), error)
