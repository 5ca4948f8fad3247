"""The agent is killed, restarted or left alone: nothing is forgotten and nobody waits for ever."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from localcluster.waiting import eventually
from onepod import ENDS_S, OnePod, one_pod
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = pytest.mark.slow


async def begin_swap(pod: OnePod, name: str, txn: str, *, until: str) -> None:
    """Start a swap and leave it in the given phase, as an operator does that dies."""
    await pod.stage(name)
    await pod.reserve(name, txn)
    call = pod.stub.Swap(pod.swap_request(name, txn), timeout=30)
    async for each in call:
        if each.transaction.phase == until:
            break
    call.cancel()


async def ended(pod: OnePod, txn: str) -> pb.Transaction:
    state = await pod.until(lambda it: it.transaction.txn == txn and it.transaction.outcome != "")
    return state.transaction


@pytest.mark.parametrize(
    ("phase", "slow", "flags"),
    [
        ("Transferring", None, {"update_seconds": 1.0}),
        ("Finishing", {"call": "FinishWeightUpdate", "do": "slow", "seconds": 1.0}, {}),
        ("Resuming", {"call": "ResumeGeneration", "do": "slow", "seconds": 1.0}, {}),
        ("Verifying", {"call": "completions", "at": 1, "do": "slow", "seconds": 1.0}, {}),
    ],
)
async def test_killed_agent_comes_back_and_finishes_the_swap(
    tmp_path: Path, phase: str, slow: dict[str, object] | None, flags: dict[str, Any]
) -> None:
    async with one_pod(tmp_path, killable=True, **flags) as pod:
        await pod.hello()
        if slow:
            await pod.engine.set_faults(slow)
        await begin_swap(pod, "b", "txn-1", until=phase)
        await pod.agent.end(signal.SIGKILL)
        await pod.agent.start()
        end = await ended(pod, "txn-1")
        assert (end.outcome, end.reason) == ("Committed", "")
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("b")


async def test_agent_killed_around_the_pause_resumes_the_engine(tmp_path: Path) -> None:
    async with one_pod(tmp_path, killable=True) as pod:
        await pod.hello()
        await pod.engine.set_faults({"call": "PauseGeneration", "do": "slow", "seconds": 1.0})
        await begin_swap(pod, "b", "txn-1", until="Pausing")
        await pod.agent.end(signal.SIGKILL)
        await pod.agent.start()
        end = await ended(pod, "txn-1")
        assert (end.outcome, end.reason) == ("Untouched", "AgentRestarted")
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("a")


async def test_swap_whose_operator_died_ends_by_itself(tmp_path: Path) -> None:
    async with one_pod(tmp_path, update_seconds=0.5) as pod:
        await pod.hello()
        await begin_swap(pod, "b", "txn-1", until="Transferring")
        assert (await ended(pod, "txn-1")).outcome == "Committed"
        again = await pod.swap("b", "txn-1")
        assert again.outcome == "Committed"
        assert (await pod.engine.state())["calls"]["UpdateWeights"] == 1


async def test_restarted_agent_is_ready_again_without_a_swap(tmp_path: Path) -> None:
    async with one_pod(tmp_path, killable=True) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        assert await pod.agent.end(signal.SIGTERM) == 0
        await pod.agent.start()
        state = await pod.until(lambda it: it.ready)
        assert state.serving == pod.weights("b")
        assert state.transaction.txn == "txn-1"
        assert (await pod.engine.state())["calls"]["UpdateWeights"] == 1


async def test_restarted_engine_is_not_ready_with_its_base_weights(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        pod.engine.kill()
        await pod.until(lambda it: it.not_ready_reason == "EngineUnreachable")
        await pod.engine.restart()
        state = await pod.until(lambda it: it.engine.baseline)
        assert state.not_ready_reason == "NotServingTold"
        assert state.serving.revision == "baseline"


async def test_lost_journal_keeps_swapped_weights_out_of_service(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.agent.end()
        (pod.staging / "journal.json").write_text('{"schema": 1, "epoch": "many"')
        await pod.agent.start()
        state = await pod.until(lambda it: it.engine.weight_version != "")
        assert (state.ready, state.not_ready_reason) == (False, "ServingUnknown")
        assert (pod.staging / "journal.corrupt-1").exists()
        await pod.hello()
        assert (await pod.bring("b", "txn-2")).outcome == "Committed"


async def test_lost_journal_of_an_untouched_engine_is_harmless(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.agent.end()
        (pod.staging / "journal.json").write_bytes(b"")
        await pod.agent.start()
        state = await pod.until(lambda it: it.ready)
        assert state.engine.baseline


async def test_reservation_of_a_silent_operator_ends_by_its_ttl(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b", "txn-1", ttl_s=0.5)
        assert await pod.readyz() == (503, "Reserved")
        await pod.until(lambda it: it.ready and not it.HasField("reservation"))
        assert await pod.readyz() == (200, "")


async def test_reservation_survives_a_restart_of_the_agent(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b", "txn-1", ttl_s=20)
        await pod.agent.end()
        await pod.agent.start()
        state = await pod.until(lambda it: it.engine.reachable)
        assert state.reservation.txn == "txn-1"
        assert state.not_ready_reason == "Reserved"
        assert (await pod.swap("b", "txn-1")).outcome == "Committed"


async def test_pod_stays_in_service_through_a_swap_with_take_out_none(tmp_path: Path) -> None:
    async with one_pod(tmp_path, update_seconds=1.5) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b", "txn-1", in_service=True)
        swap = asyncio.create_task(pod.swap("b", "txn-1"))
        seen = set()
        while not swap.done():
            seen.add(await pod.readyz())
            await asyncio.wait({swap}, timeout=0.05)
        assert (await swap).outcome == "Committed"
        assert seen == {(200, "")}


async def test_pod_is_out_from_its_reservation_to_the_end_of_its_swap(tmp_path: Path) -> None:
    async with one_pod(tmp_path, update_seconds=0.5) as pod:
        await pod.hello()
        await pod.until(lambda it: it.ready)
        assert await pod.readyz() == (200, "")
        await pod.stage("b")
        assert await pod.readyz() == (200, "")
        await pod.reserve("b", "txn-1")
        assert await pod.readyz() == (503, "Reserved")
        await begin_swap(pod, "b", "txn-1", until="Transferring")
        assert await pod.readyz() == (503, "Swapping")
        await ended(pod, "txn-1")
        assert await pod.readyz() == (200, "")


async def test_engine_that_dies_while_it_prepares_is_not_waited_for_to_the_deadline(
    tmp_path: Path,
) -> None:
    """The file that the swap waits for would have been written by a process that is gone."""
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b", "txn-1")
        await pod.engine.set_faults({"call": "InitWeightTransferEngine", "do": "ok_nothing"})
        request = pod.swap_request("b", "txn-1", deadline_s=300.0)
        call = pod.stub.Swap(request, timeout=ENDS_S)
        async for each in call:
            if each.transaction.txn == "txn-1":
                break
        call.cancel()

        async def init_was_answered() -> bool:
            calls = (await pod.engine.state())["calls"]
            return bool(calls.get("InitWeightTransferEngine", 0))

        await eventually(init_was_answered, ENDS_S, "the swap waits for what never comes")
        await pod.engine.restart()
        # Untouched where it was asked before the next process listened: nothing had been paused.
        assert (await ended(pod, "txn-1")).outcome in ("Restarted", "Untouched")


async def test_engine_that_is_gone_is_out_at_the_next_probe(tmp_path: Path) -> None:
    """Its last answer is younger than a second, and a restarted container is probed at once."""
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda it: it.ready)
        pod.engine.kill()
        await pod.engine.exit_code()
        status, body = await pod.readyz_body()
        assert (status, body["reason"]) == (503, "EngineUnreachable")
