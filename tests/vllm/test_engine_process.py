"""The harness around a real engine keeps its word."""

from pathlib import Path

import pytest

from realvllm import families, tiny
from realvllm.client import Client
from realvllm.engine import EngineNotStarted, engine
from realvllm.launch import Frontend, Launch

ANSWER_S = 60.0


async def test_engine_and_all_that_it_started_end_with_the_block(tmp_path: Path) -> None:
    checkpoint = tiny.pair(families.FAMILIES["qwen3"]).a
    async with engine(tmp_path, checkpoint.launch("stock")) as running:
        names = [Path(f"/proc/{pid}/cmdline").read_text() for pid in running.processes()]
        assert any("VLLM::EngineCore" in name for name in names), names
        assert any("VLLM::Worker" in name for name in names), names

    assert running.processes() == []


async def test_python_frontend_gives_the_same_answers(tmp_path: Path) -> None:
    """Without gRPC; the digits of a number may differ, its value does not."""
    checkpoint = tiny.pair(families.FAMILIES["qwen3"]).a
    launch = Launch(checkpoint.target, backend="", frontend=Frontend.PYTHON)
    async with engine(tmp_path, launch) as running:
        client = Client(running.http_url, str(checkpoint.target))
        once = await client.answers(deadline_s=ANSWER_S)
        assert await client.answers(deadline_s=ANSWER_S) == once


async def test_engine_that_cannot_start_tells_why(tmp_path: Path) -> None:
    nothing = tmp_path / "model"
    nothing.mkdir()
    with pytest.raises(EngineNotStarted, match=r"ended with 1\b[\s\S]*config\.json"):
        async with engine(tmp_path, Launch(nothing, backend="")):
            pass
