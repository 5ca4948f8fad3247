"""Each scripted fault, seen by a caller: what it hears, and what the engine then really holds."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import checkpoints
from contract.under_test import CALL_S, EngineUnderTest, eventually, simulated
from simulator import answers
from weightrollout.api.spec import PauseMode
from weightrollout.engine.errors import EngineRefused, EngineStateUnknown
from weightrollout.engine.vllm_http import VllmHttp
from weightrollout.handover import files, records
from weightrollout.handover.records import ImageIndex

pytestmark = pytest.mark.slow

PROMPT = "tell me a story"


@pytest.fixture(scope="module")
def b(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoints.write_checkpoint(tmp_path_factory.mktemp("b"), seed=2)


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EngineUnderTest]:
    folder = tmp_path_factory.mktemp("engine")
    a = checkpoints.write_checkpoint(folder / "a", seed=1)
    async with simulated(folder, a) as engine:
        yield engine


@pytest.fixture
async def engine(shared: EngineUnderTest) -> EngineUnderTest:
    await shared.simulation.set_faults()
    await shared.resume()
    return shared


async def calls(engine: EngineUnderTest, name: str) -> int:
    count: int = (await engine.simulation.state())["calls"].get(name, 0)
    return count


async def reached(engine: EngineUnderTest, name: str, count: int) -> bool:
    return await calls(engine, name) >= count


async def holds(engine: EngineUnderTest, checkpoint: Path) -> bool:
    fingerprint: int = (await engine.simulation.state())["fingerprint"]
    return fingerprint == checkpoints.fingerprint(checkpoint)


def fault(call: str, do: str, **more: Any) -> dict[str, Any]:
    return {"call": call, "do": do, **more}


async def test_refused_pause_does_not_pause(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "refuse", at=1))
    with pytest.raises(EngineRefused, match="FailedPrecondition"):
        await engine.pause()
    assert not await engine.is_paused()


async def test_pause_that_fails_afterwards_has_paused(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "error_after", at=1))
    with pytest.raises(EngineStateUnknown, match="Internal"):
        await engine.pause()
    assert await engine.is_paused()


async def test_pause_that_answers_ok_and_did_nothing_shows_in_is_paused(
    engine: EngineUnderTest,
) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "ok_nothing"))
    await engine.pause()
    assert not await engine.is_paused()


async def test_code_of_a_fault_can_be_chosen(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("info", "error", code="UNAVAILABLE"))
    with pytest.raises(EngineStateUnknown, match="Unavailable"):
        await engine.control.info(deadline_s=CALL_S)


async def test_hanging_call_holds_the_mutex_until_its_caller_leaves(
    engine: EngineUnderTest,
) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "hang", at=1))
    before = await calls(engine, "PauseGeneration")
    hanging = asyncio.create_task(engine.pause())
    await eventually(lambda: reached(engine, "PauseGeneration", before + 1))
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await engine.control.resume(deadline_s=0.1)
    hanging.cancel()
    await engine.resume()
    assert not await engine.is_paused()


async def test_slow_call_is_executed_though_its_caller_gave_up(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "slow", seconds=1.0))
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await engine.control.pause(PauseMode.KEEP, clear_cache=True, deadline_s=0.5)
    assert await engine.is_paused()


async def test_update_that_did_nothing_leaves_no_receipt_and_the_old_weights(
    engine: EngineUnderTest, b: Path
) -> None:
    before = await engine.complete(PROMPT)
    await engine.simulation.set_faults(fault("UpdateWeights", "ok_nothing"))
    info = await engine.swap(b, "lie")
    assert not files.receipt(engine.handover, info.txn, 0).exists()
    assert await engine.complete(PROMPT) == before


async def test_lying_receipt_disproves_good_weights(engine: EngineUnderTest, b: Path) -> None:
    await engine.simulation.set_faults(fault("UpdateWeights", "lie_receipt"))
    info = await engine.swap(b, "b")
    index = records.read(ImageIndex, engine.staging / info.region / files.INDEX)
    assert index is not None
    assert engine.receipt(info).blocks != index.ranks[0].blocks
    assert await holds(engine, b)


async def test_stale_block_is_seen_in_the_answers_alone(
    engine: EngineUnderTest, b: Path, tmp_path: Path
) -> None:
    c = checkpoints.write_checkpoint(tmp_path, seed=3)
    await engine.simulation.set_faults(fault("UpdateWeights", "stale_block"))
    info = await engine.swap(c, "c")
    index = records.read(ImageIndex, engine.staging / info.region / files.INDEX)
    assert index is not None
    assert engine.receipt(info).blocks == index.ranks[0].blocks
    tokens = answers.split(await engine.complete(PROMPT))
    known = {"b": checkpoints.fingerprint(b), "c": checkpoints.fingerprint(c)}
    assert answers.explain(tokens, PROMPT, known) is None


async def test_label_that_fails_leaves_finalised_weights_under_the_old_version(
    engine: EngineUnderTest, b: Path
) -> None:
    await engine.control.set_version("before", deadline_s=CALL_S)
    await engine.simulation.set_faults(fault("FinishWeightUpdate", "label_fails", at=1))
    with pytest.raises(EngineStateUnknown, match="LabelNotSet"):
        await engine.transfer(b, "b")
    assert await engine.control.version(deadline_s=CALL_S) == "before"
    with pytest.raises(EngineStateUnknown, match="without a matching start"):
        await engine.control.finish_update("b", deadline_s=CALL_S)
    assert await holds(engine, b)


async def test_version_can_be_lied_about(engine: EngineUnderTest) -> None:
    await engine.control.set_version("true", deadline_s=CALL_S)
    await engine.simulation.set_faults(fault("GetWeightVersion", "lie_version", at=1))
    assert await engine.control.version(deadline_s=CALL_S) != "true"
    assert await engine.control.version(deadline_s=CALL_S) == "true"


async def test_completions_can_be_refused(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("completions", "refuse", at=1))
    with pytest.raises(EngineRefused, match="503"):
        await engine.complete(PROMPT)
    assert await engine.complete(PROMPT)


async def test_wrong_fault_is_refused_with_the_reason(engine: EngineUnderTest) -> None:
    with pytest.raises(ValueError, match="no call 'Bogus'"):
        await engine.simulation.set_faults(fault("Bogus", "die"))


@pytest.mark.parametrize("do", ["die", "die_midway"])
async def test_engine_that_dies_in_an_update_comes_back_with_its_first_weights(
    tmp_path: Path, b: Path, do: str
) -> None:
    a = checkpoints.write_checkpoint(tmp_path / "a", seed=1)
    async with simulated(tmp_path, a) as engine:
        await engine.simulation.set_faults(fault("UpdateWeights", do))
        with pytest.raises(EngineStateUnknown, match="Unavailable"):
            await engine.transfer(b, "b")
        assert await engine.process.exit_code() == 1
        await engine.restart()
        assert await holds(engine, a)


async def test_update_that_fails_midway_leaves_a_torn_half_loaded_model(
    tmp_path: Path, b: Path
) -> None:
    a = checkpoints.write_checkpoint(tmp_path / "a", seed=1)
    async with simulated(tmp_path, a) as engine:
        await engine.simulation.set_faults(fault("UpdateWeights", "error", at=1))
        await engine.pause()
        with pytest.raises(EngineStateUnknown, match="Internal"):
            await engine.transfer(b, "b")
        assert not await holds(engine, a)
        assert not await holds(engine, b)
        assert (await engine.simulation.state())["halfLoaded"]
        await engine.transfer(b, "b")
        await engine.resume()
        assert await holds(engine, b)
        assert await engine.complete(PROMPT)


async def test_late_call_is_executed_when_the_faults_are_replaced(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "late", at=1))
    with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
        await engine.control.pause(PauseMode.KEEP, clear_cache=True, deadline_s=0.2)
    assert not await engine.is_paused()
    await engine.simulation.set_faults()
    await eventually(engine.is_paused)


async def test_engine_that_resumes_by_itself_answered_well(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("PauseGeneration", "resumes", at=1))
    await engine.pause()
    assert not await engine.is_paused()


async def test_engine_names_another_process_while_it_is_told_to(engine: EngineUnderTest) -> None:
    await engine.simulation.set_faults(fault("info", "lie_instance", at=1))
    assert (await engine.control.info(deadline_s=CALL_S)).instance == "a-lie"
    assert (await engine.control.info(deadline_s=CALL_S)).instance == engine.simulation.instance


async def test_hanging_metrics_page_is_not_answered(engine: EngineUnderTest) -> None:
    inference = VllmHttp(engine.process.http_url)
    await engine.simulation.set_faults(fault("metrics", "hang"))
    try:
        with pytest.raises(EngineStateUnknown, match="DeadlineExceeded"):
            await inference.load(deadline_s=0.2)
    finally:
        await inference.close()
