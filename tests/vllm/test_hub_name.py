"""An engine that was started with a name on the Hugging Face hub is swapped like one that was given a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from realvllm import tiny
from realvllm.engine import engine
from realvllm.families import FAMILIES
from realvllm.swapping import swapper
from weightrollout.api.swap import Outcome

NAME = "acme/tiny"
COMMIT = "a" * 40


def cached(hub: Path, checkpoint: Path) -> None:
    """As the hub's client leaves a snapshot: links to blobs elsewhere."""
    repository = hub / f"models--{NAME.replace('/', '--')}"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    for file in checkpoint.iterdir():
        (snapshot / file.name).symlink_to(file)


async def test_engine_that_was_given_a_name_is_swapped(tmp_path: Path) -> None:
    pair = tiny.pair(FAMILIES["qwen3_tied"])
    cached(tmp_path / "hub", pair.a.target)
    named = replace(
        pair.a.launch(),
        model=Path(NAME),
        environment={"HF_HUB_CACHE": str(tmp_path / "hub")},
    )
    async with engine(tmp_path, named) as running, swapper(running) as swaps:
        assert swaps.reports[0].refusal_reason == ""
        assert "config.json" in swaps.reports[0].file_hashes
        ended, _ = await swaps.swap(pair.b, "b")
        assert ended.outcome is Outcome.COMMITTED
