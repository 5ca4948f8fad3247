"""A call that nobody waits for any more, and that the engine executes all the same, whatever came since."""

from collections.abc import AsyncIterator

import pytest

from localcluster.waiting import eventually
from misbehaving import Misbehaving, fault, misbehaving
from onepod import ENDS_S

pytestmark = [pytest.mark.slow, pytest.mark.faults]


@pytest.fixture(scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Misbehaving]:
    async with misbehaving(tmp_path_factory.mktemp("pod")) as ground:
        yield ground


async def executed(ground: Misbehaving) -> None:
    """Long after the call was given up, and after all that followed."""

    async def none_is_left() -> bool:
        return bool((await ground.pod.engine.state())["late"] == 0)

    await ground.pod.engine.set_faults()
    await eventually(none_is_left, ENDS_S, "the late call is executed")


async def test_late_pause_takes_the_pod_out_until_it_is_swapped(ground: Misbehaving) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("PauseGeneration", "late", at=1))
    assert (end.outcome, end.reason) == ("Untouched", "PauseFailed")
    await executed(ground)
    await ground.pod.until(lambda state: state.not_ready_reason == "EnginePaused")
    await ground.recovers()


@pytest.mark.parametrize("call", ["StartWeightUpdate", "FinishWeightUpdate", "ResumeGeneration"])
async def test_call_that_is_late_was_sent_again_and_changes_nothing_afterwards(
    ground: Misbehaving, call: str
) -> None:
    await ground.settle()
    end = await ground.swap_under(fault(call, "late", at=1))
    assert (end.outcome, end.reason) == ("Committed", "")
    await executed(ground)
    assert await ground.in_service_with("c")
    await ground.recovers()


async def test_late_init_does_not_unprepare_what_is_served(ground: Misbehaving) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("InitWeightTransferEngine", "late", at=1))
    assert end.outcome == "Untouched"
    await executed(ground)
    assert await ground.in_service_with("b")
    await ground.recovers()


async def test_late_update_writes_nothing_into_weights_that_serve_again(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("UpdateWeights", "late", at=1), deadline_s=1.0)
    assert (end.outcome, end.reason) == ("Undone", "PodDeadlineExceeded")
    await executed(ground)
    assert await ground.in_service_with("b")
    await ground.recovers()


async def test_late_version_on_other_weights_takes_the_pod_out(ground: Misbehaving) -> None:
    """The target was undone, and then its version is set on last good."""
    await ground.settle()
    end = await ground.swap_under(
        fault("FinishWeightUpdate", "label_fails", at=1),
        fault("UpdateWeightVersion", "late", at=1),
        fault("UpdateWeights", "error", at=2),
    )
    assert (end.outcome, end.reason) == ("Undone", "TransferFailed")
    await executed(ground)
    assert await ground.pod.answers_with("b")
    await ground.pod.until(lambda state: state.not_ready_reason == "ServingUnknown")
    await ground.recovers()
