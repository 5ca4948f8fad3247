"""Ask an engine the same questions twice and compare the answers exactly.

An answer is the greedy tokens, the log-probability of each, and of the five likeliest beside it. Tokens are ids: with a
byte-level tokenizer two tokens may look the same as text. Numbers are as the engine printed them. Two frontends print the same
float32 with different digits, so between frontends compare `difference`, within one compare with `==`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

TOP: Final = 5
MAX_TOKENS: Final = 12
#: Of different length and content, so that a stale tensor has several chances to be seen.
PROMPTS: Final = ("hello world", "The quick brown fox jumps over", "aaaa bbbb 1234 zz")
NEVER_TOGETHER: Final = float("inf")


class Refused(Exception):
    """The engine answered with another status than 200; the message has its words."""


@dataclass(frozen=True)
class Token:
    """One generated token; `likeliest` best first, ties by id."""

    id: int
    logprob: float
    likeliest: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Answer:
    """Equal only if every token and every log-probability is."""

    prompt: str
    tokens: tuple[Token, ...]
    finish: str

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens alone."""
        return tuple(token.id for token in self.tokens)


Answers = tuple[Answer, ...]


@dataclass(frozen=True)
class Speculation:
    """What /metrics counts of draft tokens since the engine's start, all its cores together."""

    drafts: int
    draft_tokens: int
    accepted_tokens: int

    def since(self, earlier: Speculation) -> Speculation:
        """What happened between the two."""
        return Speculation(
            self.drafts - earlier.drafts,
            self.draft_tokens - earlier.draft_tokens,
            self.accepted_tokens - earlier.accepted_tokens,
        )


def difference(one: Sequence[Answer], other: Sequence[Answer]) -> float:
    """The largest distance of two log-probabilities at the same place; infinite where tokens differ."""
    pairs = zip(one, other, strict=True)
    return max((_difference(a, b) for a, b in pairs), default=0.0)


def _difference(one: Answer, other: Answer) -> float:
    if (one.prompt, one.ids) != (other.prompt, other.ids):
        return NEVER_TOGETHER
    largest = 0.0
    for a, b in zip(one.tokens, other.tokens, strict=True):
        if [token for token, _ in a.likeliest] != [token for token, _ in b.likeliest]:
            return NEVER_TOGETHER
        numbers = [(a.logprob, b.logprob)]
        numbers += [(x, y) for (_, x), (_, y) in zip(a.likeliest, b.likeliest, strict=True)]
        largest = max(largest, *(abs(x - y) for x, y in numbers))
    return largest


@dataclass(frozen=True)
class Client:
    """The OpenAI routes of one engine. `model`: the name it serves, for `vllm serve` its folder."""

    http_url: str
    model: str

    async def answers(
        self,
        prompts: Sequence[str] = PROMPTS,
        *,
        max_tokens: int = MAX_TOKENS,
        deadline_s: float,
        headers: Mapping[str, str] | None = None,
    ) -> Answers:
        """One after the other, so that batching is the same each time. `deadline_s` for each."""
        async with self._session(deadline_s) as session:
            return tuple(
                [await self._answer(session, prompt, max_tokens, headers) for prompt in prompts]
            )

    async def _answer(
        self,
        session: aiohttp.ClientSession,
        prompt: str,
        max_tokens: int,
        headers: Mapping[str, str] | None,
    ) -> Answer:
        body = {
            "model": self.model,
            "prompt": prompt,
            "max_tokens": max_tokens,
            "temperature": 0,
            "ignore_eos": True,
            "logprobs": TOP,
            "return_tokens_as_token_ids": True,
        }
        async with session.post("/v1/completions", json=body, headers=headers) as response:
            if response.status != 200:
                raise Refused(f"{response.status} {await response.text()}")
            return _read(prompt, (await response.json())["choices"][0])

    async def metrics(self, *, deadline_s: float) -> dict[str, float]:
        """Every sample of /metrics by its name, summed over its label sets."""
        sums: dict[str, float] = {}
        async with self._session(deadline_s) as session, session.get("/metrics") as response:
            for line in (await response.text()).splitlines():
                if line and not line.startswith("#"):
                    name, _, value = line.rpartition(" ")
                    bare = name.partition("{")[0]
                    sums[bare] = sums.get(bare, 0.0) + float(value)
        return sums

    async def speculation(self, *, deadline_s: float) -> Speculation:
        """Counters of an engine with a draft; KeyError for one without."""
        sums = await self.metrics(deadline_s=deadline_s)
        prefix = "vllm:spec_decode_num"
        return Speculation(
            drafts=int(sums[f"{prefix}_drafts_total"]),
            draft_tokens=int(sums[f"{prefix}_draft_tokens_total"]),
            accepted_tokens=int(sums[f"{prefix}_accepted_tokens_total"]),
        )

    def _session(self, deadline_s: float) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(self.http_url, timeout=aiohttp.ClientTimeout(total=deadline_s))


def _read(prompt: str, choice: Mapping[str, Any]) -> Answer:
    said = choice["logprobs"]
    tokens = tuple(
        Token(_id(token), logprob, _likeliest(top))
        for token, logprob, top in zip(
            said["tokens"], said["token_logprobs"], said["top_logprobs"], strict=True
        )
    )
    return Answer(prompt, tokens, choice["finish_reason"])


def _likeliest(top: Mapping[str, float]) -> tuple[tuple[int, float], ...]:
    pairs = [(_id(token), logprob) for token, logprob in top.items()]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def _id(token: str) -> int:
    return int(token.removeprefix("token_id:"))
