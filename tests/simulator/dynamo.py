"""NVIDIA Dynamo's sidecar in front of the engine: its system server, with the order and the errors of its own code.

Row by row as ai-dynamo 1.6.1 answers, which tests/dynamos compares it with: any method, 200 with an error in the body for
bad control bodies, 500 for bad update bodies and for whatever the engine says no to, and a worker that leaves Dynamo's
routing before a pause and comes back only by a resume or a full wake-up.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self

import grpc
from aiohttp import web
from google.protobuf.message import Message

from simulator.refusals import Refusal
from simulator.settings import RL_CALLS_SINCE, Settings
from weightrollout.wire.vllm import control_pb2 as pb

MODES: Final = {
    "abort": pb.PAUSE_MODE_ABORT,
    "wait": pb.PAUSE_MODE_WAIT,
    "keep": pb.PAUSE_MODE_KEEP,
}
TAGS: Final = ("weights", "kv_cache", "scheduling")
LEAVING: Final = ("control/pause_generation", "control/sleep")
JOINING: Final = ("control/resume_generation", "control/wake_up")
#: What the text of a failed call begins with, by the engine's code; of any other code: INTERNAL.
KINDS: Final = {
    **dict.fromkeys(
        (
            grpc.StatusCode.INVALID_ARGUMENT,
            grpc.StatusCode.NOT_FOUND,
            grpc.StatusCode.ALREADY_EXISTS,
            grpc.StatusCode.FAILED_PRECONDITION,
            grpc.StatusCode.OUT_OF_RANGE,
        ),
        "InvalidRequest",
    ),
    grpc.StatusCode.CANCELLED: "Cancelled",
    grpc.StatusCode.DEADLINE_EXCEEDED: "DeadlineExceeded",
    grpc.StatusCode.UNAVAILABLE: "Unavailable",
}
INTERNAL: Final = "Internal"
BODY_BYTES: Final = 2 << 20

Body = dict[str, Any]
Handler = Callable[[Body], Awaitable[Body]]


class Wrong(Exception):
    """A field that is not as it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(f"InvalidRequest: {text}")


class EngineFailed(Exception):
    """A call of vllm.Control did."""


class Served(Protocol):
    """vllm.Control, in this process or in another one."""

    async def served(self, name: str, data: bytes) -> Message:
        """Raises Refusal."""


@dataclass(frozen=True, slots=True)
class Offers:
    """What the engine reports that it can do."""

    rl: bool
    sleep: bool
    transfer: bool
    draft: bool

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            rl=settings.version >= RL_CALLS_SINCE,
            sleep=settings.enable_sleep_mode,
            transfer=bool(settings.backend),
            draft=settings.has_draft,
        )


@dataclass
class Sidecar:
    control: Served
    offers: Offers
    registered: bool = True  # in Dynamo's routing
    left: int = 0  # how often it went out of it
    _mutation: asyncio.Lock = field(default_factory=asyncio.Lock)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=BODY_BYTES)
        app.router.add_route("*", "/engine/{route:.*}", self.answer)
        app.router.add_get("/simulator/registered", self.tell)
        return app

    async def tell(self, _: web.Request) -> web.Response:
        return web.json_response({"registered": self.registered, "left": self.left})

    async def answer(self, http: web.Request) -> web.Response:
        route = http.match_info["route"]
        try:
            raw = await http.read()
        except web.HTTPRequestEntityTooLarge:
            return web.Response(
                status=413, text="Failed to buffer the request body: length limit exceeded"
            )
        try:
            body = json.loads(raw) if raw else {}
        except ValueError as wrong:
            return _text(400, {"error": "Invalid JSON", "message": str(wrong)})
        handler = self._routes().get(route)
        if handler is None:
            said = f"Route /engine/{route} not found"
            return _text(404, {"error": "Route not found", "message": said})
        part = route.partition("/")[0]
        if not isinstance(body, dict):
            return _text(
                200,
                {"status": "error", "message": f"engine {part} request body must be a JSON object"},
            )
        try:
            if route in (*LEAVING, *JOINING):
                return _text(200, await self._moving(route, handler, body))
            return _text(200, await handler(body))
        except Wrong as wrong:
            if part == "control":
                return _text(200, {"status": "error", "message": str(wrong)})
            return _handler_error(str(wrong))
        except EngineFailed as failed:
            return _handler_error(str(failed))

    async def _moving(self, route: str, handler: Handler, body: Body) -> Body:
        """Fields, mutex, routing, engine. What fails leaves it out of routing."""
        _check(route, body)
        async with self._mutation:
            if route in LEAVING:
                self.left += self.registered
                self.registered = False
            said = await handler(body)
            if route in JOINING and not said.get("is_sleeping"):
                self.registered = True
            return said

    def _routes(self) -> dict[str, Handler]:
        """By what the engine reports."""
        found: dict[str, Handler] = {}
        if self.offers.rl:
            found |= {
                "control/pause_generation": self._pause,
                "control/resume_generation": self._resume,
                "control/is_paused": self._is_paused,
                "control/is_sleeping": self._is_sleeping,
                "control/get_weight_version": self._version,
                "update/update_weight_version": self._label,
            }
        if self.offers.sleep:
            found |= {"control/sleep": self._sleep, "control/wake_up": self._wake_up}
        if self.offers.transfer:
            found |= {
                "update/init_weight_transfer_engine": self._init,
                "update/start_weight_update": self._start,
                "update/update_weights": self._update,
                "update/finish_weight_update": self._finish,
            }
            if self.offers.draft:
                found["update/start_draft_weight_update"] = self._start_draft
        return found

    async def _call(self, name: str, request: Message) -> Any:
        try:
            return await self.control.served(name, request.SerializeToString())
        except Refusal as refusal:
            kind = KINDS.get(refusal.code, INTERNAL)
            said = f"{kind}: {name}: {refusal.text} ({_code(refusal.code)})"
            raise EngineFailed(said) from refusal

    async def _pause(self, body: Body) -> Body:
        mode = _mode(body, "pause_generation")
        request = pb.PauseGenerationRequest(mode=mode, clear_cache=body.get("clear_cache"))
        await self._call("PauseGeneration", request)
        return {"status": "paused"}

    async def _resume(self, _: Body) -> Body:
        await self._call("ResumeGeneration", pb.ResumeGenerationRequest())
        if not self.offers.sleep:
            return {"status": "resumed"}
        asleep = (await self._is_sleeping({}))["is_sleeping"]
        return {"status": "resumed", **({"is_sleeping": True} if asleep else {})}

    async def _is_paused(self, _: Body) -> Body:
        return {"is_paused": (await self._call("IsPaused", pb.IsPausedRequest())).paused}

    async def _is_sleeping(self, _: Body) -> Body:
        return {"is_sleeping": (await self._call("IsSleeping", pb.IsSleepingRequest())).sleeping}

    async def _version(self, _: Body) -> Body:
        reply = await self._call("GetWeightVersion", pb.GetWeightVersionRequest())
        return {"weight_version": reply.weight_version}

    async def _sleep(self, body: Body) -> Body:
        await self._call(
            "Sleep", pb.SleepRequest(mode=_mode(body, "sleep"), level=body.get("level"))
        )
        return {"status": "sleeping"}

    async def _wake_up(self, body: Body) -> Body:
        await self._call("WakeUp", pb.WakeUpRequest(tags=body.get("tags") or ()))
        if (await self._is_sleeping({}))["is_sleeping"]:
            return {"status": "partially_awake", "is_sleeping": True}
        return {"status": "awake"}

    async def _init(self, body: Body) -> Body:
        info = _object(body, "init_info")
        request = pb.InitWeightTransferEngineRequest(init_info_json=info)
        await self._call("InitWeightTransferEngine", request)
        return {"message": "Weight transfer initialized"}

    async def _start(self, _: Body) -> Body:
        await self._call("StartWeightUpdate", pb.StartWeightUpdateRequest())
        return {"message": "Weight update started"}

    async def _start_draft(self, _: Body) -> Body:
        await self._call("StartDraftWeightUpdate", pb.StartDraftWeightUpdateRequest())
        return {"message": "Draft weight update started"}

    async def _update(self, body: Body) -> Body:
        info = _object(body, "update_info")
        await self._call("UpdateWeights", pb.UpdateWeightsRequest(update_info_json=info))
        return {"message": "Weights updated"}

    async def _finish(self, body: Body) -> Body:
        request = pb.FinishWeightUpdateRequest(weight_version=_text_of(body, "weight_version"))
        await self._call("FinishWeightUpdate", request)
        return {"message": "Weight update finished"}

    async def _label(self, body: Body) -> Body:
        version = _text_of(body, "new_version")
        if not version:
            raise Wrong("missing non-empty `new_version` string")
        request = pb.UpdateWeightVersionRequest(weight_version=version)
        await self._call("UpdateWeightVersion", request)
        return {"success": True, "new_version": version}


def _check(route: str, body: Body) -> None:
    """Before the worker leaves its routing."""
    match route:
        case "control/pause_generation":
            _mode(body, "pause_generation")
            if not isinstance(body.get("clear_cache"), bool | None):
                raise Wrong("`clear_cache` must be a boolean")
        case "control/sleep":
            _check_level(body.get("level"))
            _mode(body, "sleep")
        case "control/wake_up":
            _check_tags(body.get("tags"))


def _check_level(level: object) -> None:
    if level is None:
        return
    if not isinstance(level, int) or isinstance(level, bool) or not 0 <= level < 1 << 32:
        raise Wrong("`level` must be a uint32")
    if level > 2:
        raise Wrong("`level` must be one of 0, 1, or 2")


def _check_tags(tags: object) -> None:
    if tags is None:
        return
    if not isinstance(tags, list):
        raise Wrong("`tags` must be an array of strings")
    if not all(isinstance(tag, str) for tag in tags):
        raise Wrong("`tags` must contain only strings")
    for tag in tags:
        if tag not in TAGS:
            raise Wrong(f"wake_up tag must be weights, kv_cache, or scheduling; got `{tag}`")


def _mode(body: Body, call: str) -> "pb.PauseMode.ValueType":
    mode = _text_of(body, "mode")
    if mode is None:
        return pb.PAUSE_MODE_ABORT
    if mode not in MODES:
        raise Wrong(f"{call} mode must be abort, wait, or keep; got `{mode}`")
    return MODES[mode]


def _text_of(body: Body, name: str) -> str | None:
    found = body.get(name)
    if not isinstance(found, str | None):
        raise Wrong(f"`{name}` must be a string")
    return found


def _object(body: Body, name: str) -> bytes:
    if not isinstance(body.get(name), dict):
        raise Wrong(f"missing `{name}` JSON object")
    return json.dumps(body[name]).encode()


def _code(code: grpc.StatusCode) -> str:
    return "".join(word.capitalize() for word in code.name.split("_"))


def _handler_error(message: str) -> web.Response:
    return _text(500, {"error": "Handler error", "message": message})


def _text(status: int, body: Body) -> web.Response:
    """JSON that does not say that it is."""
    return web.Response(text=json.dumps(body), status=status)
