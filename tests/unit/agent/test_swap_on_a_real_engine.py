"""What can go wrong between an agent and its engine, with both as real processes."""

from pathlib import Path

import pytest

from onepod import one_pod

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
