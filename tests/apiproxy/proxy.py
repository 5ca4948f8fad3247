"""The proxy: an address for a kubeconfig, a fault that can be switched on, and a record of every request."""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp import web

from apiproxy.faults import Call, Fault
from localcluster.kubeconfig import Access, read_kubeconfig, write_kubeconfig

FORWARDED: Final = ("Authorization", "Accept", "Content-Type")
LINE_BYTES: Final = 8 * 1024 * 1024


class ApiProxy:
    """Use `api_proxy`."""

    def __init__(self, upstream: Access, session: aiohttp.ClientSession) -> None:
        self.calls: list[Call] = []
        self.answers: list[tuple[Call, int]] = []  # and the server's status
        self.url = ""
        self.ca_pem: bytes | None = None
        self._fault = Fault()
        self._upstream = upstream
        self._session = session
        self._streams: dict[asyncio.Task[None], str] = {}  # and their paths

    @contextmanager
    def fault(self, fault: Fault) -> Iterator[Fault]:
        """Switch it on, also for the watches that are open."""
        self._fault = fault
        self.cut()
        try:
            yield fault
        finally:
            self._fault = Fault()

    def cut(self) -> None:
        """End all watches, without a word."""
        for stream in self._streams:
            stream.cancel()

    def watched(self, kind: str) -> bool:
        """Whether a watch of these is open now."""
        return any(path.endswith(f"/{kind}") for path in self._streams.values())

    def since(self, at: float) -> list[Call]:
        return [call for call in self.calls if call.at >= at]

    def kubeconfig(self, original: Path, name: str) -> Path:
        """The same access, through the proxy."""
        access = replace(read_kubeconfig(original), server=self.url, ca_pem=self.ca_pem)
        return write_kubeconfig(original.with_name(name), access)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        verb = "WATCH" if "watch" in request.query else request.method
        call = Call(verb, request.path, asyncio.get_running_loop().time())
        self.calls.append(call)
        fault = self._fault if self._fault.where(call) else Fault()
        fault.hits += 1
        answer = await fault.answer(call)
        if answer is not None:
            return answer
        try:
            async with self._session.request(
                request.method,
                self._upstream.server + request.raw_path,
                data=await request.read() or None,
                headers={key: value for key, value in request.headers.items() if key in FORWARDED},
            ) as said:
                self.answers.append((call, said.status))
                if verb == "WATCH" and said.status == 200:
                    return await self._watch(request, said, fault)
                return web.Response(
                    status=said.status,
                    body=fault.body(await said.read()),
                    headers={"Content-Type": said.headers.get("Content-Type", "text/plain")},
                )
        except aiohttp.ClientError as lost:
            return web.Response(status=502, text=f"Bad Gateway: {lost!r}")

    async def _watch(
        self, request: web.Request, said: aiohttp.ClientResponse, fault: Fault
    ) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/json"})
        await answer.prepare(request)
        passing = asyncio.create_task(_pass(answer, fault.lines(_lines(said))))
        self._streams[passing] = request.path
        try:
            await asyncio.wait({passing})
            cut = passing.cancelled() or passing.exception() is not None
        finally:
            passing.cancel()
            del self._streams[passing]
        if cut and request.transport is not None:
            request.transport.abort()
        return answer


async def _pass(answer: web.StreamResponse, lines: AsyncIterator[bytes]) -> None:
    async for line in lines:
        await answer.write(line + b"\n")


async def _lines(said: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    while line := await said.content.readline():
        yield line.rstrip(b"\n")


def watch_counts(calls: list[Call]) -> Counter[str]:
    """How many watches were opened, by path."""
    return Counter(call.path for call in calls if call.verb == "WATCH")


@asynccontextmanager
async def api_proxy(
    upstream: Access, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[ApiProxy]:
    """On 127.0.0.1; plain HTTP unless `tls` is given. Callers bring their own credentials."""
    nobody = replace(upstream, certificate_pem=None, key_pem=None)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=5)
    connector = aiohttp.TCPConnector(ssl=nobody.tls(), limit=0)
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, read_bufsize=LINE_BYTES
    ) as session:
        proxy = ApiProxy(upstream, session)
        app = web.Application(client_max_size=LINE_BYTES)
        app.router.add_route("*", "/{path:.*}", proxy.handle)
        runner = web.AppRunner(
            app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
        scheme = "https" if tls else "http"
        proxy.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield proxy
        finally:
            proxy.cut()
            with suppress(TimeoutError):
                await asyncio.wait_for(runner.cleanup(), 5)
