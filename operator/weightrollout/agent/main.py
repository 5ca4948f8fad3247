"""Start the agent: parts, doors, an orderly end."""

import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import grpc.aio
from aiohttp import web

from weightrollout import __version__
from weightrollout.agent import adapters, install_plugin, stable
from weightrollout.agent.alone_driver import Alone, why_out
from weightrollout.agent.callers import Callers, https_of
from weightrollout.agent.departure import Departure
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.exposure import Exposure
from weightrollout.agent.http import HttpDoor
from weightrollout.agent.liveness import Pulse
from weightrollout.agent.presence import Presence
from weightrollout.agent.restart import Restarter
from weightrollout.agent.rl import lifecycle as rl
from weightrollout.agent.rl.door import RlDoor
from weightrollout.agent.rl.images import Images
from weightrollout.agent.rl.shown import Shown
from weightrollout.agent.service import AgentService, Desk
from weightrollout.agent.settings import BadFlag, Settings, check, parse, split
from weightrollout.agent.stage import Stager, sharing
from weightrollout.agent.state import Bell, Board
from weightrollout.agent.swaps import Parts, Swaps
from weightrollout.api.names import INSTALL_PLUGIN
from weightrollout.clock import SystemClock
from weightrollout.engine.protocol import Driven
from weightrollout.engine.server_tls import FilesUnusable
from weightrollout.engine.vllm_http import VllmHttp
from weightrollout.metrics import Door, Metrics
from weightrollout.swap.journal import Journal
from weightrollout.weights.staging import Store
from weightrollout.wire.agent.agent_pb2_grpc import add_AgentServicer_to_server

#: After SIGTERM a running swap may end; then the journal has it. Well below the kubelet's 30 s.
STOP_S: Final = 10.0
#: An operator that was frozen, or whose machine is gone, keeps its streams open; it does not answer
#: these pings. Measured: a server heeds the ping's own timeout (60 s) where it is the longer one.
KEEPALIVE: Final = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
)
#: And calls of trainers, whose connections may be half a request.
TRAINERS_S: Final = 2.0
#: How often the mounted ConfigMap is looked at; the kubelet itself takes up to a minute.
STABLE_S: Final = 2.0
#: How often a journal that could not be written is tried again.
JOURNAL_S: Final = 1.0

log = logging.getLogger(__name__)


async def serve(settings: Settings, stopping: asyncio.Event) -> None:
    """Until `stopping` is set. Raises FilesUnusable."""
    callers = Callers(settings.callers, SystemClock())
    async with AsyncExitStack() as stack:
        engine = adapters.engine_of(settings)
        stack.push_async_callback(engine.close)
        desk = _build(settings, engine, stack)
        await desk.watch.ask()
        exposure = _exposure(settings, desk)
        await exposure.ask()
        await desk.stager.know(desk.watch.sight)
        background = {
            asyncio.create_task(desk.watch.run(), name="engine watch"),
            asyncio.create_task(_watch_stable(settings.stable, desk), name="stable watch"),
            asyncio.create_task(_follow_engine(desk), name="images"),
            asyncio.create_task(desk.pulse.run(), name="pulse"),
            asyncio.create_task(exposure.run(), name="exposure"),
            asyncio.create_task(_keep_journal(desk.journal), name="journal"),
            asyncio.create_task(callers.run(), name="callers"),
            asyncio.create_task(Alone(desk, settings.alone_after_seconds).run(), name="alone"),
        }
        await desk.swaps.recover()
        server = await _open_doors(settings, desk, callers, stack)
        await _open_to_trainers(settings, desk, engine, stack)
        log.info("agent %s serves %s and %s", __version__, settings.grpc_bind, settings.http_bind)
        ended = await _until(stopping, background)
        await desk.departure.over()
        await desk.swaps.stop(STOP_S)
        await server.stop(grace=0.5)
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)
        for task in ended:
            task.result()  # only a bug ends one: die loudly, the kubelet starts another agent


async def _until(
    stopping: asyncio.Event, background: set[asyncio.Task[None]]
) -> set[asyncio.Task[None]]:
    """Wait for the signal, or for a background task that ends; returns those that did."""
    stop = asyncio.create_task(stopping.wait())
    await asyncio.wait({stop, *background}, return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    return {task for task in background if task.done()}


def _build(settings: Settings, engine: Driven, stack: AsyncExitStack) -> Desk:
    clock, metrics = SystemClock(), Metrics(Door.AGENT)
    board = Board(Bell(), stable=stable.read(settings.stable), driven_flag=settings.rl.drives)
    journal = Journal.open(settings.staging)
    shared = sharing(settings.node_volume, settings.node_volume_keep_free, metrics)
    root = settings.sigstore_trusted_root
    store = Store(settings.staging, trusted_root=root, sharing=shared)
    tls = settings.engine.tls
    inference = VllmHttp(settings.engine_http, tls, settings.engine.api_key)
    stack.push_async_callback(inference.close)
    watch = EngineWatch(
        engine,
        settings.handover,
        clock,
        in_transaction=lambda: journal.book.running is not None,
        changed=board.bell.ring,
    )
    stager = Stager(store, board, clock, metrics)
    parts = Parts(
        *(journal, board, watch, store, engine, inference),
        *(settings.handover, clock, metrics, settings.patience),
    )
    restarter = Restarter(journal, board, watch, engine, settings.handover, clock)
    stack.push_async_callback(stager.stop)
    stack.push_async_callback(restarter.stop)
    swaps = Swaps(parts)
    departure = Departure(journal, board, watch, swaps, inference, clock)
    return Desk(
        *(journal, board, watch, stager, swaps, restarter, Presence(journal, clock)),
        *(Pulse(engine, clock), departure, clock, metrics),
    )


def _exposure(settings: Settings, desk: Desk) -> Exposure:
    return Exposure(adapters.door_of(settings), desk.board, desk.watch, desk.clock)


async def _open_doors(
    settings: Settings, desk: Desk, callers: Callers, stack: AsyncExitStack
) -> grpc.aio.Server:
    # Two agents must not share a port: the second one has to fail.
    options = (("grpc.so_reuseport", 0), *KEEPALIVE)
    server = grpc.aio.server(interceptors=(callers,), options=options)
    add_AgentServicer_to_server(AgentService(desk), server)
    callers.listen(server, settings.grpc_bind)
    await server.start()
    door = HttpDoor(desk)
    runner = web.AppRunner(door.app(), access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    host, port = split("--http-bind", settings.http_bind)
    await web.TCPSite(runner, host, port).start()
    return server


async def _open_to_trainers(
    settings: Settings, desk: Desk, engine: Driven, stack: AsyncExitStack
) -> None:
    """Also where the routes are shut: a call that was under way when they were open has ended somehow."""
    access = settings.rl
    desk.board.guard_flag = access.guard
    images = Images(desk.journal, desk.board, desk.watch, desk.stager, desk.swaps)
    parts = (desk.journal, desk.board, desk.watch, engine, images, access.drain_s)
    calls = rl.RlLifecycle(rl.Parts(*parts))
    if access.token is None:
        return
    app = RlDoor(calls, desk.watch, access.token).app()
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=TRAINERS_S)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    stack.push_async_callback(calls.stop)  # before the port, which waits for its answers
    host, port = split("--trainer-bind", access.bind)
    await web.TCPSite(runner, host, port, ssl_context=https_of(settings.callers)).start()
    shown = Shown(engine, desk.board, desk.watch, port, tls=settings.callers.authenticates)
    showing = asyncio.create_task(shown.run(), name="trainers' door")
    stack.callback(showing.cancel)
    log.info("RL routes for trainers on %s, guard %s by its flag", access.bind, access.guard)


async def _watch_stable(folder: Path | None, desk: Desk) -> None:
    """A pod that serves is judged by what was stable when it came into service: no edit of a
    ConfigMap takes it out."""
    board = desk.board
    while True:
        await asyncio.sleep(STABLE_S)
        now = await asyncio.to_thread(stable.read, folder)
        if now != board.stable and why_out(desk) is not None:
            board.stable = now
            board.bell.ring()


async def _keep_journal(journal: Journal) -> None:
    """What a full disk did not take is written when there is space again."""
    while True:
        await asyncio.sleep(JOURNAL_S)
        journal.catch_up()


async def _follow_engine(desk: Desk) -> None:
    """Another engine may have another layout, which other images fit."""
    known = desk.watch.sight.layouts
    while True:
        rung = desk.board.bell.next()
        sight = desk.watch.sight
        if sight.layouts != known:
            known = sight.layouts
            await desk.stager.know(sight)
        await rung.wait()


async def _run(settings: Settings) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    await serve(settings, stopping)


def main(argv: Sequence[str] | None = None) -> int:
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == [INSTALL_PLUGIN]:
        return install_plugin.main(given[1:])
    settings = parse(given)
    try:
        check(settings)
    except BadFlag as error:
        sys.stderr.write(f"weightrollout-agent: {error}\n")
        return 2
    try:
        asyncio.run(_run(settings))
    except FilesUnusable as error:
        sys.stderr.write(f"weightrollout-agent: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
