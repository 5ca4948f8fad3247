"""After a swap a real vLLM answers as a fresh process on the new checkpoint, or refuses before the pause.

Each family costs two starts of an engine, so that both directions are shown: one is born with a, one
with b. `make test-vllm` runs those that cover each cause of a silent error in vLLM's own update,
`make test-families` all.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from realvllm import proven, tiny
from realvllm.client import Answers, Client, difference
from realvllm.control import CALL_S
from realvllm.engine import RealEngine, engine
from realvllm.families import FAMILIES, Family
from realvllm.launch import Launch
from realvllm.swapping import Swapper, swapper
from realvllm.tiny import Version
from weightrollout.api.swap import Outcome
from weightrollout.weights.preflight import engine_refusal

#: A tied head, experts packed on the first load only, a buffer that is a view of a packed weight.
QUICKEST: Final = ("qwen3_tied", "qwen3_moe", "mamba2")
#: Of one request. The first one to packed 4-bit weights took more than a minute on a busy machine.
ANSWER_S: Final = 600.0


def _chosen() -> tuple[str, ...]:
    """WEIGHTROLLOUT_FAMILIES: names with commas between, or `all`."""
    asked = os.environ.get("WEIGHTROLLOUT_FAMILIES", "")
    if asked == "all":
        return tuple(FAMILIES)
    return tuple(asked.split(",")) if asked else QUICKEST


def launch(of: Version) -> Launch:
    """While the list of tried layers is written, an engine may have others."""
    usual = of.launch()
    if not proven.records():
        return usual
    return replace(usual, environment={**usual.environment, **proven.ANY_LAYER})


async def answers(running: RealEngine, family: Family) -> Answers:
    """Of each replica, where there are several."""
    client = Client(running.http_url, str(running.launch.model))
    found: Answers = ()
    for replica in range(family.replicas):
        headers = {"X-data-parallel-rank": str(replica)} if family.replicas > 1 else None
        found += await client.answers(deadline_s=ANSWER_S, headers=headers)
    return found


async def swapped(swaps: Swapper, to: Version, name: str) -> Answers:
    assert engine_refusal(swaps.reports, swaps.reports[0].instance) is None
    ended, _ = await swaps.swap(to, name)
    assert ended.failure is None
    assert ended.outcome is Outcome.COMMITTED
    assert await swaps.control.version(deadline_s=CALL_S) == name
    return await answers(swaps.running, to.family)


@pytest.mark.parametrize("name", _chosen())
async def test_swapped_engine_answers_as_a_fresh_one(tmp_path: Path, name: str) -> None:
    family = FAMILIES[name]
    pair = tiny.pair(family)
    async with (
        engine(tmp_path / "a", launch(pair.a)) as first,
        engine(tmp_path / "b", launch(pair.b)) as second,
        swapper(first) as forth,
        swapper(second) as back,
    ):
        a, b = await answers(first, family), await answers(second, family)
        assert difference(a, b) > 0
        assert difference(await swapped(forth, pair.b, "to-b"), b) == 0.0
        assert difference(await swapped(forth, pair.a, "back-to-a"), a) == 0.0
        assert difference(await swapped(back, pair.a, "to-a"), a) == 0.0
        assert difference(await swapped(back, pair.b, "back-to-b"), b) == 0.0
        if proven.records():
            proven.keep(name, (*forth.reports, *back.reports))
