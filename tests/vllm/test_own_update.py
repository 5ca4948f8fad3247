"""vLLM's own update on CPU, compared with a fresh process: what ours has to do better.

a -> b -> a equal to the start proves nothing: where a copy of a weight stays old, it holds as well.
"""

from pathlib import Path

from realvllm import families, tiny
from realvllm.client import Answers, Client, difference
from realvllm.control import CALL_S, controlled, stock_draft_update, stock_update
from realvllm.engine import RealEngine, engine


async def answers(running: RealEngine) -> Answers:
    client = Client(running.http_url, str(running.launch.model))
    return await client.answers(deadline_s=CALL_S)


async def test_tied_head_stays_old_and_every_call_says_ok(tmp_path: Path) -> None:
    pair = tiny.pair(families.FAMILIES["qwen3_tied"])
    async with engine(tmp_path / "b", pair.b.launch("")) as fresh:
        expected = await answers(fresh)
    async with (
        engine(tmp_path / "a", pair.a.launch("stock")) as running,
        controlled(running) as control,
    ):
        before = await answers(running)
        await stock_update(control, pair.b.target, "b")

        assert await control.version(deadline_s=CALL_S) == "b"
        assert difference(await answers(running), expected) > 0

        await stock_update(control, pair.a.target, "a")
        assert await answers(running) == before


async def test_stale_draft_costs_speed_and_never_correctness(tmp_path: Path) -> None:
    """Draft and target are one checkpoint, so a draft of the same version is always right."""
    pair = tiny.pair(families.FAMILIES["draft_model"])
    async with engine(tmp_path / "b", pair.b.launch("")) as fresh:
        expected = await answers(fresh)
    async with (
        engine(tmp_path / "a", pair.a.launch("stock")) as running,
        controlled(running) as control,
    ):
        client = Client(running.http_url, str(running.launch.model))

        async def accepted(expected: Answers | None) -> float:
            before = await client.speculation(deadline_s=CALL_S)
            found = await answers(running)
            assert expected is None or found == expected
            spent = (await client.speculation(deadline_s=CALL_S)).since(before)
            return spent.accepted_tokens / spent.draft_tokens

        assert await accepted(None) > 0.9
        await stock_update(control, pair.b.target, "b")
        assert await accepted(expected) < 0.2
        await stock_draft_update(running, control, pair.b.target)
        assert await accepted(expected) > 0.9
