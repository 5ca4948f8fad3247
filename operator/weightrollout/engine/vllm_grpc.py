"""`Engine` over vllm.Control. Maps status codes to what is known about the engine afterwards."""

import asyncio
from typing import Any, Final, TypeVar, assert_never

import grpc
import grpc.aio
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import Int32Value

from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.protocol import Capabilities, EngineInfo
from weightrollout.engine.tls import NOT_LISTENING, REFUSED, TlsFiles, TlsReader, diagnose
from weightrollout.wire.vllm import control_pb2 as pb

Answer = TypeVar("Answer", bound=Message)

#: The engine answered and did nothing. Every other code may stand for an executed call.
REFUSALS: Final = frozenset(
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
#: The engine's server counts the deadline too; when its clock is the first, this is what it says.
_SERVER_TIMED_OUT: Final = "Timeout expired"
#: The agent asks every second which engine this is: an engine that came back must be seen by the
#: next question, and the library's default would wait up to two minutes.
_CHANNEL_OPTIONS: Final = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
)


#: gRPC's own health service: its request may be empty, and its answer is one number.
_HEALTH: Final = "grpc.health.v1.Health"
_NOT_SERVING: Final = 2
#: Reason where that service knows nothing any more, as at the end of an engine that died.
_FORGOTTEN: Final = "NotFound"

#: A channel of earlier certificates lives on while calls run on it; a big update takes minutes.
_RETIRE_S: Final = 600.0


class VllmGrpc:
    """One engine. `target` is HOST:PORT, `service` the name it serves vllm.Control under.

    With `tls` every new call uses the files as they are then; running calls are not disturbed.
    """

    def __init__(
        self, target: str, service: str = "vllm.Control", tls: TlsFiles | None = None
    ) -> None:
        self._target = target
        self._service = service
        self._tls = TlsReader(tls) if tls is not None else None
        self._generation = -1
        self._open: grpc.aio.Channel | None = None
        self._retired: set[asyncio.Task[None]] = set()

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
            capabilities=Capabilities(
                rl=reply.HasField("rl_capabilities"),
                transfer=capabilities.weight_transfer_enabled,
                sleep=capabilities.sleep_mode_enabled,
                draft=capabilities.draft_weight_updates_enabled,
            ),
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

    async def start_draft_update(self, *, deadline_s: float) -> None:
        await self._call(
            "StartDraftWeightUpdate",
            pb.StartDraftWeightUpdateRequest(),
            pb.StartDraftWeightUpdateResponse,
            deadline_s,
        )

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

    async def serving(self, *, deadline_s: float) -> bool:
        """False: its core has died, by its own word. A pause, a half-loaded model and sleep are not told."""
        try:
            reply = await self._call("Check", Empty(), Int32Value, deadline_s, service=_HEALTH)
        except EngineRefused:
            return True  # somebody answers, who has no such service
        except EngineStateUnknown as error:
            if error.reason != _FORGOTTEN:
                raise
            return False
        return reply.value != _NOT_SERVING

    async def close(self) -> None:
        for task in self._retired:
            task.cancel()
        await asyncio.gather(*self._retired, return_exceptions=True)
        if self._open is not None:
            await self._open.close(grace=None)

    async def _call(
        self,
        name: str,
        request: Message,
        answer: type[Answer],
        deadline_s: float,
        *,
        service: str | None = None,
    ) -> Answer:
        ends = asyncio.get_running_loop().time() + deadline_s
        channel = self._channel()
        await self._connect(channel, name, deadline_s)
        call: Any = channel.unary_unary(
            f"/{service or self._service}/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        left_s = max(0.0, ends - asyncio.get_running_loop().time())
        try:
            reply: Answer = await call(request, timeout=left_s)
        except grpc.aio.AioRpcError as error:
            raise self._meaning(name, error) from error
        return reply

    def _channel(self) -> grpc.aio.Channel:
        """The channel of the present certificates."""
        if self._tls is None:
            if self._open is None:
                self._open = grpc.aio.insecure_channel(self._target, options=_CHANNEL_OPTIONS)
            return self._open
        material = self._tls.current()
        if self._open is None or material.generation != self._generation:
            self._retire(self._open)
            self._generation = material.generation
            self._open = grpc.aio.secure_channel(
                self._target, material.credentials, options=self._tls_options(self._tls.files)
            )
        return self._open

    def _tls_options(self, files: TlsFiles) -> tuple[tuple[str, int | str], ...]:
        # A subchannel pool of its own: gRPC would share connections with other credentials' channels.
        own: tuple[tuple[str, int | str], ...] = (
            *_CHANNEL_OPTIONS,
            ("grpc.use_local_subchannel_pool", 1),
        )
        if not files.server_name:
            return own
        return (*own, ("grpc.ssl_target_name_override", files.server_name))

    def _retire(self, channel: grpc.aio.Channel | None) -> None:
        if channel is not None:
            task = asyncio.create_task(channel.close(grace=_RETIRE_S))
            self._retired.add(task)
            task.add_done_callback(self._retired.discard)

    async def _connect(self, channel: grpc.aio.Channel, name: str, deadline_s: float) -> None:
        """Wait for a connection. Only a failure before this returns is known not to have arrived."""
        try:
            async with asyncio.timeout(deadline_s):
                await self._connected(channel)
        except TimeoutError as error:
            raise EngineUnreachable(
                "EngineUnreachable",
                f"{name}: no connection to {self._target} within {deadline_s:g} s",
            ) from error

    async def _connected(self, channel: grpc.aio.Channel) -> None:
        while True:
            state = channel.get_state(try_to_connect=True)
            if state is grpc.ChannelConnectivity.READY:
                return
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                raise await self._unreachable()
            await channel.wait_for_state_change(state)

    async def _unreachable(self) -> EngineUnreachable:
        tls = self._tls
        why = await diagnose(
            self._target, tls.files if tls else None, tls.current().context if tls else None
        )
        reason = REFUSED if tls and why != NOT_LISTENING else "EngineUnreachable"
        return EngineUnreachable(reason, f"{self._target}: {why}")

    def _meaning(self, name: str, error: grpc.aio.AioRpcError) -> EngineError:
        code = error.code()
        message = f"{name} on {self._target}: {error.details() or code.name}"
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return self._missing(name)
        if code in REFUSALS:
            return EngineRefused(camel(code), message)
        if code is grpc.StatusCode.CANCELLED and error.details() == _SERVER_TIMED_OUT:
            return EngineStateUnknown(camel(grpc.StatusCode.DEADLINE_EXCEEDED), message)
        if name == "FinishWeightUpdate" and _LABEL_FAILED in (error.details() or ""):
            return EngineStateUnknown(LABEL_NOT_SET, message)
        return EngineStateUnknown(camel(code), message)

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
        case PauseMode.KEEP | PauseMode.GIVE_UP:  # it was idle just now: Keep ends nobody
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


def camel(code: grpc.StatusCode) -> str:
    return "".join(word.capitalize() for word in code.name.split("_"))
