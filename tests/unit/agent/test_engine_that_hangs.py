"""An engine that does not answer, in every call of a swap: the outcome, the readiness, the way back."""

from collections.abc import AsyncIterator

import pytest

from misbehaving import Misbehaving, fault, misbehaving
from weightrollout.api.swap import SwapPhase

pytestmark = [pytest.mark.slow, pytest.mark.faults]


@pytest.fixture(scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Misbehaving]:
    async with misbehaving(tmp_path_factory.mktemp("pod")) as ground:
        yield ground


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("InitWeightTransferEngine", "PrepareFailed"),
        ("metrics", "DrainFailed"),
        ("PauseGeneration", "PauseFailed"),
    ],
)
async def test_hang_before_start_leaves_the_pod_in_service(
    ground: Misbehaving, call: str, reason: str
) -> None:
    end = await ground.swap_under(fault(call, "hang"))
    assert (end.outcome, end.failure_class, end.reason) == ("Untouched", "Pod", reason)
    await ground.pod.until(lambda state: state.ready)
    assert await ground.in_service_with("b")
    await ground.recovers()


async def test_image_that_is_never_prepared_is_given_up_before_any_pause(
    ground: Misbehaving,
) -> None:
    before = (await ground.pod.engine.state())["calls"]["PauseGeneration"]
    end = await ground.swap_under(fault("InitWeightTransferEngine", "ok_nothing"), deadline_s=1.0)
    assert (end.outcome, end.reason) == ("Untouched", "PodDeadlineExceeded")
    assert "was not prepared" in end.message
    assert (await ground.pod.engine.state())["calls"]["PauseGeneration"] == before
    assert await ground.in_service_with("b")
    await ground.recovers()


@pytest.mark.parametrize("call", ["IsPaused", "GetWeightVersion"])
async def test_paused_engine_that_cannot_be_read_back_is_out_until_it_restarts(
    ground: Misbehaving, call: str
) -> None:
    end = await ground.swap_under(fault(call, "hang"), deadline_s=1.0)
    assert (end.outcome, end.reason) == ("Poisoned", "EngineUnreachable")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_engine_that_stops_saying_who_it_is_in_mid_swap_is_out(ground: Misbehaving) -> None:
    end = await ground.swap_under_from(
        SwapPhase.TRANSFERRING, fault("GetServerInfo", "hang"), deadline_s=1.5
    )
    assert (end.outcome, end.reason) == ("Poisoned", "EngineUnreachable")
    assert await ground.pod.readyz() == (503, "EngineUnreachable")
    await ground.pod.engine.set_faults()
    await ground.pod.until(lambda state: state.not_ready_reason == "Poisoned")
    await ground.recovers()


@pytest.mark.parametrize(
    ("call", "deadline_s"),
    [("StartWeightUpdate", 6.0), ("UpdateWeights", 1.0), ("FinishWeightUpdate", 6.0)],
)
async def test_engine_that_hangs_after_start_is_never_resumed(
    ground: Misbehaving, call: str, deadline_s: float
) -> None:
    before = (await ground.pod.engine.state())["calls"]["ResumeGeneration"]
    end = await ground.swap_under(fault(call, "hang"), deadline_s=deadline_s)
    assert end.outcome == "Poisoned"
    assert end.reason in ("TransferFailed", "PodDeadlineExceeded")
    engine = await ground.pod.engine.state()
    assert engine["paused"] is not None
    assert engine["calls"]["ResumeGeneration"] == before
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


@pytest.mark.parametrize("call", ["StartWeightUpdate", "FinishWeightUpdate", "ResumeGeneration"])
async def test_call_that_hangs_once_is_made_good_within_the_same_swap(
    ground: Misbehaving, call: str
) -> None:
    end = await ground.swap_under(fault(call, "hang", at=1))
    assert (end.outcome, end.reason) == ("Committed", "")
    assert await ground.in_service_with("c")
    await ground.recovers()


async def test_update_that_hangs_once_until_the_deadline_is_undone(ground: Misbehaving) -> None:
    end = await ground.swap_under(fault("UpdateWeights", "hang", at=1), deadline_s=1.0)
    assert (end.outcome, end.reason) == ("Undone", "PodDeadlineExceeded")
    assert await ground.in_service_with("b")
    await ground.recovers()


async def test_whole_engine_that_cannot_be_resumed_is_out_and_reported(ground: Misbehaving) -> None:
    end = await ground.swap_under(fault("ResumeGeneration", "hang"))
    assert (end.outcome, end.reason) == ("Poisoned", "ResumeLost")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_engine_that_answers_no_prompt_goes_back_to_what_answered(
    ground: Misbehaving,
) -> None:
    end = await ground.swap_under(fault("completions", "hang"))
    assert (end.outcome, end.failure_class, end.reason) == ("Undone", "Pod", "VerifyFailed")
    assert await ground.pod.readyz() == (200, "")
    await ground.recovers()


async def test_engine_core_that_is_stuck_is_out_until_it_restarts(ground: Misbehaving) -> None:
    """Every call that reaches the core waits behind it, also Resume and the read back."""
    end = await ground.swap_under(
        fault("PauseGeneration", "slow", at=1, seconds=600), deadline_s=1.0
    )
    assert (end.outcome, end.reason) == ("Poisoned", "EngineUnreachable")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()
