"""How much of what a speculating engine drafts it accepts, as its /metrics tell."""

from typing import Final

import aiohttp

#: Enough rounds to tell all from nothing.
TOKENS: Final = 8


async def acceptance(http_url: str) -> float:
    """Share of drafted tokens that are accepted in one completion from now on."""
    async with aiohttp.ClientSession(http_url) as session:
        before = await _counted(session)
        body = {"prompt": "tell me", "max_tokens": TOKENS}
        async with session.post("/v1/completions", json=body) as reply:
            assert reply.status == 200, await reply.text()
        after = await _counted(session)
    drafted, accepted = (now - then for now, then in zip(after, before, strict=True))
    return accepted / drafted


async def _counted(session: aiohttp.ClientSession) -> tuple[float, float]:
    async with session.get("/metrics") as reply:
        text = await reply.text()
    return _sum(text, "num_draft_tokens"), _sum(text, "num_accepted_tokens")


def _sum(text: str, name: str) -> float:
    wanted = f"vllm:spec_decode_{name}_total{{"
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(wanted))
