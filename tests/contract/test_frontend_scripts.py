"""The real frontend over one core that fails as it is told: what our adapter hears."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from contract.conftest import StartFrontend
from contract.subjects import Pair
from contract.under_test import CALL_S, eventually
from frontend.process import FrontendProcess
from frontend.script import Script
from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import (
    LABEL_NOT_SET,
    EngineError,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.engine.vllm_grpc import VllmGrpc

#: Below the frontend's limit of 32 MiB: a list of handles for some hundred thousand tensors.
BIG: int = 31 << 20


@pytest.fixture(scope="module")
async def running(frontend: StartFrontend, simulated_pair: Pair) -> AsyncIterator[FrontendProcess]:
    async with frontend(model=simulated_pair.a, backend="ipc") as process:
        yield process


@pytest.fixture(scope="module")
async def control(running: FrontendProcess) -> AsyncIterator[VllmGrpc]:
    adapter = VllmGrpc(running.grpc_target)
    yield adapter
    await adapter.close()


@pytest.fixture
async def engine(running: FrontendProcess, control: VllmGrpc) -> FrontendProcess:
    """Resumed, without an open update, and nothing goes wrong in it."""
    running.play(0, Script())
    try:
        await control.finish_update(None, deadline_s=CALL_S)
    except EngineError:
        pass  # none was open
    await control.resume(deadline_s=CALL_S)
    return running


#: Each call of the adapter, and the core's name of what it runs.
CALLS: dict[str, Callable[[VllmGrpc], Awaitable[object]]] = {
    "pause_generation": lambda c: c.pause(PauseMode.KEEP, clear_cache=True, deadline_s=CALL_S),
    "resume_scheduler": lambda c: c.resume(deadline_s=CALL_S),
    "is_scheduler_paused": lambda c: c.is_paused(deadline_s=CALL_S),
    "init_weight_transfer_engine": lambda c: c.init_transfer(b"{}", deadline_s=CALL_S),
    "start_weight_update": lambda c: c.start_update(deadline_s=CALL_S),
    "update_weights": lambda c: c.update(b"{}", deadline_s=CALL_S),
    "finish_weight_update": lambda c: c.finish_update("b", deadline_s=CALL_S),
    "set_weight_version": lambda c: c.set_version("b", deadline_s=CALL_S),
    "get_weight_version": lambda c: c.version(deadline_s=CALL_S),
}


@pytest.mark.parametrize("called", CALLS)
async def test_failure_in_the_core_is_unknown_and_carries_its_text(
    engine: FrontendProcess, control: VllmGrpc, called: str
) -> None:
    engine.play(0, Script(fails={called: "no space left on device"}))
    with pytest.raises(EngineStateUnknown, match=r"Internal.*no space left on device"):
        await CALLS[called](control)
    assert await control.info(deadline_s=CALL_S)


async def test_label_that_is_not_set_is_told_apart_from_weights_that_are_not_final(
    engine: FrontendProcess, control: VllmGrpc
) -> None:
    before = await control.version(deadline_s=CALL_S)
    await control.start_update(deadline_s=CALL_S)
    engine.play(0, Script(fails={"set_weight_version": "boom"}))
    with pytest.raises(EngineStateUnknown) as caught:
        await control.finish_update("b", deadline_s=CALL_S)
    assert caught.value.reason == LABEL_NOT_SET
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await control.finish_update("b", deadline_s=CALL_S)
    assert await control.version(deadline_s=CALL_S) == before


async def test_failed_pause_may_have_paused(engine: FrontendProcess, control: VllmGrpc) -> None:
    engine.play(
        0, Script(fails_after={"pause_generation": "Failed to reset the KV connector cache."})
    )
    with pytest.raises(EngineStateUnknown, match="KV connector cache"):
        await control.pause(PauseMode.KEEP, clear_cache=True, deadline_s=CALL_S)
    assert await control.is_paused(deadline_s=CALL_S)


async def test_call_that_hangs_gives_the_mutex_back_at_its_deadline(
    engine: FrontendProcess, control: VllmGrpc
) -> None:
    engine.play(0, Script(hangs=("update_weights",)))
    await control.start_update(deadline_s=CALL_S)
    update = asyncio.create_task(control.update(b"{}", deadline_s=1.0))

    async def mutex_is_held() -> bool:
        try:
            await control.resume(deadline_s=0.1)
        except EngineStateUnknown as unknown:
            return unknown.reason == "DeadlineExceeded"
        return False

    await eventually(mutex_is_held)
    assert not update.done()
    assert not await control.is_paused(deadline_s=CALL_S)  # a reading call takes no mutex
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await update
    await control.resume(deadline_s=CALL_S)


async def test_message_just_below_32_mib_arrives(
    engine: FrontendProcess, control: VllmGrpc
) -> None:
    await control.start_update(deadline_s=CALL_S)
    await control.update(b'{"handles": "%s"}' % (b"x" * BIG), deadline_s=CALL_S)


async def test_engine_that_was_paused_before_we_came_says_so(
    frontend: StartFrontend, simulated_pair: Pair
) -> None:
    async with frontend(
        model=simulated_pair.a, scripts=[Script(paused=True, version="b")]
    ) as process:
        adapter = VllmGrpc(process.grpc_target)
        assert await adapter.is_paused(deadline_s=CALL_S)
        assert await adapter.version(deadline_s=CALL_S) == "b"
        await adapter.close()


async def test_core_that_dies_in_a_call_takes_its_frontend_along(
    frontend: StartFrontend, simulated_pair: Pair
) -> None:
    async with frontend(
        model=simulated_pair.a, scripts=[Script(dies_at=("update_weights",))]
    ) as process:
        adapter = VllmGrpc(process.grpc_target)
        with pytest.raises(EngineStateUnknown):
            await adapter.update(b"{}", deadline_s=CALL_S)
        assert await process.exit_code() != 0

        async def unreachable() -> bool:
            try:
                await adapter.info(deadline_s=CALL_S)
            except EngineUnreachable:
                return True
            except EngineStateUnknown:
                return False  # the connection died under the call
            raise AssertionError("a dead engine answered")

        await eventually(unreachable)
        await adapter.close()


async def test_core_that_says_it_is_dead_fails_every_call_but_server_info(
    frontend: StartFrontend, simulated_pair: Pair
) -> None:
    """Only gRPC health tells; a frontend that manages the core ends when the core's process does."""
    broken = Script(gives_up_at=("is_scheduler_paused",))
    async with frontend(model=simulated_pair.a, scripts=[broken]) as process:
        adapter = VllmGrpc(process.grpc_target)
        assert await adapter.serving(deadline_s=CALL_S)
        for call in (adapter.is_paused(deadline_s=CALL_S), adapter.version(deadline_s=CALL_S)):
            with pytest.raises(EngineStateUnknown, match=r"Internal.*reported fatal failure"):
                await call
        assert await adapter.info(deadline_s=CALL_S)

        async def not_serving() -> bool:
            return not await adapter.serving(deadline_s=CALL_S)

        await eventually(not_serving)
        await adapter.close()


async def test_frontend_that_does_not_manage_its_core_outlives_it_and_looks_well(
    frontend: StartFrontend, simulated_pair: Pair
) -> None:
    """So GetServerInfo proves a live engine only where the frontend manages it."""
    async with frontend(model=simulated_pair.a, unmanaged=True) as process:
        adapter = VllmGrpc(process.grpc_target)
        assert not await adapter.is_paused(deadline_s=CALL_S)
        process.kill_cores()
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await adapter.is_paused(deadline_s=0.5)
        assert await adapter.info(deadline_s=CALL_S)
        await adapter.close()
