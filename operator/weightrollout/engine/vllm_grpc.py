"""`Engine` over vllm.Control. Maps status codes to what is known about the engine afterwards."""

import asyncio
from typing import Any, Final, TypeVar, assert_never

import grpc
import grpc.aio
from google.protobuf.message import Message

from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import EngineInfo
from weightrollout.wire.vllm import control_pb2 as pb

Answer = TypeVar("Answer", bound=Message)

#: The engine answered and did nothing. Every other code may stand for an executed call.
_REFUSALS: Final = frozenset(
    {
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
    }
)
#: Finish is two calls inside, and the text names the one that failed (vLLM 0.28 to 0.33).
_LABEL_FAILED: Final = "update_weight_version"
#: With CANCELLED: the engine's frontend saw our deadline pass before we did (vLLM 0.32).
_SERVER_TIMEOUT: Final = "Timeout expired"
#: The agent asks every second which engine this is: an engine that came back must be seen by the
#: next question, and the library's default would wait up to two minutes.
_CHANNEL_OPTIONS: Final = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
)


class VllmGrpc:
    """One engine. `target` is HOST:PORT, `service` the name it serves vllm.Control under."""

    def __init__(self, target: str, service: str = "vllm.Control") -> None:
        self._target = target
        self._service = service
        self._channel = grpc.aio.insecure_channel(target, options=_CHANNEL_OPTIONS)

    async def info(self, *, deadline_s: float) -> EngineInfo:
        reply = await self._call(
            "GetServerInfo", pb.GetServerInfoRequest(), pb.ServerInfo, deadline_s
        )
        capabilities = reply.rl_capabilities
        return EngineInfo(
            instance=reply.instance_id,
            engine_version=reply.engine_version,
            transfer_backend=capabilities.weight_transfer_backend
            if capabilities.weight_transfer_enabled
            else "",
            world_size=_ranks(reply.parallelism),
        )

    async def model(self, *, deadline_s: float) -> str:
        reply = await self._call("GetModelInfo", pb.GetModelInfoRequest(), pb.ModelInfo, deadline_s)
        return reply.model_id

    async def pause(self, mode: PauseMode, *, clear_cache: bool, deadline_s: float) -> None:
        request = pb.PauseGenerationRequest(mode=_pause_mode(mode), clear_cache=clear_cache)
        await self._call("PauseGeneration", request, pb.PauseGenerationResponse, deadline_s)

    async def resume(self, *, deadline_s: float) -> None:
        request = pb.ResumeGenerationRequest()
        await self._call("ResumeGeneration", request, pb.ResumeGenerationResponse, deadline_s)

    async def is_paused(self, *, deadline_s: float) -> bool:
        reply = await self._call("IsPaused", pb.IsPausedRequest(), pb.IsPausedResponse, deadline_s)
        return reply.paused

    async def init_transfer(self, init_info_json: bytes, *, deadline_s: float) -> None:
        await self._call(
            "InitWeightTransferEngine",
            pb.InitWeightTransferEngineRequest(init_info_json=init_info_json),
            pb.InitWeightTransferEngineResponse,
            deadline_s,
        )

    async def start_update(self, *, deadline_s: float) -> None:
        request = pb.StartWeightUpdateRequest()
        await self._call("StartWeightUpdate", request, pb.StartWeightUpdateResponse, deadline_s)

    async def update(self, update_info_json: bytes, *, deadline_s: float) -> None:
        request = pb.UpdateWeightsRequest(update_info_json=update_info_json)
        await self._call("UpdateWeights", request, pb.UpdateWeightsResponse, deadline_s)

    async def finish_update(self, version: str | None, *, deadline_s: float) -> None:
        request = pb.FinishWeightUpdateRequest(weight_version=version)
        await self._call("FinishWeightUpdate", request, pb.FinishWeightUpdateResponse, deadline_s)

    async def set_version(self, version: str, *, deadline_s: float) -> None:
        request = pb.UpdateWeightVersionRequest(weight_version=version)
        await self._call("UpdateWeightVersion", request, pb.UpdateWeightVersionResponse, deadline_s)

    async def version(self, *, deadline_s: float) -> str:
        request = pb.GetWeightVersionRequest()
        reply = await self._call(
            "GetWeightVersion", request, pb.GetWeightVersionResponse, deadline_s
        )
        return reply.weight_version

    async def shutdown(self, *, deadline_s: float) -> None:
        await self._call("Shutdown", pb.ShutdownRequest(), pb.ShutdownResponse, deadline_s)

    async def close(self) -> None:
        await self._channel.close(grace=None)

    async def _call(
        self, name: str, request: Message, answer: type[Answer], deadline_s: float
    ) -> Answer:
        ends = asyncio.get_running_loop().time() + deadline_s
        await self._connect(name, deadline_s)
        call: Any = self._channel.unary_unary(
            f"/{self._service}/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        left_s = max(0.0, ends - asyncio.get_running_loop().time())
        try:
            reply: Answer = await call(request, timeout=left_s)
        except grpc.aio.AioRpcError as error:
            raise self._meaning(name, error) from error
        return reply

    async def _connect(self, name: str, deadline_s: float) -> None:
        """Wait for a connection. Only a failure before this returns is known not to have arrived."""
        try:
            async with asyncio.timeout(deadline_s):
                await self._connected()
        except TimeoutError as error:
            raise EngineUnreachable(
                "EngineUnreachable",
                f"{name}: no connection to {self._target} within {deadline_s:g} s",
            ) from error

    async def _connected(self) -> None:
        while True:
            state = self._channel.get_state(try_to_connect=True)
            if state is grpc.ChannelConnectivity.READY:
                return
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                raise EngineUnreachable(
                    "EngineUnreachable", f"{self._target} does not accept connections"
                )
            await self._channel.wait_for_state_change(state)

    def _meaning(self, name: str, error: grpc.aio.AioRpcError) -> EngineError:
        code = error.code()
        if code is grpc.StatusCode.CANCELLED and error.details() == _SERVER_TIMEOUT:
            code = grpc.StatusCode.DEADLINE_EXCEEDED
        message = f"{name} on {self._target}: {error.details() or code.name}"
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return self._missing(name)
        if code in _REFUSALS:
            return EngineRefused(_camel(code), message)
        if name == "FinishWeightUpdate" and _LABEL_FAILED in (error.details() or ""):
            return EngineStateUnknown(LABEL_NOT_SET, message)
        return EngineStateUnknown(_camel(code), message)

    def _missing(self, name: str) -> EngineRefused:
        if name in ("GetServerInfo", "GetModelInfo"):  # every engine with the service has these
            return EngineRefused(
                "ControlServiceMissing",
                f"{self._target} does not serve {self._service}: start vLLM with --grpc-port, or "
                "name its service with --control-service",
            )
        return EngineRefused(
            "ControlCallMissing",
            f"{self._target} does not know {self._service}/{name}: this vLLM is too old",
        )


def _pause_mode(mode: PauseMode) -> pb.PauseMode.ValueType:
    match mode:
        case PauseMode.KEEP:
            return pb.PAUSE_MODE_KEEP
        case PauseMode.ABORT:
            return pb.PAUSE_MODE_ABORT
    assert_never(mode)


def _ranks(parallelism: pb.ParallelismInfo) -> int:
    """Ranks below this frontend. 0.28 sends no world_size, 0.30 no local size: then computed."""
    engine = parallelism.world_size or (
        parallelism.tensor_parallel_size * parallelism.pipeline_parallel_size
    )
    engines = parallelism.data_parallel_size_local or parallelism.data_parallel_size
    return max(1, engine) * max(1, engines)


def _camel(code: grpc.StatusCode) -> str:
    return "".join(word.capitalize() for word in code.name.split("_"))
