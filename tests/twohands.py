"""Both hands of prime-rl (`primerl`) as processes, beside whatever engine."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

TESTS: Final = Path(__file__).parent
ENDS_S: Final = 120.0


async def drive(url: str, folder: Path, steps: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """What the orchestrator heard of the version, by step. AssertionError: a hand failed, with its words."""
    hands = [await _hand(role, url, folder, steps) for role in ("trainer", "orchestrator")]
    try:
        async with asyncio.timeout(ENDS_S):
            ended = await asyncio.gather(*(each.communicate() for each in hands))
    finally:
        for each in hands:
            if each.returncode is None:
                each.kill()
                await each.wait()
    for hand, (_, errors) in zip(hands, ended, strict=True):
        assert hand.returncode == 0, errors.decode()
    polls: dict[str, list[str]] = json.loads(ended[1][0])["polls"]
    return polls


async def _hand(
    role: str, url: str, folder: Path, steps: Sequence[dict[str, Any]]
) -> asyncio.subprocess.Process:
    path = os.pathsep.join((str(TESTS.parent / "operator"), str(TESTS)))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "primerl", role, url, str(folder), json.dumps(list(steps))),
        env={**os.environ, "PYTHONPATH": path},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
