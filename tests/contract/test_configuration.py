"""What an engine can do depends on how it was started; it refuses the rest and changes nothing."""

import pytest

from contract.subjects import Pair, StartEngine, Subject
from contract.under_test import CALL_S, EngineUnderTest
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.wire.vllm import control_pb2 as pb


async def test_engine_tells_what_it_is(engine: EngineUnderTest, subject: Subject) -> None:
    info = await engine.control.info(deadline_s=CALL_S)
    assert info.engine_version.startswith("0.")
    assert info.transfer_backend == subject.backend
    assert info.instance == engine.reports()[0].instance
    assert await engine.control.model(deadline_s=CALL_S) == engine.reports()[0].model


async def test_engine_without_weight_transfer_refuses_by_name(start_engine: StartEngine) -> None:
    async with start_engine(backend="") as engine:
        assert (await engine.control.info(deadline_s=CALL_S)).transfer_backend == ""
        with pytest.raises(EngineRefused, match="weight transfer is not configured"):
            await engine.control.start_update(deadline_s=CALL_S)


async def test_engine_with_another_backend_names_it(start_engine: StartEngine) -> None:
    async with start_engine(backend="nccl") as engine:
        assert (await engine.control.info(deadline_s=CALL_S)).transfer_backend == "nccl"
        assert not engine.weights.wrote_files()


async def test_engine_before_0_28_lacks_the_calls(start_engine: StartEngine) -> None:
    async with start_engine(vllm="0.27") as engine:
        assert (await engine.control.info(deadline_s=CALL_S)).transfer_backend == ""
        with pytest.raises(EngineRefused, match=r"ControlCallMissing.*too old"):
            await engine.pause()


async def test_other_service_name_is_reported_with_the_flag_that_sets_it(
    start_engine: StartEngine,
) -> None:
    async with start_engine(control_service="vllm.RlControl") as engine:
        with pytest.raises(EngineRefused, match=r"ControlServiceMissing.*--control-service"):
            await engine.control.info(deadline_s=CALL_S)
        renamed = VllmGrpc(engine.process.grpc_target, service="vllm.RlControl")
        assert (await renamed.info(deadline_s=CALL_S)).instance
        await renamed.close()


async def test_draft_update_without_a_draft_model_is_refused(engine: EngineUnderTest) -> None:
    with pytest.raises(Exception, match="speculative draft model"):
        await engine.call(
            "StartDraftWeightUpdate",
            pb.StartDraftWeightUpdateRequest(),
            pb.StartDraftWeightUpdateResponse,
        )


async def test_sleep_and_wake_up_without_sleep_mode_are_refused(engine: EngineUnderTest) -> None:
    with pytest.raises(Exception, match="sleep mode is not configured"):
        await engine.call("Sleep", pb.SleepRequest(level=0), pb.SleepResponse)
    with pytest.raises(Exception, match="sleep mode is not configured"):
        await engine.call("WakeUp", pb.WakeUpRequest(), pb.WakeUpResponse)


async def test_full_wake_up_resumes_an_engine_that_was_only_paused(
    start_engine: StartEngine,
) -> None:
    async with start_engine(enable_sleep_mode=True) as engine:
        await engine.pause()
        await engine.call("WakeUp", pb.WakeUpRequest(), pb.WakeUpResponse)
        assert not await engine.is_paused()


async def test_partial_wake_up_keeps_the_engine_paused(start_engine: StartEngine) -> None:
    async with start_engine(enable_sleep_mode=True) as engine:
        await engine.call("Sleep", pb.SleepRequest(mode=pb.PAUSE_MODE_KEEP), pb.SleepResponse)
        await engine.call("WakeUp", pb.WakeUpRequest(tags=["weights"]), pb.WakeUpResponse)
        assert await engine.is_paused()
        await engine.call("WakeUp", pb.WakeUpRequest(tags=["kv_cache"]), pb.WakeUpResponse)
        assert not await engine.is_paused()


async def test_update_of_sleeping_weights_kills_the_engine(
    start_engine: StartEngine, pair: Pair
) -> None:
    async with start_engine(enable_sleep_mode=True) as engine:
        await engine.call("Sleep", pb.SleepRequest(mode=pb.PAUSE_MODE_KEEP), pb.SleepResponse)
        with pytest.raises(EngineStateUnknown, match="Unavailable"):
            await engine.transfer(pair.b, "b")
        assert await engine.process.exit_code() == 139
