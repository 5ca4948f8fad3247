"""The engine's HTTP side: completions, health, models, metrics; and the simulator's own routes."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from simulator import tokens
from simulator.calls import Calls
from simulator.core import Closing, Finish, GenerationPaused, Output, Request
from simulator.death import CRASHED, die
from simulator.faults import Do, Faults

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid completion request."""

    prompt: str
    max_tokens: int
    stream: bool
    logprobs: int | None = None  # likeliest tokens to tell for each one


class Invalid(Exception):
    """A request that vLLM refuses: HTTP status and text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


@dataclass(frozen=True, slots=True)
class Inference:
    calls: Calls
    faults: Faults
    more: Sequence[web.RouteDef] = ()  # of the frontend

    def app(self, middlewares: Sequence[Middleware] = ()) -> web.Application:
        app = web.Application(middlewares=middlewares)
        app.add_routes(
            [
                web.get("/health", self.health),
                web.get("/v1/models", self.models),
                web.get("/metrics", self.metrics),
                web.post("/v1/completions", self.completions),
                web.get("/simulator/state", self.state),
                web.post("/simulator/faults", self.set_faults),
                *self.more,
            ]
        )
        return app

    @property
    def model_name(self) -> str:
        return str(self.calls.settings.model)

    async def health(self, _: web.Request) -> web.Response:
        """Alive is all it says: a half-loaded or paused engine is as healthy."""
        return web.Response()

    async def models(self, _: web.Request) -> web.Response:
        model = {"id": self.model_name, "object": "model", "owned_by": "vllm"}
        return web.json_response({"object": "list", "data": [model]})

    async def metrics(self, _: web.Request) -> web.Response:
        core = self.calls.core
        try:
            if await self._meet_fault("metrics"):
                return web.Response(text="")
        except Invalid as invalid:
            return failure(invalid.status, invalid.text)
        labels = f'{{engine="0",model_name="{self.model_name}"}}'
        lines = [
            f"# TYPE vllm:{name} gauge\nvllm:{name}{labels} {value:.1f}\n"
            for name, value in (
                ("num_requests_running", core.told.running),
                ("num_requests_waiting", core.told.waiting),
            )
        ]
        if core.speculation is not None:
            lines += [
                f"# TYPE vllm:{name} counter\nvllm:{name}{labels} {value:.1f}\n"
                for name, value in (
                    ("spec_decode_num_drafts_total", core.speculation.rounds),
                    ("spec_decode_num_draft_tokens_total", self._draft_tokens()),
                    ("spec_decode_num_accepted_tokens_total", core.speculation.accepted),
                )
            ]
        return web.Response(text="".join(lines))

    def _draft_tokens(self) -> int:
        speculation = self.calls.core.speculation
        return speculation.rounds * speculation.tokens if speculation is not None else 0

    async def completions(self, http: web.Request) -> web.StreamResponse:
        try:
            if await self._meet_fault("completions"):
                return web.json_response(self._body("", Finish.LENGTH))
            asked = self._asked(await http.read())
            request = self.calls.core.submit(asked.prompt, asked.max_tokens)
        except Invalid as invalid:
            return failure(invalid.status, invalid.text)
        except GenerationPaused as paused:
            return failure(503, paused.text)
        except Closing:
            return failure(503, "The engine is shutting down.")
        try:
            if asked.stream:
                return await self._stream(http, request)
            return await self._whole(request, asked.logprobs)
        finally:
            self.calls.core.cancel(request)  # the client may have gone away

    async def _whole(self, request: Request, logprobs: int | None) -> web.Response:
        told = [output async for output in _outputs(request)]
        body = self._body("".join(output.text for output in told), told[-1].finish)
        body["usage"] = {"completion_tokens": request.produced}
        if logprobs is not None:
            taken = [output.weights for output in told if output.text]
            body["choices"][0]["logprobs"] = tokens.logprobs(taken, request.prompt, logprobs)
        return web.json_response(body)

    async def _stream(self, http: web.Request, request: Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(http)
        async for output in _outputs(request):
            if output.text:
                await response.write(self._event({"text": output.text}))
            if output.finish:  # an event of its own, without text; all others lack the field
                end = {"text": "", "finish_reason": output.finish.value}
                await response.write(self._event(end))
        await response.write(b"data: [DONE]\n\n")
        return response

    def _event(self, choice: dict[str, Any]) -> bytes:
        body = {**self._body("", None), "choices": [{"index": 0, **choice}]}
        return f"data: {json.dumps(body)}\n\n".encode()

    def _body(self, text: str, finish: Finish | None) -> dict[str, Any]:
        reason = finish.value if finish else None
        return {
            "id": f"cmpl-{uuid.uuid4().hex}",
            "object": "text_completion",
            "created": int(time.time()),
            "model": self.model_name,
            "choices": [{"index": 0, "text": text, "logprobs": None, "finish_reason": reason}],
        }

    def _asked(self, data: bytes) -> Asked:
        try:
            body = json.loads(data)
        except ValueError as error:
            raise Invalid(400, f"not JSON: {error}") from error
        if not isinstance(body, dict) or not isinstance(body.get("prompt"), str):
            raise Invalid(400, "the body must be an object with a prompt that is a string")
        if body.get("model", self.model_name) != self.model_name:
            raise Invalid(404, f"The model `{body['model']}` does not exist.")
        max_tokens = body.get("max_tokens", 16)
        if not isinstance(max_tokens, int) or max_tokens < 1:
            raise Invalid(400, f"max_tokens must be at least 1, got {max_tokens}.")
        return Asked(body["prompt"], max_tokens, bool(body.get("stream", False)), _logprobs(body))

    async def _meet_fault(self, call: str) -> bool:
        """Whether to answer well and with nothing. Raises Invalid."""
        fault = self.faults.take(call)
        match fault and fault.do:
            case None:
                return False
            case Do.OK_NOTHING:
                return True
            case Do.DIE:
                die(CRASHED, f"fault: died at {call}")
            case Do.HANG:
                await asyncio.Event().wait()
            case Do.SLOW if fault:
                await asyncio.sleep(fault.seconds)
                return False
            case Do.REFUSE if fault:
                raise Invalid(int(fault.code or 503), "fault: refused")
            case _ if fault:
                raise Invalid(int(fault.code or 500), f"fault: {fault.do}")
        return False

    async def state(self, _: web.Request) -> web.Response:
        """What tests want to know and no real engine tells. Answers also in mid-update."""
        core = self.calls.core
        return web.json_response(
            {
                "instance": self.calls.settings.instance,
                "fingerprint": await asyncio.to_thread(core.model.fingerprint),
                "paused": core.paused.name if core.paused else None,
                "asleep": sorted(core.asleep),
                "version": core.version,
                "halfLoaded": core.model.half_loaded,
                "running": len(core.running),
                "waiting": len(core.waiting),
                "calls": dict(self.faults.calls),
                "late": self.faults.pending,
                "unguardedUpdates": self.calls.unguarded_updates,
                "draftFingerprint": await self._draft_fingerprint(),
                "draftUpdates": self.calls.plugin.draft_updates if self.calls.plugin else 0,
                "session": self.calls.plugin.session if self.calls.plugin else "",
            }
        )

    async def _draft_fingerprint(self) -> int | None:
        speculation = self.calls.core.speculation
        if speculation is None:
            return None
        return await asyncio.to_thread(speculation.draft.fingerprint)

    async def set_faults(self, http: web.Request) -> web.Response:
        try:
            self.faults.load(await http.json())
        except (ValueError, TypeError) as error:
            return failure(400, str(error))
        return web.json_response({})


async def _outputs(request: Request) -> AsyncIterator[Output]:
    """Tokens as they come; the end rides on the last of them."""
    while True:
        output = await request.output.get()
        yield output
        if output.finish is not None:
            return


def _logprobs(body: dict[str, Any]) -> int | None:
    """None: not asked for. Tokens are told by their ids alone, which is all that we ask for."""
    asked = body.get("logprobs")
    if asked is None:
        return None
    if not isinstance(asked, int) or not 0 <= asked <= tokens.MAX_LOGPROBS:
        raise Invalid(400, f"Requested sample logprobs of {asked}, which is not allowed.")
    if body.get("return_tokens_as_token_ids") is not True or body.get("stream"):
        raise Invalid(400, "the simulator tells logprobs whole, and by token ids only")
    return asked


def failure(status: int, text: str) -> web.Response:
    kind = {400: "BadRequestError", 404: "NotFoundError", 503: "ServiceUnavailableError"}
    error = {"message": text, "type": kind.get(status, "InternalServerError"), "code": status}
    return web.json_response({"error": error}, status=status)
