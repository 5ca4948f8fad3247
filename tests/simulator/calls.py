"""What each call of vllm.Control does once it is allowed to; one method per call."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from google.protobuf.message import Message

from simulator.collective import Collective
from simulator.core import Core, Pause
from simulator.faults import Do
from simulator.plugin import Plugin, WorkerError
from simulator.refusals import MODES
from simulator.settings import RL_CALLS_SINCE, Settings
from weightrollout.wire.vllm import control_pb2 as pb

T = TypeVar("T")

MEMORY_TAGS: Final = frozenset({"weights", "kv_cache"})
#: What every vLLM with the service calls it; Dynamo's sidecar starts with no other.
API_VERSION: Final = "vllm"
#: ModelInfo.supports_token_ids_input (field 21), which nobody here reads and that sidecar wants.
TAKES_TOKEN_IDS: Final = b"\xa8\x01\x01"


@dataclass(slots=True)
class Calls:
    settings: Settings
    core: Core
    plugin: Plugin | Collective | None
    shutdown_asked: asyncio.Event
    unguarded_updates: int = 0  # updates that met an engine which was not paused

    # Answered by the frontend from what it cached at the handshake, also in mid-update.

    async def get_server_info(self, _: Any) -> Message:
        settings = self.settings
        capabilities = pb.RlCapabilities(
            weight_transfer_enabled=bool(settings.backend),
            weight_transfer_backend=settings.backend,
            sleep_mode_enabled=settings.enable_sleep_mode,
            draft_weight_updates_enabled=settings.has_draft,
        )
        return pb.ServerInfo(
            engine_version=settings.engine_version,
            api_version=API_VERSION,
            instance_id=settings.instance,
            parallelism=pb.ParallelismInfo(
                tensor_parallel_size=settings.ranks,
                pipeline_parallel_size=1,
                data_parallel_size=1,
                data_parallel_size_local=1,
                world_size=settings.ranks,
            ),
            max_running_requests=settings.max_running,
            max_loras=settings.loras,
            rl_capabilities=capabilities if settings.version >= RL_CALLS_SINCE else None,
        )

    async def get_model_info(self, _: Any) -> Message:
        name = str(self.settings.model)
        info = pb.ModelInfo(model_id=name, served_model_name=name)
        return pb.ModelInfo.FromString(info.SerializeToString() + TAKES_TOKEN_IDS)

    async def shutdown(self, _: Any) -> Message:
        self.shutdown_asked.set()
        return pb.ShutdownResponse()

    # Asked of the core: each waits for its turn there.

    async def pause_generation(self, request: Any) -> Message:
        clear_cache = request.clear_cache if request.HasField("clear_cache") else True
        await self._pause(MODES[request.mode], clear_cache=clear_cache)
        return pb.PauseGenerationResponse()

    async def resume_generation(self, _: Any) -> Message:
        await self._in_core(self.core.resume)
        return pb.ResumeGenerationResponse()

    async def is_paused(self, _: Any) -> Message:
        paused = await self._in_core(lambda: self.core.paused is not None)
        return pb.IsPausedResponse(paused=paused)

    async def sleep(self, request: Any) -> Message:
        level = request.level if request.HasField("level") else 1
        # Level 0 pauses and no more.
        await self._pause(MODES[request.mode], clear_cache=level > 0, for_sleep=True)
        await self._in_core(lambda: self._fall_asleep(level))
        return pb.SleepResponse()

    async def wake_up(self, request: Any) -> Message:
        await self._in_core(lambda: self._wake(frozenset(request.tags) or MEMORY_TAGS))
        return pb.WakeUpResponse()

    async def is_sleeping(self, _: Any) -> Message:
        """A mere pause counts as sleep, as in the engine."""
        sleeping = await self._in_core(
            lambda: self.core.paused is not None or bool(self.core.asleep)
        )
        return pb.IsSleepingResponse(sleeping=sleeping)

    async def init_weight_transfer_engine(self, request: Any) -> Message:
        await self._in_core(lambda: self._workers().init(request.init_info_json))
        return pb.InitWeightTransferEngineResponse()

    async def start_weight_update(self, _: Any) -> Message:
        await self._in_core(lambda: self._workers().start("target"))
        return pb.StartWeightUpdateResponse()

    async def start_draft_weight_update(self, _: Any) -> Message:
        await self._in_core(lambda: self._workers().start("draft"))
        return pb.StartDraftWeightUpdateResponse()

    async def update_weights(self, request: Any, do: Do | None = None) -> Message:
        async def update() -> None:
            self.unguarded_updates += self.core.paused is None
            asleep = "weights" in self.core.asleep
            await self._workers().update(request.update_info_json, asleep=asleep, fault=do)

        await self.core.utility(update)
        return pb.UpdateWeightsResponse()

    async def finish_weight_update(self, request: Any) -> Message:
        """The label comes second: when it fails the weights are final all the same."""
        await self._in_core(lambda: self._workers().finish())
        if request.HasField("weight_version"):
            await self._in_core(lambda: self._label(request.weight_version))
        return pb.FinishWeightUpdateResponse()

    async def update_weight_version(self, request: Any) -> Message:
        await self._in_core(lambda: self._label(request.weight_version))
        return pb.UpdateWeightVersionResponse()

    async def get_weight_version(self, _: Any) -> Message:
        version = await self._in_core(lambda: self.core.version)
        return pb.GetWeightVersionResponse(weight_version=version)

    # Inside.

    async def _in_core(self, work: Callable[[], T]) -> T:
        async def run() -> T:
            return work()

        return await self.core.utility(run)

    async def _pause(self, mode: Pause, *, clear_cache: bool, for_sleep: bool = False) -> None:
        pause = partial(self.core.pause, mode, clear_cache=clear_cache, for_sleep=for_sleep)
        await self._in_core(pause)
        if mode is Pause.WAIT:
            await self.core.drained()

    def _fall_asleep(self, level: int) -> None:
        if level > 0:
            self.core.asleep = set(MEMORY_TAGS)
        if level > 1:  # the range is not checked: any level above 1 drops the weights
            self.core.model.discard()

    def _wake(self, tags: frozenset[str]) -> None:
        """A tag that is unknown, or awake already, and nothing is woken, without an error: so also all tags after a
        part was woken. Whole awake means resumed."""
        if not self.core.asleep or tags <= self.core.asleep:
            self.core.asleep -= tags
        if not self.core.asleep:
            self.core.resume()

    def _label(self, version: str) -> None:
        self.core.version = version

    def _workers(self) -> Plugin | Collective:
        if self.plugin is None:
            raise WorkerError(f"weight transfer backend {self.settings.backend!r} needs CUDA")
        return self.plugin
