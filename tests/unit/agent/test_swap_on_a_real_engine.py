"""What can go wrong in a swap, with engine and agent as real processes."""

from pathlib import Path

import pytest

from onepod import Refusal, one_pod

pytestmark = pytest.mark.slow


async def test_engine_answers_with_the_new_weights_after_a_committed_swap(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("a")
        end = await pod.bring("b", "txn-1")
        assert (end.outcome, end.reason) == ("Committed", "")
        assert end.pause_millis > 0
        assert [each.phase for each in end.timings] == [
            "Draining",
            "Pausing",
            "Transferring",
            "Checking",
            "Finishing",
            "Resuming",
            "Verifying",
        ]
        assert await pod.answers_with("b")
        assert await pod.readyz() == (200, "")
        state = await pod.state()
        assert state.serving == state.told == state.last_good == pod.weights("b")
        assert (await pod.engine.state())["unguardedUpdates"] == 0


async def test_last_good_answers_again_when_the_prompts_fail(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        end = await pod.bring("wrong", "txn-2")
        assert (end.outcome, end.failure_class, end.reason) == ("Undone", "Weights", "VerifyFailed")
        assert "'2+2='" in end.message
        assert "'4'" in end.message
        assert await pod.answers_with("b")
        assert await pod.readyz() == (200, "")
        state = await pod.state()
        assert state.serving == state.told == pod.weights("b")
        (attempts,) = (each for each in state.attempts if each.digest == pod.digests["wrong"])
        assert (attempts.attempts, attempts.reason) == (1, "VerifyFailed")


async def test_engine_with_nothing_to_go_back_to_is_out_until_it_is_restarted(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        end = await pod.bring("wrong", "txn-1")
        assert (end.outcome, end.failure_class, end.reason) == (
            "Poisoned",
            "Weights",
            "VerifyFailed",
        )
        assert await pod.readyz() == (503, "Poisoned")
        assert (await pod.engine.state())["paused"] is not None
        assert await pod.restart_engine() == pod.engine.instance
        await pod.engine.exit_code()
        await pod.engine.restart()
        state = await pod.until(lambda state: state.ready)
        assert state.engine.baseline
        assert not state.poisoned
        assert await pod.answers_with("a")


async def test_pod_is_not_called_ready_when_its_swap_ended_with_a_dead_engine(
    tmp_path: Path,
) -> None:
    """Else the operator puts it in on what its engine answered a second ago, and takes the next out."""
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.until(lambda state: state.ready)
        await pod.engine.set_faults({"call": "InitWeightTransferEngine", "do": "die"})
        async with pod.heard() as heard:
            end = await pod.bring("wrong", "txn-2")
            assert end.outcome == "Untouched"
            state = await pod.until(lambda state: state.transaction.txn == "txn-2")
            assert (state.ready, state.not_ready_reason) == (False, "EngineUnreachable")
        reserved = [each.HasField("reservation") for each in heard].index(True)
        assert not any(each.ready for each in heard[reserved:])


async def test_update_that_failed_halfway_is_sent_again_whole(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.engine.set_faults({"call": "UpdateWeights", "at": 1, "do": "error"})
        end = await pod.bring("b", "txn-1")
        assert end.outcome == "Committed"
        assert (await pod.engine.state())["calls"]["UpdateWeights"] == 2
        assert await pod.answers_with("b")


async def test_last_good_is_loaded_when_the_target_fails_twice(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.engine.set_faults(
            {"call": "UpdateWeights", "at": 1, "do": "error"},
            {"call": "UpdateWeights", "at": 2, "do": "lie_receipt"},
        )
        end = await pod.bring("c", "txn-2")
        assert (end.outcome, end.failure_class, end.reason) == (
            "Undone",
            "Weights",
            "ReceiptsDiffer",
        )
        assert await pod.answers_with("b")
        assert await pod.readyz() == (200, "")


async def test_half_loaded_engine_is_never_resumed_when_nothing_can_be_loaded(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        resumes = (await pod.engine.state())["calls"]["ResumeGeneration"]
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "error"})
        end = await pod.bring("c", "txn-2")
        assert (end.outcome, end.failure_class, end.reason) == ("Poisoned", "Pod", "TransferFailed")
        engine = await pod.engine.state()
        assert engine["halfLoaded"]
        assert engine["paused"] is not None
        assert engine["calls"]["ResumeGeneration"] == resumes
        assert await pod.readyz() == (503, "Poisoned")


async def test_engine_that_died_in_the_update_is_out_until_it_serves_what_it_should(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.engine.set_faults({"call": "UpdateWeights", "at": 1, "do": "die_midway"})
        progress = await pod.stage("c")
        assert not progress.reason
        await pod.reserve("c", "txn-2")
        call = pod.stub.Swap(pod.swap_request("c", "txn-2"), timeout=30)
        await pod.engine.exit_code()
        await pod.engine.restart()
        *_, last = [each async for each in call]
        assert (last.transaction.outcome, last.transaction.reason) == (
            "Restarted",
            "EngineRestarted",
        )
        assert await pod.readyz() == (503, "NotServingTold")
        state = await pod.state()
        assert state.engine.baseline
        end = await pod.bring("c", "txn-3")
        assert end.outcome == "Committed"
        assert await pod.answers_with("c")


async def test_version_that_was_not_set_is_set_without_another_transfer(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.engine.set_faults({"call": "FinishWeightUpdate", "at": 1, "do": "label_fails"})
        end = await pod.bring("b", "txn-1")
        assert end.outcome == "Committed"
        calls = (await pod.engine.state())["calls"]
        assert (calls["UpdateWeights"], calls["UpdateWeightVersion"]) == (1, 1)


async def test_engine_that_lies_about_its_version_is_not_counted(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b", "txn-1")
        await pod.engine.set_faults({"call": "GetWeightVersion", "do": "lie_version"})
        end = await pod.swap("b", "txn-1")
        assert (end.outcome, end.reason) == ("Poisoned", "VersionNotConfirmed")
        assert await pod.readyz() == (503, "Poisoned")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"call": "PauseGeneration", "at": 1, "do": "error_after"}, "PauseFailed"),
        ({"call": "PauseGeneration", "at": 1, "do": "ok_nothing"}, "PauseNotConfirmed"),
        ({"call": "StartWeightUpdate", "do": "refuse"}, "TransferFailed"),
        ({"call": "InitWeightTransferEngine", "do": "error"}, "PrepareFailed"),
    ],
)
async def test_nothing_has_happened_when_a_swap_fails_before_start(
    tmp_path: Path, fault: dict[str, object], reason: str
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.engine.set_faults(fault)
        end = await pod.bring("b", "txn-1")
        assert (end.outcome, end.reason) == ("Untouched", reason)
        assert await pod.answers_with("a")
        await pod.until(lambda state: state.ready)
        assert (await pod.engine.state())["calls"].get("UpdateWeights", 0) == 0


async def test_lost_resume_is_sent_again(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.engine.set_faults({"call": "ResumeGeneration", "at": 1, "do": "ok_nothing"})
        end = await pod.bring("b", "txn-1")
        assert end.outcome == "Committed"
        assert await pod.answers_with("b")


async def test_hanging_update_ends_at_the_deadline_with_last_good(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.engine.set_faults({"call": "UpdateWeights", "at": 1, "do": "hang"})
        await pod.stage("c")
        await pod.reserve("c", "txn-2")
        end = await pod.swap("c", "txn-2", deadline_s=2.0)
        assert (end.outcome, end.failure_class, end.reason) == (
            "Undone",
            "Pod",
            "PodDeadlineExceeded",
        )
        assert await pod.answers_with("b")


async def test_nothing_starts_when_the_journal_cannot_be_written(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        (pod.staging / ".journal.json.tmp").mkdir()
        with pytest.raises(Refusal, match=r"JournalUnwritable.*journal\.json"):
            await pod.reserve("b", "txn-1")
        assert await pod.readyz() == (200, "")
        (pod.staging / ".journal.json.tmp").rmdir()
        await pod.reserve("b", "txn-1")
        (pod.staging / ".journal.json.tmp").mkdir()
        with pytest.raises(Refusal, match="JournalUnwritable"):
            await pod.swap("b", "txn-1")
        assert (await pod.engine.state())["calls"].get("PauseGeneration", 0) == 0


async def test_measurements_and_what_is_served_are_exported(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        text = await pod.metrics()
        digest, instance = pod.digests["b"], pod.engine.instance
        assert (
            f'weightrollout_engine_info{{digest="{digest}",instance="{instance}",version="v-b"}} 1.0'
            in text
        )
        assert "weightrollout_agent_swap_pause_seconds_count 1.0" in text
        assert 'agent_swaps_total{class="",outcome="Committed",reason=""} 1.0' in text
        assert "weightrollout_agent_ready 1.0" in text
