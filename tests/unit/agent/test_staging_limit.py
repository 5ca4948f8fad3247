"""An agent holds its staging to the limit that it was told last, and says how fast it reads."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from onepod import one_pod
from weightrollout.agent.stage import RATE_S, Rate

#: A byte per second: nothing of the tiny checkpoint ends by itself within a test.
STANDS_STILL = 1


async def test_limit_that_is_lifted_lets_a_staging_go_that_runs(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.until(lambda state: state.ready)
        slow = pod.stub.Stage(pod.stage_request("b", limit=STANDS_STILL), timeout=pod.ends_s)
        told = aiter(slow)
        first = await anext(told)
        assert (first.done, first.max_bytes_per_second) == (False, STANDS_STILL)
        shown = await pod.until(lambda state: state.HasField("staging"))
        assert shown.staging.max_bytes_per_second == STANDS_STILL

        last = await pod.stage("b")

        assert (last.done, last.reason, last.max_bytes_per_second) == (True, "", 0)
        assert [each async for each in told][-1].digest == last.digest


def _rates(counts: Sequence[tuple[float, int]]) -> list[int]:
    rate = Rate()
    return [rate.of(*each) for each in counts]


def test_rate_is_that_of_the_last_seconds() -> None:
    steady = [(0.1 * tick, 100 * tick) for tick in range(200)]
    assert _rates(steady)[-1] == pytest.approx(1000, abs=1)
    faster = [*steady, *((20 + 0.1 * tick, 20_000 + 1000 * tick) for tick in range(100))]
    assert _rates(faster)[-1] == pytest.approx(10_000, abs=10)


def test_rate_of_a_source_that_stalls_is_zero_soon() -> None:
    stalled = [(0.1 * tick, 100 * min(tick, 50)) for tick in range(50 + int(RATE_S * 10) + 3)]
    assert _rates(stalled)[-1] == 0


def test_first_look_says_no_rate() -> None:
    assert _rates([(5.0, 1 << 30)]) == [0]
