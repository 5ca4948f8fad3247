"""After a swap of target and draft the draft's guesses are accepted as in a fresh process.

A stale draft costs no correctness, so that answers alone do not show it: counts do. The first family has target and draft from
one checkpoint, which makes nearly every guess of a draft of the same version right, and nearly every one of another wrong.
"""

from pathlib import Path

import pytest

from realvllm import tiny
from realvllm.client import Speculation, difference
from realvllm.engine import engine
from realvllm.families import FAMILIES
from realvllm.guesses import guesses
from realvllm.swapping import swapper
from weightrollout.api.swap import Outcome


def rate(found: Speculation) -> float:
    return found.accepted_tokens / found.draft_tokens


async def test_draft_guesses_as_a_fresh_one_after_the_swap_and_badly_when_left_out(
    tmp_path: Path,
) -> None:
    pair = tiny.pair(FAMILIES["draft_model"])
    async with (
        engine(tmp_path / "a", pair.a.launch()) as first,
        engine(tmp_path / "b", pair.b.launch()) as second,
        swapper(first) as swaps,
    ):
        (a, of_a), (b, of_b) = await guesses(first), await guesses(second)
        assert min(rate(of_a), rate(of_b)) > 0.9

        ended, _ = await swaps.swap(pair.b, "target-alone", with_draft=False)
        assert ended.outcome is Outcome.COMMITTED
        found, stale = await guesses(first)
        assert difference(found, b) == 0.0
        assert rate(stale) < 0.2

        for to, name, wanted, counted in ((pair.b, "b", b, of_b), (pair.a, "a", a, of_a)):
            ended, _ = await swaps.swap(to, name)
            assert ended.outcome is Outcome.COMMITTED
            found, counts = await guesses(first)
            assert difference(found, wanted) == 0.0
            assert counts == counted


@pytest.mark.parametrize("name", ["eagle3", "mtp"])
async def test_counts_of_accepted_guesses_are_those_of_a_fresh_process(
    tmp_path: Path, name: str
) -> None:
    """Their random heads guess badly in every version; that both engines count the same is all that can be seen."""
    pair = tiny.pair(FAMILIES[name])
    async with (
        engine(tmp_path / "a", pair.a.launch()) as first,
        engine(tmp_path / "b", pair.b.launch()) as second,
        swapper(first) as swaps,
    ):
        fresh = await guesses(second)
        ended, _ = await swaps.swap(pair.b, "b")
        assert ended.outcome is Outcome.COMMITTED
        assert await guesses(first) == fresh
