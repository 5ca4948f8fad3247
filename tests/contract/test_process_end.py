"""The ways an engine process ends and comes back."""

import asyncio
import signal

import pytest

from contract.subjects import Can, StartEngine, needs, seen
from contract.under_test import CALL_S, EngineUnderTest, eventually
from weightrollout.engine.errors import (
    EngineError,
    EngineRefused,
    EngineStateUnknown,
    EngineUnreachable,
)
from weightrollout.handover import files, records
from weightrollout.handover.records import ExitRequest, InitInfo


@needs(Can.MANAGE_ITS_ENGINE)
@seen("0.32", "0.33")
async def test_shutdown_ends_an_engine_that_its_frontend_manages(
    own_engine: EngineUnderTest,
) -> None:
    await own_engine.control.shutdown(deadline_s=CALL_S)
    assert await own_engine.process.exit_code() == 0


@needs(Can.RUN_UNMANAGED)
async def test_shutdown_is_refused_where_the_frontend_does_not_manage_the_engine(
    start_engine: StartEngine,
) -> None:
    async with start_engine(unmanaged=True) as engine:
        with pytest.raises(
            EngineRefused, match=r"FailedPrecondition.*does not manage the engine process"
        ):
            await engine.control.shutdown(deadline_s=CALL_S)


@seen("0.28", "0.29", "0.30", "0.31")
async def test_shutdown_is_unknown_before_0_32(start_engine: StartEngine) -> None:
    async with start_engine(vllm="0.31") as engine:
        with pytest.raises(EngineRefused, match="ControlCallMissing"):
            await engine.control.shutdown(deadline_s=CALL_S)


@needs(Can.WRITE_FILES)
async def test_exit_request_ends_the_engine_it_names_and_is_removed(
    own_engine: EngineUnderTest,
) -> None:
    path = files.exit_request(own_engine.handover)
    records.write(path, ExitRequest(own_engine.reports()[0].instance, "poisoned"))
    await own_engine.process.exit_code()
    assert not path.exists()


@needs(Can.WRITE_FILES)
async def test_exit_request_for_an_earlier_process_is_removed_and_ignored(
    engine: EngineUnderTest,
) -> None:
    path = files.exit_request(engine.handover)
    records.write(path, ExitRequest("an earlier one", "poisoned"))

    async def removed() -> bool:
        return not path.exists()

    await eventually(removed)
    assert await engine.complete("still there?")


@needs(Can.WRITE_FILES)
async def test_restarted_engine_leaves_no_file_of_the_process_before_it(
    own_engine: EngineUnderTest,
) -> None:
    [before] = own_engine.reports()
    await own_engine.prepare(InitInfo("uid/1/pod/0", "sha256:0", "images/0/0"))
    own_engine.process.kill()
    await own_engine.process.exit_code()
    records.write(files.exit_request(own_engine.handover), ExitRequest(before.instance, "too late"))
    await own_engine.restart()
    assert [path.name for path in own_engine.handover.iterdir()] == ["report-rank0.json"]
    [after] = own_engine.reports()
    assert after.instance != before.instance
    assert after.plan.plan_id() == before.plan.plan_id()


@needs(Can.DRAIN)
async def test_sigterm_lets_running_requests_end_where_the_engine_was_given_time(
    start_engine: StartEngine,
) -> None:
    async with start_engine(drain_seconds=60.0) as engine:
        prompt = asyncio.create_task(engine.tokens("a long one", 50))
        await eventually(engine.busy)
        engine.process.kill(signal.SIGTERM)
        assert len(await prompt) == 50
        assert await engine.process.exit_code() == 0


@seen("0.33")
async def test_sigterm_cuts_running_requests_by_default(own_engine: EngineUnderTest) -> None:
    prompt = asyncio.create_task(own_engine.complete("an endless one", 8000))
    await eventually(own_engine.busy)
    own_engine.process.kill(signal.SIGTERM)
    with pytest.raises(EngineError):
        await prompt
    assert await own_engine.process.exit_code() == 0


@needs(Can.END_WHOLE)
async def test_engine_that_is_gone_is_unreachable(own_engine: EngineUnderTest) -> None:
    await own_engine.control.info(deadline_s=CALL_S)
    own_engine.process.kill()
    await own_engine.process.exit_code()

    async def unreachable() -> bool:
        """A call on the connection that dies under it may have arrived, for all that is known."""
        try:
            await own_engine.control.info(deadline_s=CALL_S)
        except EngineUnreachable:
            return True
        except EngineStateUnknown:
            return False
        raise AssertionError("a dead engine answered")

    await eventually(unreachable)
    with pytest.raises(EngineUnreachable):
        await own_engine.complete("anyone?")
