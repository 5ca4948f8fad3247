"""How well a draft guesses: what it guessed, and what the target accepted, over the same questions."""

from __future__ import annotations

from realvllm.client import Answers, Client, Speculation
from realvllm.control import CALL_S
from realvllm.engine import RealEngine


async def guesses(running: RealEngine) -> tuple[Answers, Speculation]:
    """Ask an engine with a draft. Greedy answers of equal weights give equal counts, not only equal rates."""
    client = Client(running.http_url, str(running.launch.model))
    before = await client.speculation(deadline_s=CALL_S)
    found = await client.answers(deadline_s=CALL_S)
    return found, (await client.speculation(deadline_s=CALL_S)).since(before)
