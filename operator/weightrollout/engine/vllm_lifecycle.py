"""`Lifecycle` over vllm.Control: the calls that only a trainer asks for."""

from typing import Final

from weightrollout.engine.errors import EngineRefused
from weightrollout.engine.protocol import PauseWay
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.wire.vllm import control_pb2 as pb

_WAYS: Final = {
    PauseWay.ABORT: pb.PAUSE_MODE_ABORT,
    PauseWay.WAIT: pb.PAUSE_MODE_WAIT,
    PauseWay.KEEP: pb.PAUSE_MODE_KEEP,
}


class VllmLifecycle(VllmGrpc):
    async def pause_as(self, way: PauseWay, *, clear_cache: bool | None, deadline_s: float) -> None:
        request = pb.PauseGenerationRequest(mode=_WAYS[way], clear_cache=clear_cache)
        await self._call("PauseGeneration", request, pb.PauseGenerationResponse, deadline_s)

    async def sleep(self, level: int, way: PauseWay, *, deadline_s: float) -> None:
        request = pb.SleepRequest(level=level, mode=_WAYS[way])
        await self._call("Sleep", request, pb.SleepResponse, deadline_s)

    async def wake_up(self, tags: tuple[str, ...], *, deadline_s: float) -> None:
        await self._call("WakeUp", pb.WakeUpRequest(tags=tags), pb.WakeUpResponse, deadline_s)

    async def is_sleeping(self, *, deadline_s: float) -> bool:
        request = pb.IsSleepingRequest()
        reply = await self._call("IsSleeping", request, pb.IsSleepingResponse, deadline_s)
        return reply.sleeping

    async def served_name(self, *, deadline_s: float) -> str:
        reply = await self._call("GetModelInfo", pb.GetModelInfoRequest(), pb.ModelInfo, deadline_s)
        return reply.served_model_name or reply.model_id

    async def reset_prefix_cache(self, *, running: bool, external: bool, deadline_s: float) -> bool:
        raise EngineRefused("ControlCallMissing", "vllm.Control has no call for the prefix cache")
