"""What each failure of a gRPC call says about the engine afterwards."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.wire.vllm import control_pb2 as pb

CALL_S = 5.0

Behaviour = Callable[[bytes, Any], Awaitable[bytes]]


@asynccontextmanager
async def engine(**calls: Behaviour) -> AsyncIterator[VllmGrpc]:
    """A server of the given calls, and the adapter that speaks to it."""
    server = grpc.aio.server()
    handlers = {name: grpc.unary_unary_rpc_method_handler(call) for name, call in calls.items()}
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("vllm.Control", handlers),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    adapter = VllmGrpc(f"127.0.0.1:{port}")
    try:
        yield adapter
    finally:
        await adapter.close()
        await server.stop(None)


WORDS = "the engine's own words"


def failing(code: grpc.StatusCode, words: str = WORDS) -> Behaviour:
    async def behave(_: bytes, context: Any) -> bytes:
        await context.abort(code, words)
        raise AssertionError

    return behave


#: All there are. Unknown is the rule: only codes that stand for a check before the call are refusals.
MEANINGS: dict[grpc.StatusCode, tuple[type[EngineError], str]] = {
    grpc.StatusCode.CANCELLED: (EngineStateUnknown, "Cancelled"),
    grpc.StatusCode.UNKNOWN: (EngineStateUnknown, "Unknown"),
    grpc.StatusCode.INVALID_ARGUMENT: (EngineRefused, "InvalidArgument"),
    grpc.StatusCode.DEADLINE_EXCEEDED: (EngineStateUnknown, "DeadlineExceeded"),
    grpc.StatusCode.NOT_FOUND: (EngineStateUnknown, "NotFound"),
    grpc.StatusCode.ALREADY_EXISTS: (EngineStateUnknown, "AlreadyExists"),
    grpc.StatusCode.PERMISSION_DENIED: (EngineRefused, "PermissionDenied"),
    grpc.StatusCode.UNAUTHENTICATED: (EngineRefused, "Unauthenticated"),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (EngineStateUnknown, "ResourceExhausted"),
    grpc.StatusCode.FAILED_PRECONDITION: (EngineRefused, "FailedPrecondition"),
    grpc.StatusCode.ABORTED: (EngineStateUnknown, "Aborted"),
    grpc.StatusCode.OUT_OF_RANGE: (EngineRefused, "OutOfRange"),
    grpc.StatusCode.UNIMPLEMENTED: (EngineRefused, "ControlCallMissing"),
    grpc.StatusCode.INTERNAL: (EngineStateUnknown, "Internal"),
    grpc.StatusCode.UNAVAILABLE: (EngineStateUnknown, "Unavailable"),
    grpc.StatusCode.DATA_LOSS: (EngineStateUnknown, "DataLoss"),
}


def test_every_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(grpc.StatusCode) - {grpc.StatusCode.OK}


@pytest.mark.parametrize("code", MEANINGS, ids=lambda code: code.name)
async def test_code_tells_whether_the_call_may_have_been_executed(code: grpc.StatusCode) -> None:
    kind, reason = MEANINGS[code]
    async with engine(UpdateWeights=failing(code)) as adapter:
        with pytest.raises(EngineError, match="UpdateWeights") as caught:
            await adapter.update(b"{}", deadline_s=CALL_S)
    assert (type(caught.value), caught.value.reason) == (kind, reason)
    assert WORDS in caught.value.message or code is grpc.StatusCode.UNIMPLEMENTED
    assert isinstance(caught.value.__cause__, grpc.aio.AioRpcError)


async def test_deadline_that_the_server_saw_first_is_a_deadline() -> None:
    """vLLM's server counts it too, and cancels: which clock is the first is chance."""
    timed_out = failing(grpc.StatusCode.CANCELLED, "Timeout expired")
    async with engine(UpdateWeights=timed_out) as adapter:
        with pytest.raises(EngineStateUnknown) as caught:
            await adapter.update(b"{}", deadline_s=CALL_S)
    assert caught.value.reason == "DeadlineExceeded"


@pytest.mark.parametrize(
    ("failed", "reason"),
    [("update_weight_version", LABEL_NOT_SET), ("finish_weight_update", "Internal")],
)
async def test_finish_tells_which_of_its_two_halves_failed(failed: str, reason: str) -> None:
    words = f"{failed} failed: utility call `x` failed (call_id=3): boom"
    async with engine(FinishWeightUpdate=failing(grpc.StatusCode.INTERNAL, words)) as adapter:
        with pytest.raises(EngineStateUnknown) as caught:
            await adapter.finish_update("b", deadline_s=CALL_S)
    assert caught.value.reason == reason


async def test_call_that_gets_no_answer_in_time_is_of_unknown_outcome() -> None:
    async def never(_: bytes, __: Any) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    async with engine(PauseGeneration=never) as adapter:
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await adapter.pause(PauseMode.KEEP, clear_cache=True, deadline_s=0.1)


async def test_deadline_that_the_engine_saw_first_reads_as_one() -> None:
    """vLLM's frontend is told the deadline and cancels the call itself."""

    async def expired(_: bytes, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.CANCELLED, "Timeout expired")
        raise AssertionError

    async with engine(UpdateWeights=expired) as adapter:
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await adapter.update(b"{}", deadline_s=CALL_S)


async def test_engine_that_never_listened_is_unreachable() -> None:
    adapter = VllmGrpc("127.0.0.1:1")
    with pytest.raises(EngineUnreachable, match="does not accept connections"):
        await adapter.resume(deadline_s=CALL_S)
    await adapter.close()


async def test_address_that_swallows_connections_is_unreachable_within_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:  # its backlog accepts, nobody speaks
        adapter = VllmGrpc(f"127.0.0.1:{mute.getsockname()[1]}")
        with pytest.raises(EngineUnreachable, match=r"within 0.2 s"):
            await adapter.resume(deadline_s=0.2)
        await adapter.close()


async def test_missing_call_names_the_age_and_missing_service_the_flag() -> None:
    async with engine() as adapter:
        with pytest.raises(EngineRefused, match="ControlServiceMissing"):
            await adapter.info(deadline_s=CALL_S)
        with pytest.raises(EngineRefused, match="ControlCallMissing"):
            await adapter.start_update(deadline_s=CALL_S)


@pytest.mark.parametrize(
    ("parallelism", "ranks"),
    [
        (pb.ParallelismInfo(), 1),
        (pb.ParallelismInfo(tensor_parallel_size=2, pipeline_parallel_size=2), 4),
        (pb.ParallelismInfo(world_size=4, data_parallel_size=2), 8),
        (pb.ParallelismInfo(world_size=4, data_parallel_size=8, data_parallel_size_local=2), 8),
    ],
)
async def test_ranks_are_those_of_this_pod(parallelism: pb.ParallelismInfo, ranks: int) -> None:
    async def info(_: bytes, __: Any) -> bytes:
        return pb.ServerInfo(parallelism=parallelism).SerializeToString()

    async with engine(GetServerInfo=info) as adapter:
        assert (await adapter.info(deadline_s=CALL_S)).world_size == ranks


async def test_backend_is_empty_where_cores_disagree() -> None:
    async def info(_: bytes, __: Any) -> bytes:
        capabilities = pb.RlCapabilities(
            weight_transfer_enabled=False, weight_transfer_backend="weightrollout"
        )
        return pb.ServerInfo(rl_capabilities=capabilities).SerializeToString()

    async with engine(GetServerInfo=info) as adapter:
        assert (await adapter.info(deadline_s=CALL_S)).transfer_backend == ""


@pytest.mark.parametrize(
    ("mode", "number"),
    [(PauseMode.KEEP, pb.PAUSE_MODE_KEEP), (PauseMode.ABORT, pb.PAUSE_MODE_ABORT)],
)
async def test_pause_always_says_its_mode_and_whether_to_clear(
    mode: PauseMode, number: int
) -> None:
    seen: list[pb.PauseGenerationRequest] = []

    async def pause(data: bytes, _: Any) -> bytes:
        seen.append(pb.PauseGenerationRequest.FromString(data))
        return b""

    async with engine(PauseGeneration=pause) as adapter:
        await adapter.pause(mode, clear_cache=False, deadline_s=CALL_S)
    [request] = seen
    assert request.mode == number
    assert request.HasField("clear_cache")
    assert not request.clear_cache


async def test_finish_without_a_version_sends_none() -> None:
    seen: list[pb.FinishWeightUpdateRequest] = []

    async def finish(data: bytes, _: Any) -> bytes:
        seen.append(pb.FinishWeightUpdateRequest.FromString(data))
        return b""

    async with engine(FinishWeightUpdate=finish) as adapter:
        await adapter.finish_update(None, deadline_s=CALL_S)
        await adapter.finish_update("b", deadline_s=CALL_S)
    assert [request.HasField("weight_version") for request in seen] == [False, True]
