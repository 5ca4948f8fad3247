"""Data-parallel cores behind one real frontend that do not agree: nothing is guessed, nothing is opened."""

from collections.abc import AsyncIterator

import grpc
import pytest

from contract.conftest import StartFrontend
from contract.subjects import Pair
from contract.under_test import CALL_S
from frontend.process import FrontendProcess
from frontend.script import Script
from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineRefused,
    EngineStateUnknown,
)
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.wire.vllm import control_pb2 as pb


@pytest.fixture(scope="module")
async def running(frontend: StartFrontend, simulated_pair: Pair) -> AsyncIterator[FrontendProcess]:
    async with frontend(model=simulated_pair.a, backend="ipc", cores=2) as process:
        yield process


@pytest.fixture(scope="module")
async def control(running: FrontendProcess) -> AsyncIterator[VllmGrpc]:
    adapter = VllmGrpc(running.grpc_target)
    yield adapter
    await adapter.close()


@pytest.fixture
async def second(running: FrontendProcess, control: VllmGrpc) -> AsyncIterator[FrontendProcess]:
    """Both resumed, of one version, without an open update; the test then spoils rank 1."""
    yield running
    for rank in (0, 1):
        running.play(rank, Script())
    try:
        await control.finish_update(None, deadline_s=CALL_S)
    except EngineError:
        pass  # none was open
    await control.resume(deadline_s=CALL_S)
    await control.set_version("settled", deadline_s=CALL_S)


async def pause(control: VllmGrpc, deadline_s: float = CALL_S) -> None:
    await control.pause(PauseMode.KEEP, clear_cache=True, deadline_s=deadline_s)


async def test_ranks_of_all_cores_are_counted(second: FrontendProcess, control: VllmGrpc) -> None:
    info = await control.info(deadline_s=CALL_S)
    assert (info.world_size, info.transfer_backend) == (2, "ipc")


async def test_cores_of_which_one_is_paused_are_neither_paused_nor_running(
    second: FrontendProcess, control: VllmGrpc
) -> None:
    second.play(1, Script(fails={"pause_generation": "boom"}))
    with pytest.raises(EngineStateUnknown, match=r"Internal.*boom"):
        await pause(control)
    with pytest.raises(EngineStateUnknown, match=r"inconsistent results.*\[true, false\]"):
        await control.is_paused(deadline_s=CALL_S)
    await control.resume(deadline_s=CALL_S)
    assert not await control.is_paused(deadline_s=CALL_S)


async def test_core_that_hangs_in_a_pause_leaves_the_other_paused(
    second: FrontendProcess, control: VllmGrpc
) -> None:
    second.play(1, Script(hangs=("pause_generation",)))
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await pause(control, deadline_s=0.3)
    with pytest.raises(EngineStateUnknown, match="inconsistent results"):
        await control.is_paused(deadline_s=CALL_S)


async def test_label_that_one_core_did_not_take_is_no_version(
    second: FrontendProcess, control: VllmGrpc
) -> None:
    await control.start_update(deadline_s=CALL_S)
    second.play(1, Script(fails={"set_weight_version": "boom"}))
    with pytest.raises(EngineStateUnknown) as caught:
        await control.finish_update("b", deadline_s=CALL_S)
    assert caught.value.reason == LABEL_NOT_SET
    with pytest.raises(EngineStateUnknown, match=r'inconsistent results.*\["b", '):
        await control.version(deadline_s=CALL_S)
    second.play(1, Script())
    await control.set_version("b", deadline_s=CALL_S)
    assert await control.version(deadline_s=CALL_S) == "b"


async def test_failure_of_one_core_is_told_only_when_all_have_ended(
    second: FrontendProcess, control: VllmGrpc
) -> None:
    await control.start_update(deadline_s=CALL_S)
    second.play(0, Script(hangs=("update_weights",)))
    second.play(1, Script(fails={"update_weights": "boom"}))
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await control.update(b"{}", deadline_s=0.3)


async def test_start_that_one_core_refused_is_open_in_the_other(
    second: FrontendProcess, control: VllmGrpc
) -> None:
    second.play(1, Script(fails={"start_weight_update": "boom"}))
    with pytest.raises(EngineStateUnknown, match="boom"):
        await control.start_update(deadline_s=CALL_S)
    second.play(1, Script())
    with pytest.raises(EngineStateUnknown, match="already active"):
        await control.start_update(deadline_s=CALL_S)


async def capabilities(process: FrontendProcess) -> pb.RlCapabilities:
    async with grpc.aio.insecure_channel(process.grpc_target) as channel:
        call = channel.unary_unary(
            "/vllm.Control/GetServerInfo",
            request_serializer=pb.GetServerInfoRequest.SerializeToString,
            response_deserializer=pb.ServerInfo.FromString,
        )
        reply: pb.ServerInfo = await call(pb.GetServerInfoRequest(), timeout=CALL_S)
        return reply.rl_capabilities


@pytest.mark.parametrize(
    "cores",
    [
        pytest.param([Script(backend="nccl"), Script()], id="another-backend"),
        pytest.param([Script(), Script(lacks=("weight_transfer_backend",))], id="one-lost-it"),
        pytest.param([Script(lacks=("weight_transfer_backend",))], id="the-only-one-lost-it"),
    ],
)
async def test_backend_on_which_cores_do_not_agree_is_no_backend(
    frontend: StartFrontend, simulated_pair: Pair, cores: list[Script]
) -> None:
    async with frontend(
        model=simulated_pair.a, backend="ipc", cores=len(cores), scripts=cores
    ) as process:
        adapter = VllmGrpc(process.grpc_target)
        assert (await adapter.info(deadline_s=CALL_S)).transfer_backend == ""
        for call in (
            adapter.start_update(deadline_s=CALL_S),
            adapter.update(b"{}", deadline_s=CALL_S),
        ):
            with pytest.raises(EngineRefused, match="weight transfer is not configured"):
                await call
        await adapter.close()


async def test_sleep_and_draft_that_one_core_lost_are_closed_for_all(
    frontend: StartFrontend, simulated_pair: Pair
) -> None:
    lost = Script(lacks=("enable_sleep_mode", "supports_draft_weight_updates"))
    draft = {"speculative": "draft_model", "draft": simulated_pair.b}
    flags = {"backend": "ipc", "enable_sleep_mode": True, **draft}
    async with frontend(
        model=simulated_pair.a, cores=2, scripts=[Script(), lost], **flags
    ) as process:
        told = await capabilities(process)
    assert told.weight_transfer_enabled
    assert not told.sleep_mode_enabled
    assert not told.draft_weight_updates_enabled


async def test_versions_of_vllm_that_differ_are_not_noticed(
    frontend: StartFrontend, simulated_pair: Pair
) -> None:
    """GetServerInfo gives that of the first core: cores of one pod must come from one image."""
    mixed = [Script(), Script(engine_version="0.31.0")]
    async with frontend(model=simulated_pair.a, backend="ipc", cores=2, scripts=mixed) as process:
        adapter = VllmGrpc(process.grpc_target)
        assert (await adapter.info(deadline_s=CALL_S)).engine_version == "0.33.0"
        await adapter.start_update(deadline_s=CALL_S)
        await adapter.close()
