"""An engine that answers well and did something else: no lie puts unknown weights in service."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from localcluster.waiting import eventually
from misbehaving import Misbehaving, fault, misbehaving
from onepod import ENDS_S, Refusal
from weightrollout.api.swap import SwapPhase
from weightrollout.engine.vllm_grpc import VllmGrpc
from weightrollout.handover import files
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = [pytest.mark.slow, pytest.mark.faults]

RECEIPTS = {
    "lie_receipt": "wrong checksum",
    "receipt_without_block": "blocks",
    "receipt_of_other_txn": "transaction another",
    "receipt_of_other_instance": "instance another",
    "receipt_torn": "receipt-",
    "receipt_of_rank_missing": "rank 1 wrote no receipt",
}


@pytest.fixture(scope="module")
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Misbehaving]:
    async with misbehaving(tmp_path_factory.mktemp("pod")) as ground:
        yield ground


# -- receipts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lie", RECEIPTS)
async def test_receipt_that_lies_twice_sends_the_pod_back_to_last_good(
    ground: Misbehaving, lie: str
) -> None:
    await ground.settle()
    lies = [fault("UpdateWeights", lie, at=number) for number in (1, 2)]
    end = await ground.swap_under(*lies)
    assert end.outcome == "Undone"
    assert end.reason in ("ReceiptsDiffer", "HandoverUnreadable")
    assert RECEIPTS[lie] in end.message
    assert await ground.in_service_with("b")
    await ground.traffic.more(1)
    assert ground.traffic.tally.unexplained == 0


async def test_engine_whose_receipts_are_never_true_is_out(ground: Misbehaving) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("UpdateWeights", "ok_nothing"))
    assert (end.outcome, end.reason) == ("Poisoned", "ReceiptsDiffer")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


# -- OK, and nothing was done -----------------------------------------------------------------


async def test_start_that_never_happens_is_found_before_the_pod_returns(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("StartWeightUpdate", "ok_nothing"))
    assert (end.outcome, end.reason) == ("Poisoned", "TransferFailed")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_finish_that_never_happens_is_found_before_the_pod_returns(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("FinishWeightUpdate", "ok_nothing"))
    assert end.outcome == "Poisoned"
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_resume_that_never_happens_is_reported(ground: Misbehaving) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("ResumeGeneration", "ok_nothing"))
    assert (end.outcome, end.reason) == ("Poisoned", "ResumeLost")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_load_that_cannot_be_read_pauses_nothing(ground: Misbehaving) -> None:
    await ground.settle()
    before = (await ground.pod.engine.state())["calls"]["PauseGeneration"]
    end = await ground.swap_under(fault("metrics", "ok_nothing"))
    assert (end.outcome, end.reason) == ("Untouched", "DrainFailed")
    assert (await ground.pod.engine.state())["calls"]["PauseGeneration"] == before
    assert await ground.in_service_with("b")


async def test_engine_that_denies_its_pause_is_found_out_when_it_admits_it(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("IsPaused", "ok_nothing"))
    assert (end.outcome, end.reason) == ("Untouched", "PauseNotConfirmed")
    assert (await ground.pod.engine.state())["paused"] is not None
    await ground.pod.engine.set_faults()
    await ground.pod.until(lambda state: state.not_ready_reason == "EnginePaused")
    await ground.recovers()


async def test_engine_that_says_no_version_is_out(ground: Misbehaving) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("GetWeightVersion", "ok_nothing"))
    assert (end.outcome, end.reason) == ("Poisoned", "VersionNotConfirmed")
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_serving_engine_whose_version_changes_by_itself_is_out_until_proven(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    await ground.pod.engine.set_faults(fault("GetWeightVersion", "lie_version"))
    await ground.pod.until(lambda state: state.not_ready_reason == "ServingUnknown")
    assert not (await ground.pod.state()).serving.version
    await ground.recovers()


# -- who it is --------------------------------------------------------------------------------


async def test_engine_that_names_another_process_in_mid_swap_does_not_return_by_that(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    end = await ground.swap_under_from(
        SwapPhase.TRANSFERRING, fault("GetServerInfo", "lie_instance")
    )
    assert (end.outcome, end.reason) == ("Restarted", "EngineRestarted")
    assert (await ground.pod.readyz())[0] == 503
    await ground.recovers()


async def test_engine_that_named_another_process_never_passes_for_untouched(
    tmp_path: Path,
) -> None:
    """It was new when the swap began, has its first version still, and holds other weights."""
    async with misbehaving(tmp_path, baseline=True) as ground:
        await eventually(lambda: ground.router.ready, ENDS_S, "base weights are in service")
        end = await ground.swap_under_from(
            SwapPhase.TRANSFERRING,
            fault("UpdateWeights", "lie_receipt"),
            fault("GetServerInfo", "lie_instance"),
        )
        assert end.outcome == "Restarted"
        await ground.pod.engine.set_faults()
        await ground.known()
        await _resume_by_hand(ground)
        state = await ground.pod.until(
            lambda state: not state.paused and bool(state.engine.weight_version)
        )
        assert state.engine.weight_version == "default"
        assert not state.engine.baseline
        assert await ground.pod.readyz() == (503, "ServingUnknown")
        await ground.recovers()


@pytest.mark.parametrize(
    ("tampered", "reason"),
    [
        ("half", "EngineReportUnreadable"),
        ("of another instance", "ReportOfAnotherInstance"),
        ("of another schema", "EngineReportUnreadable"),
    ],
)
async def test_report_that_is_torn_or_foreign_refuses_the_swap_and_takes_nobody_out(
    ground: Misbehaving, tampered: str, reason: str
) -> None:
    await ground.settle()
    path = files.report(ground.pod.handover, 1)
    whole = path.read_bytes()
    await ground.pod.agent.end()
    said = json.loads(whole)
    path.write_bytes(
        {
            "half": whole[: len(whole) // 2],
            "of another instance": json.dumps(said | {"instance": "another"}).encode(),
            "of another schema": json.dumps(said | {"schema": 99}).encode(),
        }[tampered]
    )
    await ground.pod.agent.start()
    state = await ground.pod.until(lambda state: bool(state.incompatible_reason))
    assert state.incompatible_reason == reason
    assert await ground.in_service_with("b")
    with pytest.raises(Refusal, match=reason):
        await ground.pod.reserve("c", ground.txn())
    path.write_bytes(whole)
    await ground.pod.until(lambda state: not state.incompatible_reason)
    await ground.recovers()


# -- it runs when it should not, or not when it should ------------------------------------------


@pytest.mark.parametrize("call", ["StartWeightUpdate", "UpdateWeights", "FinishWeightUpdate"])
async def test_engine_that_resumes_by_itself_in_mid_update_returns_without_stale_caches(
    ground: Misbehaving, call: str
) -> None:
    """A request that runs in the gap leaves keys and values of the old weights behind."""
    await ground.settle()
    prompt = "a prompt that is longer than one block of keys and values"
    async with ground.stream(prompt):
        end = await ground.swap_under(fault(call, "resumes", at=1), drain_seconds=0.1)
    assert (end.outcome, end.reason) == ("Committed", "")
    assert ground.explains(prompt, await ground.ask(prompt)) == ("c",)
    await ground.recovers()


async def test_engine_that_always_resumes_by_itself_is_out(ground: Misbehaving) -> None:
    await ground.settle()
    end = await ground.swap_under(fault("FinishWeightUpdate", "resumes"))
    assert (end.outcome, end.reason) == ("Poisoned", "EngineResumed")
    assert (await ground.pod.engine.state())["paused"] is not None
    assert await ground.pod.readyz() == (503, "Poisoned")
    await ground.recovers()


async def test_engine_that_dies_at_its_first_prompt_is_swapped_again(ground: Misbehaving) -> None:
    await ground.settle()
    txn = await ground.reserved("c")
    await ground.pod.engine.set_faults(fault("completions", "die"))
    call = ground.pod.stub.Swap(ground.pod.swap_request("c", txn, drain_seconds=0.1), timeout=30)
    await ground.pod.engine.exit_code()
    await ground.come_back()
    *_, last = [each async for each in call]
    assert last.transaction.outcome == "Restarted"
    await ground.pod.until(lambda state: state.not_ready_reason == "NotServingTold")
    await ground.recovers("c")


async def test_engine_that_dies_at_the_first_request_after_a_swap_comes_back_out_of_service(
    ground: Misbehaving,
) -> None:
    """Nothing was asked for the proof, so the first client kills it."""
    await ground.settle()
    end = await ground.swap_under(fault("completions", "die"), prompts=[])
    assert end.outcome == "Committed"
    await ground.pod.engine.exit_code()
    await ground.come_back()
    state = await ground.pod.until(lambda state: state.not_ready_reason == "NotServingTold")
    assert state.engine.baseline
    await ground.recovers("c")


# -- clients that do not let go -----------------------------------------------------------------


async def test_stream_that_never_ends_is_kept_through_swaps_and_explained(
    ground: Misbehaving,
) -> None:
    await ground.settle()
    async with ground.stream("a story without an end") as words:
        for name in ("c", "b"):
            txn = await ground.reserved(name)
            end = await ground.pod.swap(name, txn, drain_seconds=0.1)
            assert end.outcome == "Committed"
            await ground.heard(words, len(words) + 20)
        got = ground.explains("a story without an end", words, parts=3)
    assert got == ("b", "c", "b")


async def test_stream_that_never_ends_is_aborted_where_that_is_asked(ground: Misbehaving) -> None:
    await ground.settle()
    async with ground.stream("a story without an end") as words:
        end = await ground.swap_under(drain_seconds=0.1, pause_mode=pb.PAUSE_MODE_ABORT)
        assert end.outcome == "Committed"
        await ground.stream_ended()
    assert ground.explains("a story without an end", words) == ("b",)
    await ground.recovers()


async def _resume_by_hand(ground: Misbehaving) -> None:
    engine = VllmGrpc(ground.pod.engine.grpc_target)
    try:
        await engine.resume(deadline_s=10)
    finally:
        await engine.close()
