"""The paths that a default CPU engine does not choose, in a real vLLM: copies in place, packing in the pause, vLLM's own."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from realvllm import tiny
from realvllm.client import Answers, Client, difference
from realvllm.control import CALL_S
from realvllm.engine import RealEngine, engine
from realvllm.families import FAMILIES
from realvllm.swapping import swapper
from weightrollout.api.swap import Outcome


async def answers(running: RealEngine) -> Answers:
    client = Client(running.http_url, str(running.launch.model))
    return await client.answers(deadline_s=CALL_S)


@pytest.mark.parametrize(
    ("path", "family", "environment"),
    [
        ("direct", "qwen3_tied", {"REALVLLM_PLAIN": "1"}),  # found out by the plugin
        ("repack", "qwen3_moe", {"WEIGHTROLLOUT_PATH": "repack"}),
        ("layerwise", "qwen3", {"WEIGHTROLLOUT_PATH": "layerwise"}),  # a family it is right for
    ],
)
async def test_engine_answers_as_a_fresh_one_by_the_path(
    tmp_path: Path, path: str, family: str, environment: Mapping[str, str]
) -> None:
    pair = tiny.pair(FAMILIES[family])
    launches = [replace(each.launch(), environment=environment) for each in (pair.a, pair.b)]
    async with (
        engine(tmp_path / "a", launches[0]) as first,
        engine(tmp_path / "b", launches[1]) as second,
        swapper(first) as swaps,
    ):
        a, b = await answers(first), await answers(second)
        assert {block.path for block in swaps.reports[0].plan.blocks} == {path}
        for to, name, wanted in ((pair.b, "b", b), (pair.a, "a", a)):
            ended, _ = await swaps.swap(to, name)
            assert ended.outcome is Outcome.COMMITTED
            assert difference(await answers(first), wanted) == 0.0


async def test_swap_after_a_reload_that_broke_off_is_right(tmp_path: Path) -> None:
    """Its live tensors are parked, and what stands in for them has no memory."""
    pair = tiny.pair(FAMILIES["qwen3"])
    async with (
        engine(tmp_path / "a", pair.a.launch("measured")) as first,
        engine(tmp_path / "b", pair.b.launch()) as second,
        swapper(first) as swaps,
    ):
        choice = tmp_path / "a" / "handover" / "choice.json"
        choice.write_text(json.dumps({"path": "own", "folder": str(tmp_path / "nothing")}))
        broken, _ = await swaps.swap(pair.b, "b")
        assert broken.outcome is Outcome.POISONED

        choice.write_text(json.dumps({"path": "flip", "folder": ""}))
        ended, _ = await swaps.swap(pair.b, "b")
        assert ended.outcome is Outcome.COMMITTED
        assert difference(await answers(first), await answers(second)) == 0.0
