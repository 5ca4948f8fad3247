"""The RL routes of vLLM's development mode, as the Python frontend of 0.32 has them (entrypoints/rl/online, serve/dev).

It checks less than vllm.Control: neither what the engine was started with nor a blank label, and there is no mutex. What
the core fails at is a 500 with its text. There is no gRPC, and no call that ends the engine.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import grpc
from aiohttp import web
from google.protobuf.message import Message

from simulator.control import Control
from simulator.inference import Invalid, failure
from simulator.plugin import WorkerError
from simulator.refusals import Refusal
from weightrollout.wire.vllm import control_pb2 as pb

MODES: Final = {
    "abort": pb.PAUSE_MODE_ABORT,
    "wait": pb.PAUSE_MODE_WAIT,
    "keep": pb.PAUSE_MODE_KEEP,
}
_TRUTHS: Final = {"true": True, "1": True, "false": False, "0": False}

Answer = Callable[[Any], dict[str, Any]]
Ask = Callable[[web.Request], Awaitable[Message]]


@dataclass(frozen=True, slots=True)
class PythonFrontend:
    control: Control

    def routes(self) -> list[web.RouteDef]:
        return [
            self._post("/pause", "PauseGeneration", _pause, {"status": "paused"}),
            self._post("/resume", "ResumeGeneration", _nothing, {"status": "resumed"}),
            self._get("/is_paused", "IsPaused", lambda reply: {"is_paused": reply.paused}),
            self._post("/sleep", "Sleep", _sleep, {"status": "sleeping"}),
            web.post("/wake_up", self.wake_up),
            self._get("/is_sleeping", "IsSleeping", lambda reply: {"is_sleeping": reply.sleeping}),
            self._post(
                *("/init_weight_transfer_engine", "InitWeightTransferEngine", _init),
                {"message": "Weight transfer initialized"},
            ),
            self._post(
                *("/start_weight_update", "StartWeightUpdate", _nothing),
                {"message": "Weight update started"},
            ),
            self._post(
                *("/start_draft_weight_update", "StartDraftWeightUpdate", _nothing),
                {"message": "Draft weight update started"},
            ),
            self._post("/update_weights", "UpdateWeights", _update, {"message": "Weights updated"}),
            self._post(
                *("/finish_weight_update", "FinishWeightUpdate", _finish),
                {"message": "Weight update finished"},
            ),
            self._post("/update_weight_version", "UpdateWeightVersion", _label, {"success": True}),
            self._get(
                "/weight_info", "GetWeightVersion", lambda it: {"weight_version": it.weight_version}
            ),
            web.get("/get_world_size", self.world_size),
            web.get("/server_info", self.server_info),
            web.get("/version", self.version),
            web.post("/reset_prefix_cache", self.reset_prefix_cache),
            web.post("/collective_rpc", self.collective_rpc),
        ]

    def _post(self, path: str, name: str, ask: Ask, said: dict[str, Any]) -> web.RouteDef:
        async def answer(http: web.Request) -> web.Response:
            return await self._call(name, ask, http, lambda _: said)

        return web.post(path, answer)

    def _get(self, path: str, name: str, say: Answer) -> web.RouteDef:
        async def answer(http: web.Request) -> web.Response:
            return await self._call(name, _nothing, http, say)

        return web.get(path, answer)

    async def _call(self, name: str, ask: Ask, http: web.Request, say: Answer) -> web.Response:
        try:
            request = await ask(http)
            return web.json_response(say(await self.control.unchecked(name, request)))
        except Invalid as invalid:
            return failure(invalid.status, invalid.text)
        except WorkerError as failed:
            return failure(500, f"Call to collective_rpc method failed: {failed}")
        except Refusal as fault:
            refused = fault.code is grpc.StatusCode.INVALID_ARGUMENT
            return failure(400 if refused else 500, fault.text)

    async def wake_up(self, http: web.Request) -> web.Response:
        tags = http.query.getall("tags", [])
        core = self.control.calls.core

        async def ask(_: web.Request) -> Message:
            return pb.WakeUpRequest(tags=tags)

        def say(_: Any) -> dict[str, Any]:
            return {"status": "sleeping" if core.asleep else "awake", "tags": tags or None}

        return await self._call("WakeUp", ask, http, say)

    async def world_size(self, _: web.Request) -> web.Response:
        return web.json_response({"world_size": self.control.calls.settings.ranks})

    async def version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": self.control.calls.settings.engine_version})

    async def server_info(self, http: web.Request) -> web.Response:
        """What is read of it; a real one says more. It does not wait for the core."""
        if http.query.get("config_format", "text") != "json":
            return failure(400, "the simulator has its configuration as JSON only")
        settings = self.control.calls.settings
        transfer = {"backend": settings.backend} if settings.backend else None
        name = str(settings.model)
        config = {
            "instance_id": settings.instance,
            "model_config": {
                "model": name,
                "served_model_name": [name],
                "enable_sleep_mode": settings.enable_sleep_mode,
            },
            "parallel_config": {"world_size": settings.ranks, "data_parallel_size_local": 1},
            "weight_transfer_config": transfer,
        }
        return web.json_response({"vllm_config": config, "vllm_env": {}, "system_env": {}})

    async def reset_prefix_cache(self, http: web.Request) -> web.Response:
        """What runs holds its blocks, unless it is preempted, now or by the pause that froze it."""
        core = self.control.calls.core
        running = _truth(http, "reset_running_requests", default=False)

        async def reset() -> bool:
            if core.holds_cache and not running:
                return False
            core.clear_cache()
            return True

        return web.json_response({"success": await core.utility(reset)})

    async def collective_rpc(self, http: web.Request) -> web.Response:
        """Anything at all, as in the engine; here it only checks the form."""
        try:
            body = json.loads(await http.read())
        except ValueError as wrong:
            return failure(400, f"JSON decode error: {wrong}")
        if not isinstance(body, dict) or body.get("method") is None:
            return failure(400, "Missing 'method' in request body")
        return web.json_response({"results": []})


async def _nothing(_: web.Request) -> Message:
    return pb.ResumeGenerationRequest()


async def _pause(http: web.Request) -> Message:
    clear = _truth(http, "clear_cache", default=True)
    return pb.PauseGenerationRequest(mode=_mode(http), clear_cache=clear)


async def _sleep(http: web.Request) -> Message:
    level = http.query.get("level", "1")
    if level not in ("0", "1", "2"):
        raise Invalid(400, f"level: Input should be less than or equal to 2: {level}")
    return pb.SleepRequest(level=int(level), mode=_mode(http))


async def _init(http: web.Request) -> Message:
    info = await _field(http, "init_info", dict)
    return pb.InitWeightTransferEngineRequest(init_info_json=json.dumps(info).encode())


async def _update(http: web.Request) -> Message:
    """A list has an object for each rank."""
    info = await _field(http, "update_info", dict, list)
    return pb.UpdateWeightsRequest(update_info_json=json.dumps(info).encode())


async def _finish(http: web.Request) -> Message:
    if not await http.read():
        return pb.FinishWeightUpdateRequest()
    return pb.FinishWeightUpdateRequest(
        weight_version=await _field(http, "weight_version", str, type(None))
    )


async def _label(http: web.Request) -> Message:
    return pb.UpdateWeightVersionRequest(weight_version=await _field(http, "new_version", str))


def _mode(http: web.Request) -> "pb.PauseMode.ValueType":
    mode = http.query.get("mode", "abort")
    if mode not in MODES:
        raise Invalid(400, f"mode: Input should be 'abort', 'wait' or 'keep': {mode}")
    return MODES[mode]


def _truth(http: web.Request, name: str, *, default: bool) -> bool:
    said = http.query.get(name)
    if said is None:
        return default
    if said not in _TRUTHS:
        raise Invalid(400, f"{name}: Input should be a valid boolean")
    return _TRUTHS[said]


async def _field(http: web.Request, name: str, *kinds: type) -> Any:
    try:
        body = json.loads(await http.read())
    except ValueError as wrong:
        raise Invalid(400, f"JSON decode error: {wrong}") from wrong
    if not isinstance(body, dict) or not isinstance(body.get(name), kinds):
        raise Invalid(400, f"{name}: Input should be a valid {kinds[0].__name__}")
    return body[name]
