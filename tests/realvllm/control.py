"""vLLM's own weight update, driven over its gRPC as an agent would."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc.aio

from realvllm.engine import RealEngine
from weightrollout.api.spec import PauseMode
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.wire.vllm import control_pb2 as pb

CALL_S: Final = 60.0


@asynccontextmanager
async def controlled(engine: RealEngine) -> AsyncIterator[VllmGrpc]:
    """The product's adapter, connected to `engine`."""
    control = VllmGrpc(engine.grpc_target)
    try:
        yield control
    finally:
        await control.close()


async def stock_update(control: VllmGrpc, checkpoint: Path, version: str) -> None:
    """One whole cycle of an engine that was started with backend `stock`; it clears the caches."""
    await control.pause(PauseMode.ABORT, clear_cache=True, deadline_s=CALL_S)
    await control.init_transfer(b"{}", deadline_s=CALL_S)
    await control.start_update(deadline_s=CALL_S)
    await control.update(_payload(checkpoint), deadline_s=CALL_S)
    await control.finish_update(version, deadline_s=CALL_S)
    await control.resume(deadline_s=CALL_S)


async def stock_draft_update(engine: RealEngine, control: VllmGrpc, checkpoint: Path) -> None:
    """The same for the draft's weights; the label stays what the target's update made it."""
    await control.pause(PauseMode.ABORT, clear_cache=True, deadline_s=CALL_S)
    async with grpc.aio.insecure_channel(engine.grpc_target) as channel:
        call: Any = channel.unary_unary(
            "/vllm.Control/StartDraftWeightUpdate",
            request_serializer=pb.StartDraftWeightUpdateRequest.SerializeToString,
            response_deserializer=pb.StartDraftWeightUpdateResponse.FromString,
        )
        await call(pb.StartDraftWeightUpdateRequest(), timeout=CALL_S)
    await control.update(_payload(checkpoint), deadline_s=CALL_S)
    await control.finish_update(None, deadline_s=CALL_S)
    await control.resume(deadline_s=CALL_S)


def _payload(checkpoint: Path) -> bytes:
    return json.dumps({"folder": str(checkpoint)}).encode()
