"""What an engine can do depends on how it was started; it refuses the rest and changes nothing."""

import asyncio
from typing import Any

import grpc
import pytest

from contract.oracle import ENDLESS
from contract.subjects import Can, Pair, StartEngine, Subject, needs, seen
from contract.under_test import CALL_S, EngineUnderTest, eventually
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
from weightrollout.engine.protocol import PauseWay
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.wire.vllm import control_pb2 as pb


async def test_engine_tells_what_it_is(engine: EngineUnderTest, subject: Subject) -> None:
    info = await engine.control.info(deadline_s=CALL_S)
    assert info.engine_version.startswith("0.")
    assert info.transfer_backend == subject.backend
    assert info.instance
    assert info.world_size == 1


@needs(Can.WRITE_FILES)
async def test_report_is_of_the_process_that_answers(engine: EngineUnderTest) -> None:
    [report] = engine.reports()
    assert report.instance == (await engine.control.info(deadline_s=CALL_S)).instance
    assert report.model == await engine.control.model(deadline_s=CALL_S)


@needs(Can.USE_OTHER_BACKENDS)
async def test_engine_without_weight_transfer_refuses_by_name(start_engine: StartEngine) -> None:
    async with start_engine(backend="") as engine:
        assert (await engine.control.info(deadline_s=CALL_S)).transfer_backend == ""
        with pytest.raises(EngineRefused, match="weight transfer is not configured"):
            await engine.control.start_update(deadline_s=CALL_S)


@needs(Can.USE_OTHER_BACKENDS)
async def test_every_transfer_call_is_refused_before_its_payload_is_read(
    start_engine: StartEngine,
) -> None:
    async with start_engine(backend="") as engine:
        control = engine.control
        for call in (
            control.init_transfer(b"no JSON", deadline_s=CALL_S),
            control.start_draft_update(deadline_s=CALL_S),
            control.update(b"no JSON", deadline_s=CALL_S),
            control.finish_update(" ", deadline_s=CALL_S),
        ):
            with pytest.raises(
                EngineRefused, match=r"FailedPrecondition.*--weight-transfer-config"
            ):
                await call
        await control.set_version("a label needs no transfer", deadline_s=CALL_S)
        assert await control.version(deadline_s=CALL_S) == "a label needs no transfer"


@needs(Can.USE_OTHER_BACKENDS)
async def test_engine_with_another_backend_names_it(start_engine: StartEngine) -> None:
    async with start_engine(backend="nccl") as engine:
        assert (await engine.control.info(deadline_s=CALL_S)).transfer_backend == "nccl"
        assert not engine.weights.wrote_files()


@seen("0.27")
async def test_engine_before_0_28_lacks_the_calls(start_engine: StartEngine) -> None:
    async with start_engine(vllm="0.27") as engine:
        assert (await engine.control.info(deadline_s=CALL_S)).transfer_backend == ""
        with pytest.raises(EngineRefused, match=r"ControlCallMissing.*too old"):
            await engine.pause()


@needs(Can.RENAME_ITS_SERVICE)
async def test_other_service_name_is_reported_with_the_flag_that_sets_it(
    start_engine: StartEngine,
) -> None:
    async with start_engine(control_service="vllm.RlControl") as engine:
        with pytest.raises(EngineRefused, match=r"ControlServiceMissing.*--control-service"):
            await engine.control.info(deadline_s=CALL_S)
        renamed = VllmGrpc(engine.process.grpc_target, service="vllm.RlControl")
        assert (await renamed.info(deadline_s=CALL_S)).instance
        await renamed.close()


@needs(Can.SPEAK_GRPC)
async def test_draft_update_without_a_draft_model_is_refused(engine: EngineUnderTest) -> None:
    with pytest.raises(EngineRefused, match="speculative draft model"):
        await engine.control.start_draft_update(deadline_s=CALL_S)


@needs(Can.DRAFT)
async def test_draft_update_is_a_session_like_the_other_and_sets_the_same_label(
    start_engine: StartEngine, pair: Pair
) -> None:
    async with start_engine(speculative="draft_model", draft=pair.b) as engine:
        assert (await engine.prepare(engine.staged(pair.b, draft=pair.b))).ok
        await engine.control.start_draft_update(deadline_s=CALL_S)
        with pytest.raises(EngineStateUnknown, match="already active"):
            await engine.control.start_update(deadline_s=CALL_S)
        await engine.control.finish_update("draft-2", deadline_s=CALL_S)
        assert await engine.control.version(deadline_s=CALL_S) == "draft-2"


async def test_sleep_and_wake_up_without_sleep_mode_are_refused(engine: EngineUnderTest) -> None:
    for call in (engine.sleep(0), engine.wake_up()):
        with pytest.raises(
            EngineRefused, match=r"sleep mode is not configured|engine cannot do this"
        ):
            await call


@needs(Can.SLEEP)
async def test_full_wake_up_resumes_an_engine_that_was_only_paused(
    sleeper: EngineUnderTest,
) -> None:
    await sleeper.pause()
    await sleeper.wake_up()
    assert not await sleeper.is_paused()


@needs(Can.SLEEP)
async def test_partial_wake_up_keeps_the_engine_paused(sleeper: EngineUnderTest) -> None:
    await sleeper.sleep()
    await sleeper.wake_up("weights")
    assert await sleeper.is_paused()
    await sleeper.wake_up("kv_cache")
    assert not await sleeper.is_paused()


@needs(Can.SLEEP, Can.SPEAK_GRPC)
async def test_sleep_checks_its_mode_and_not_its_level(sleeper: EngineUnderTest) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="invalid pause mode") as caught:
        await sleeper.call("Sleep", pb.SleepRequest(mode=9), pb.SleepResponse)  # type: ignore[arg-type]
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    await sleeper.call("Sleep", pb.SleepRequest(level=7), pb.SleepResponse)
    assert await sleeper.is_sleeping()


@needs(Can.SLEEP, Can.SPEAK_GRPC)
async def test_sleep_without_a_mode_aborts_and_without_a_level_puts_memory_to_sleep(
    sleeper: EngineUnderTest,
) -> None:
    prompt = asyncio.create_task(sleeper.complete("an endless one", ENDLESS))
    await eventually(sleeper.busy)
    await sleeper.call("Sleep", pb.SleepRequest(), pb.SleepResponse)
    with pytest.raises(EngineStateUnknown, match="CompletionAborted"):
        await prompt
    await sleeper.wake_up("weights")
    assert await sleeper.is_sleeping(), "level 0 would be awake now: it puts no memory to sleep"


@needs(Can.SLEEP, Can.TAKE_ANY_TAG)
async def test_wake_up_of_an_unknown_tag_is_ok_and_wakes_nothing(sleeper: EngineUnderTest) -> None:
    await sleeper.sleep()
    await sleeper.wake_up("nonsense")
    assert await sleeper.is_sleeping()
    assert await sleeper.is_paused()
    await sleeper.wake_up()
    assert not await sleeper.is_sleeping()


@needs(Can.SLEEP)
async def test_sleep_queues_new_requests_whatever_its_mode(sleeper: EngineUnderTest) -> None:
    await sleeper.sleep(0, PauseWay.ABORT)
    prompt = asyncio.create_task(sleeper.complete("anyone awake?"))
    await sleeper.hears()
    assert not prompt.done()
    await sleeper.wake_up("scheduling")
    assert await prompt


async def test_paused_engine_says_that_it_sleeps(engine: EngineUnderTest) -> None:
    assert not await engine.is_sleeping()
    await engine.pause()
    assert await engine.is_sleeping()


@needs(Can.SPEAK_GRPC)
async def test_reflection_is_not_served(engine: EngineUnderTest) -> None:
    path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
    # As one message: a stream would be ended by the answer while its message is being sent.
    call: Any = engine.channel.unary_unary(path, bytes, bytes)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"", timeout=CALL_S)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@needs(Can.SLEEP)
async def test_update_of_sleeping_weights_kills_the_engine(
    start_engine: StartEngine, pair: Pair
) -> None:
    async with start_engine(enable_sleep_mode=True) as engine:
        await engine.sleep()
        with pytest.raises(EngineStateUnknown, match=r"Unavailable|transport error"):
            await engine.transfer(pair.b, "b")
        assert await engine.process.exit_code() != 0
