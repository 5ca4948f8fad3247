"""An HTTP port on loopback whose routes answer a neighbour by a status that the test says."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

HOST = "127.0.0.1"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def http_port(answer: Answer) -> AsyncIterator[int]:
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, HOST, 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def saying(status: int, *, but: dict[str, int] | None = None) -> Answer:
    """`but`: the status of single paths."""

    async def answer(request: web.Request) -> web.Response:
        assert "Authorization" not in request.headers, "it asks as a neighbour"
        return web.Response(status=(but or {}).get(request.path, status))

    return answer
