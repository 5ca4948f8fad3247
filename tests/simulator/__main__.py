"""One simulated engine as a process. Says on stdout where it listens once it serves."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

import grpc
from aiohttp import web
from grpc_health.v1 import health_pb2, health_pb2_grpc

from simulator import collective, middleware
from simulator.calls import Calls
from simulator.collective import Collective
from simulator.control import Control
from simulator.core import Core
from simulator.dynamo import Offers, Sidecar
from simulator.faults import Faults
from simulator.health import Health
from simulator.inference import Inference
from simulator.model import Model
from simulator.plugin import Plugin
from simulator.python_frontend import PythonFrontend
from simulator.settings import PYTHON, REJECTS_WHILE_PAUSED_SINCE, Settings, parse
from simulator.speculation import Speculation, load_draft

CLOSE_S = 1.0  # for answers that are already on their way
NOWHERE = "127.0.0.1:0"


async def run(settings: Settings) -> None:
    await asyncio.sleep(settings.load_seconds)
    model = await asyncio.to_thread(Model.load, settings.model)
    draft = await asyncio.to_thread(load_draft, settings)
    plugin = _backend(settings, model, draft)
    if plugin is not None:
        plugin.announce()
    core = Core(
        model,
        token_seconds=settings.token_seconds,
        max_running=settings.max_running,
        rejects_while_paused=settings.version >= REJECTS_WHILE_PAUSED_SINCE,
        speculation=Speculation(model, draft, settings.draft_tokens) if draft else None,
    )
    faults = Faults(settings.faults)
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    calls = Calls(settings, core, plugin, ending)
    control = Control(calls, faults)
    python = settings.frontend == PYTHON
    more = PythonFrontend(control).routes() if settings.development else ()
    guards = middleware.loaded(settings.middleware if python else ())
    async with (
        _background(core, plugin),
        _http(settings.http, Inference(calls, faults, more).app(guards)) as http,
        nullcontext(NOWHERE) if python else _grpc(settings, control) as grpc_address,
        _sidecar(settings, control) as sidecar,
    ):
        ready = {"http": http, "grpc": grpc_address, "sidecar": sidecar}
        ready["instance"] = settings.instance
        print(json.dumps(ready), flush=True)
        await ending.wait()
        await core.close(settings.drain_seconds)


def _backend(settings: Settings, model: Model, draft: Model | None) -> Plugin | Collective | None:
    if settings.backend == collective.BACKEND:
        return Collective(model)
    return Plugin(settings, model, draft) if settings.has_plugin else None


@asynccontextmanager
async def _background(core: Core, plugin: Plugin | Collective | None) -> AsyncIterator[None]:
    """The core's loop. When it breaks, everything ends with its exception."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(core.run())]
        if plugin is not None:
            tasks.append(group.create_task(plugin.obey_exit_requests()))
        yield
        for task in tasks:
            task.cancel()


@asynccontextmanager
async def _http(address: str, app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=CLOSE_S
    )
    await runner.setup()
    host, port = _split(address)
    await web.TCPSite(runner, host, port).start()
    try:
        yield f"{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _sidecar(settings: Settings, control: Control) -> AbstractAsyncContextManager[str]:
    if not settings.sidecar:
        return nullcontext("")
    return _http(settings.sidecar, Sidecar(control, Offers.of(settings)).app())


@asynccontextmanager
async def _grpc(settings: Settings, control: Control) -> AsyncIterator[str]:
    # -1: the engine's limit has another status code than the library's; see `refusals`.
    # No port sharing: a second engine on this address must fail, not take half of the calls.
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 0)]
    )
    server.add_generic_rpc_handlers((control.handler(),))
    liveness = Health(control.faults)
    health_pb2_grpc.add_HealthServicer_to_server(liveness, server)
    for service in ("", settings.control_service, "vllm.Inference"):
        await liveness.set(service, health_pb2.HealthCheckResponse.SERVING)
    port = server.add_insecure_port(settings.grpc)
    await server.start()
    try:
        yield f"{_split(settings.grpc)[0]}:{port}"
    finally:
        await server.stop(CLOSE_S)


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    asyncio.run(run(parse(sys.argv[1:])))
