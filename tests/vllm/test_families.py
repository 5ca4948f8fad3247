"""After a swap a real vLLM answers as a fresh process on the new checkpoint, or refuses before the pause.

Each family costs two starts of an engine, so that both directions are shown: one is born with a, one
with b. `make test-vllm` runs those that cover each cause of a silent error in vLLM's own update,
`make test-families` all.
"""

import os
from pathlib import Path
from typing import Final

import pytest

from realvllm import tiny
from realvllm.client import Answers, Client, difference
from realvllm.control import CALL_S
from realvllm.engine import RealEngine, engine
from realvllm.families import FAMILIES
from realvllm.swapping import Swapper, swapper
from realvllm.tiny import Version
from weightrollout.api.swap import Outcome
from weightrollout.weights.preflight import engine_refusal

#: A tied head, experts packed on the first load only, a buffer that is a view of a packed weight.
QUICKEST: Final = ("qwen3_tied", "qwen3_moe", "mamba2")
CHOSEN: Final = tuple(FAMILIES) if os.environ.get("WEIGHTROLLOUT_FAMILIES") == "all" else QUICKEST


async def answers(running: RealEngine) -> Answers:
    client = Client(running.http_url, str(running.launch.model))
    return await client.answers(deadline_s=CALL_S)


async def swapped(swaps: Swapper, to: Version, name: str) -> Answers:
    assert engine_refusal(swaps.reports, swaps.reports[0].instance) is None
    ended, _ = await swaps.swap(to, name)
    assert ended.failure is None
    assert ended.outcome is Outcome.COMMITTED
    assert await swaps.control.version(deadline_s=CALL_S) == name
    return await answers(swaps.running)


@pytest.mark.parametrize("name", CHOSEN)
async def test_swapped_engine_answers_as_a_fresh_one(tmp_path: Path, name: str) -> None:
    pair = tiny.pair(FAMILIES[name])
    async with (
        engine(tmp_path / "a", pair.a.launch()) as first,
        engine(tmp_path / "b", pair.b.launch()) as second,
        swapper(first) as forth,
        swapper(second) as back,
    ):
        a, b = await answers(first), await answers(second)
        assert difference(a, b) > 0
        assert difference(await swapped(forth, pair.b, "to-b"), b) == 0.0
        assert difference(await swapped(forth, pair.a, "back-to-a"), a) == 0.0
        assert difference(await swapped(back, pair.a, "to-a"), a) == 0.0
        assert difference(await swapped(back, pair.b, "back-to-b"), b) == 0.0
