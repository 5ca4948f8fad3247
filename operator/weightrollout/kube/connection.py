"""The way to one API server, with credentials that are replaced while we run.

Tokens expire and authorities are rotated: a kubeconfig is rewritten, a pod's ServiceAccount files change.
A 401, or a certificate that does not verify, therefore reads them again, at most every few seconds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import aiohttp
from kubernetes.aio.client.api_client import ApiClient
from kubernetes.aio.client.configuration import Configuration

RELOAD_S: Final = 5.0  # a credential that stays refused is not read in a loop

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Where they come from. `load` raises whatever it finds wrong."""

    origin: str  # for people
    load: Callable[[], Awaitable[Configuration]]
    user_agent: str


@dataclass(slots=True)
class Connection:
    """Use `open_connection`. `api` is the one to call with now."""

    api: ApiClient
    credentials: Credentials
    _retired: ApiClient | None = None  # its watches may run on
    _reload_at: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Told after every renewal."""
        self._listeners.append(listener)

    async def renew(self, refused: ApiClient, why: str) -> bool:
        """Whether `api` is another one than the `refused` one now."""
        async with self._lock:
            if self.api is not refused:
                return True
            now = asyncio.get_running_loop().time()
            if now < self._reload_at:
                return False
            self._reload_at = now + RELOAD_S
            origin = self.credentials.origin
            try:
                fresh = await _client(self.credentials)
            except Exception as wrong:  # half written, or anything else that a file can be
                log.warning("%s; %s cannot be used: %s", why, origin, wrong)
                return False
            log.warning("%s; credentials were read again from %s", why, origin)
            retired, self._retired, self.api = self._retired, self.api, fresh
        if retired is not None:
            await retired.close()  # type: ignore[no-untyped-call]
        for listener in self._listeners:
            listener()
        return True

    async def session(self, traces: list[aiohttp.TraceConfig]) -> aiohttp.ClientSession:
        """Another HTTP session with the same access, for a library that brings its own client."""
        settings = self.api.configuration
        auth: dict[str, Any] = dict((await settings.auth_settings()).get("BearerToken") or {})
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self.api.rest_client.ssl_context),
            headers={"Authorization": auth["value"]} if auth.get("value") else {},
            trace_configs=traces,
        )

    async def close(self) -> None:
        for api in (self._retired, self.api):
            if api is not None:
                await api.close()  # type: ignore[no-untyped-call]


async def open_connection(credentials: Credentials) -> Connection:
    return Connection(await _client(credentials), credentials)


async def _client(credentials: Credentials) -> ApiClient:
    api = ApiClient(await credentials.load())
    api.user_agent = credentials.user_agent
    return api
