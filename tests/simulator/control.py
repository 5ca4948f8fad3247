"""vllm.Control as released engines serve it: status codes, texts, one mutex, scripted faults."""

import asyncio
import contextlib
import itertools
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.message import Message

from simulator.calls import Calls
from simulator.core import Pause
from simulator.death import CRASHED, die
from simulator.faults import Do, Fault, Faults
from simulator.plugin import WorkerError
from simulator.refusals import TRANSFER, Refusal, check, check_size
from simulator.settings import RL_CALLS_SINCE, SHUTDOWN_SINCE
from weightrollout.handover.records import DRAFT
from weightrollout.wire.vllm import control_pb2 as pb

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"

BASIC: Final = frozenset({"GetServerInfo", "GetModelInfo"})
READING: Final = frozenset({"IsPaused", "IsSleeping", "GetWeightVersion"})
#: These share one mutex without a timeout; a client that goes away frees it, while the engine
#: goes on executing what it was asked.
MUTATING: Final = TRANSFER | {
    *("PauseGeneration", "ResumeGeneration", "Sleep", "WakeUp", "UpdateWeightVersion")
}
#: The frontend's name of a call, and that of the core's method behind it, where they differ.
_UTILITIES: Final = {
    "pause_generation": "pause_generation",
    "resume_generation": "resume_scheduler",
    "is_paused": "is_scheduler_paused",
    **{call: call for call in ("sleep", "wake_up", "is_sleeping", "get_weight_version")},
    "update_weight_version": "set_weight_version",
}


async def _empty(_: bytes, __: Context) -> bytes:
    return b""


#: Of Dynamo's sidecar, which does not start without: an engine that publishes no events of its cache.
NOBODY_ELSE_ASKS: Final = {"GetKvEventSources": _empty}
_call_ids: Final = itertools.count(1)
_HUMP: Final = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(slots=True)
class Control:
    calls: Calls
    faults: Faults
    _mutex: asyncio.Lock = field(default_factory=asyncio.Lock)
    _late: set[asyncio.Task[None]] = field(default_factory=set)

    def handler(self) -> "grpc.GenericRpcHandler[bytes, bytes]":
        """Under the configured service name; what this version lacks is UNIMPLEMENTED."""
        settings = self.calls.settings
        served = set(BASIC)
        if settings.version >= RL_CALLS_SINCE:
            served |= READING | MUTATING
        if settings.version >= SHUTDOWN_SINCE:
            served.add("Shutdown")
        behaviours = {name: self._behaviour(name) for name in served} | NOBODY_ELSE_ASKS
        return grpc.method_handlers_generic_handler(
            settings.control_service,
            {name: grpc.unary_unary_rpc_method_handler(each) for name, each in behaviours.items()},
        )

    def _behaviour(self, name: str) -> Callable[[bytes, Context], Awaitable[bytes]]:
        async def behave(data: bytes, context: Context) -> bytes:
            try:
                # The server counts the client's deadline too, and either may be the first.
                async with asyncio.timeout(context.time_remaining()):
                    return (await self.served(name, data)).SerializeToString()
            except TimeoutError:
                await context.abort(grpc.StatusCode.CANCELLED, "Timeout expired")
            except Refusal as refusal:
                await context.abort(refusal.code, refusal.text)

        return behave

    async def _serve(self, name: str, data: bytes) -> Message:
        check_size(data)
        request = getattr(pb, f"{name}Request").FromString(data)
        plugin = self.calls.plugin
        in_draft = plugin is not None and plugin.session == DRAFT
        fault = self.faults.take(name, in_draft=in_draft)
        check(name, request, self.calls.settings)
        if name not in MUTATING:
            return await self._run(name, request, fault)
        async with self._mutex:
            return await self._run(name, request, fault)

    async def served(self, name: str, data: bytes) -> Message:
        """As over gRPC. Raises Refusal."""
        try:
            return await self._serve(name, data)
        except WorkerError as error:
            text = _failed(_snake(name), "collective_rpc", str(error))
            raise Refusal(grpc.StatusCode.INTERNAL, text) from error

    async def unchecked(self, name: str, request: Any) -> Message:
        """As a frontend that checks nothing and has no mutex."""
        plugin = self.calls.plugin
        in_draft = plugin is not None and plugin.session == DRAFT
        return await self._run(name, request, self.faults.take(name, in_draft=in_draft))

    async def _run(self, name: str, request: Any, fault: Fault | None) -> Message:
        execute: Callable[..., Awaitable[Message]] = getattr(self.calls, _snake(name))
        if fault is None:
            return await execute(request)
        match fault.do:
            case Do.REFUSE:
                raise _failure(fault, grpc.StatusCode.FAILED_PRECONDITION)
            case Do.HANG:
                await asyncio.Event().wait()
            case Do.DIE:
                die(CRASHED, f"fault: died at {name}")
            case Do.LATE:
                self._later(execute(request))
                await asyncio.Event().wait()
            case Do.SLOW:
                await self._occupy(name, fault.seconds)
            case Do.LABEL_FAILS:
                request.ClearField("weight_version")
        if name == "UpdateWeights":
            answer = await execute(request, fault.do)
        elif fault.do is Do.ERROR:
            raise _failure(fault, grpc.StatusCode.INTERNAL)
        elif fault.do is Do.OK_NOTHING:
            answer = getattr(pb, f"{name}Response")()
        else:
            answer = await execute(request)
        match fault.do:
            case Do.ERROR_AFTER | Do.LABEL_FAILS:
                raise _failure(fault, grpc.StatusCode.INTERNAL)
            case Do.RESUMES:
                self.calls.core.resume()
            case Do.PAUSES:
                self.calls.core.pause(Pause.ABORT, clear_cache=False)
            case Do.LIE_VERSION:
                return pb.GetWeightVersionResponse(weight_version="a-lie")
            case Do.LIE_INSTANCE:
                answer.instance_id = "a-lie"  # type: ignore[attr-defined]
        return answer

    def _later(self, work: Awaitable[Message]) -> None:
        """Executed even when the client has long gone; what it answers is heard by nobody."""
        replaced = self.faults.replaced

        async def execute() -> None:
            await replaced.wait()
            with contextlib.suppress(WorkerError):
                await work
            self.faults.pending -= 1

        self.faults.pending += 1
        self._late.add(asyncio.create_task(execute()))

    async def _occupy(self, name: str, seconds: float) -> None:
        """Keep the core busy before the call reaches it; calls that do not go there just wait."""
        if name in BASIC:
            await asyncio.sleep(seconds)
        else:
            # Queued now, so that what follows waits behind it, also when the client goes away.
            self.calls.core.enqueue(lambda: asyncio.sleep(seconds))


def _failure(fault: Fault, code: grpc.StatusCode) -> Refusal:
    code = code if fault.code is None else grpc.StatusCode[fault.code]
    # Finish is two utility calls inside, and the text names the one that failed.
    failed = "update_weight_version" if fault.do is Do.LABEL_FAILS else _snake(fault.call)
    return Refusal(
        code, _failed(failed, _UTILITIES.get(failed, "collective_rpc"), f"fault {fault.do}")
    )


def _failed(call: str, utility: str, why: str) -> str:
    """In the frontend's words, around those of the core."""
    return (
        f"{call} failed: utility call `{utility}` failed (call_id={next(_call_ids)}):"
        f" Call to {utility} method failed: {why}"
    )


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()
