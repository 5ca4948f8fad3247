"""Which weights an answer came from, whatever the engine is.

The simulator's answers are computed from the bytes. A real model's are recorded from a process that was started on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

import checkpoints
from contract.under_test import CALL_S, EngineUnderTest
from simulator import answers

PROMPT: Final = "tell me a story"
#: Fills more than two blocks of the KV cache: 16 words for the simulator, 128 bytes for vLLM on CPU.
CACHED_PROMPT: Final = "a prompt that fills more than one block of the KV cache; " * 6
LONGEST: Final = 200
#: Long enough that an answer of this length never ends by itself within a test.
ENDLESS: Final = 8000

Names = tuple[str, ...]


class Oracle(Protocol):
    """Knows the answers of checkpoints a and b to the prompts above, up to `LONGEST` tokens."""

    async def explain(
        self, engine: EngineUnderTest, tokens: Sequence[str], prompt: str
    ) -> Names | None:
        """("a",) or ("b",): the whole answer; ("a", "b"): its beginning and its rest; (): no token; None: neither."""


@dataclass(frozen=True)
class ComputedOracle:
    """For the simulator."""

    folders: Mapping[str, Path]

    async def explain(
        self, engine: EngineUnderTest, tokens: Sequence[str], prompt: str
    ) -> Names | None:
        prints = {name: checkpoints.fingerprint(folder) for name, folder in self.folders.items()}
        return answers.explain(tokens, prompt, prints)


@dataclass(frozen=True)
class Recording:
    """One prompt as the model reads it, and what a fresh process answered."""

    prompt_ids: list[int]
    tokens: list[str]


@dataclass(frozen=True)
class RecordedOracle:
    """For a real engine; `record` every checkpoint on a fresh process before the first question."""

    recordings: dict[tuple[str, str], Recording] = field(default_factory=dict)  # (name, prompt)

    async def record(self, name: str, engine: EngineUnderTest) -> None:
        for prompt in (PROMPT, CACHED_PROMPT):
            ids = await _prompt_ids(engine, prompt)
            self.recordings[name, prompt] = Recording(ids, await engine.tokens(prompt, LONGEST))

    async def explain(
        self, engine: EngineUnderTest, tokens: Sequence[str], prompt: str
    ) -> Names | None:
        if not tokens:
            return ()
        for name in ("a", "b"):
            if list(tokens) == self.recordings[name, prompt].tokens[: len(tokens)]:
                return (name,)
        return ("a", "b") if await self._is_a_then_b(engine, tokens, prompt) else None

    async def _is_a_then_b(
        self, engine: EngineUnderTest, tokens: Sequence[str], prompt: str
    ) -> bool:
        """Whether b, asked afresh, goes on like this from where a's answer ends. False where it does not serve b."""
        a, b = self.recordings["a", prompt], self.recordings["b", prompt]
        if await engine.tokens(prompt, LONGEST) != b.tokens:
            return False  # of b, or of a cache that other weights have filled
        shared = next(i for i, (x, y) in enumerate(zip(tokens, a.tokens, strict=False)) if x != y)
        begun = a.prompt_ids + [int(token.removeprefix("token_id:")) for token in tokens[:shared]]
        return shared > 0 and await engine.tokens(begun, len(tokens) - shared) == tokens[shared:]


async def _prompt_ids(engine: EngineUnderTest, prompt: str) -> list[int]:
    body = {
        "model": await engine.control.model(deadline_s=CALL_S),
        "prompt": prompt,
        "max_tokens": 1,
        "return_token_ids": True,
    }
    timeout = aiohttp.ClientTimeout(total=CALL_S)
    async with engine.http.post("/v1/completions", json=body, timeout=timeout) as response:
        reply: dict[str, Any] = json.loads(await response.text())
    ids: list[int] = reply["choices"][0]["prompt_token_ids"]
    return ids
