"""docs/rl.md: its calls by hand, as they stand there, do to an engine what they say."""

import asyncio
import json
from pathlib import Path

from pages import typed
from toytrainer import TOKEN
from unit.agent.rl.conftest import OpenPod

LINE_S = 30.0


async def test_calls_of_the_page_pause_tell_and_resume(open_pod: OpenPod, tmp_path: Path) -> None:
    [block] = [each for each in typed("rl.md") if "curl" in each]
    (tmp_path / "token").write_text(TOKEN)
    async with open_pod() as (_, trainer):
        said = await types(block.replace("https://10.0.0.7:9612", trainer.url), tmp_path)
        paused = await trainer.call("is_paused")
    assert said == [
        {"status": "paused"},
        {"is_paused": True},
        {"weight_version": "default"},
        {"status": "resumed"},
    ]
    assert paused.body == {"is_paused": False}


async def types(block: str, folder: Path) -> list[dict[str, object]]:
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", block), cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(shell.communicate(), LINE_S)
    assert shell.returncode == 0, out
    return [json.loads(line) for line in out.splitlines() if line]
