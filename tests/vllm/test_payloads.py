"""Models with the shapes of Qwen3-0.6B, one engine at a time: each takes up to 6 GB while it is swapped."""

import math
from pathlib import Path
from typing import Final

import pytest

from realvllm import tiny
from realvllm.client import Answers, Client, difference
from realvllm.engine import RealEngine, engine
from realvllm.families import PAYLOADS
from realvllm.swapping import swapper
from weightrollout.api.swap import Outcome
from weightrollout.weights.preflight import engine_refusal

#: Of 28 layers on one core, which others may want too.
ANSWER_S: Final = 600.0
BF16_BYTES: Final = 2


async def answers(running: RealEngine) -> Answers:
    client = Client(running.http_url, str(running.launch.model))
    return await client.answers(deadline_s=ANSWER_S)


@pytest.mark.parametrize(
    ("name", "tensors", "size"),
    [("payload_tied", 310, 1_192_099_840), ("payload_untied", 311, 1_503_264_768)],
)
async def test_payload_is_swapped_whole(tmp_path: Path, name: str, tensors: int, size: int) -> None:
    pair = tiny.pair(PAYLOADS[name])
    async with engine(tmp_path / "b", pair.b.launch("")) as fresh:
        expected = await answers(fresh)
    async with (
        engine(tmp_path / "a", pair.a.launch()) as running,
        swapper(running) as swaps,
    ):
        [report] = swaps.reports
        assert engine_refusal(swaps.reports, report.instance) is None
        assert len(report.tensors) == tensors
        assert sum(math.prod(each.shape) * BF16_BYTES for each in report.tensors) == size
        assert difference(await answers(running), expected) > 0
        ended, _ = await swaps.swap(pair.b, "b")
        assert ended.failure is None
        assert ended.outcome is Outcome.COMMITTED
        assert difference(await answers(running), expected) == 0.0
