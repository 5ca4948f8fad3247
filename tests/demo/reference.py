"""What fresh processes answer: the truth about the answers of a real fleet.

Each checkpoint is served once by a process that was started on it. It is asked every prompt of the traffic, and how it
goes on where an earlier version had begun: so the answer of a request that was frozen in a pause can be judged too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from realvllm.client import Answer, Answers, Client, Token

#: None of four tokens or less: see `realvllm`, AMX.
PROMPTS: Final = ("two and two make", "the capital of France is", "once upon a time", "def main():")
#: Of each answer, in traffic and here.
TOKENS: Final = 12
ASK_S: Final = 120.0
GOLDEN_TOLERANCE: Final = 0.1

Json = dict[str, Any]
#: (version that began, prompt, tokens of it) -> ids that follow.
Rests = Mapping[tuple[str, str, int], tuple[int, ...]]


@dataclass(frozen=True)
class Reference:
    """Of one checkpoint. `rests`: how it ends what an earlier version began."""

    answers: Answers
    rests: Rests

    def ids(self, prompt: str) -> tuple[int, ...]:
        return next(answer.ids for answer in self.answers if answer.prompt == prompt)

    def golden(self) -> Json:
        """golden.json: what whoever trained these weights would have written."""
        return {
            "schema": 1,
            "prompts": [
                {
                    "prompt": answer.prompt,
                    "tokenIds": list(answer.ids),
                    "topLogprobs": [
                        {str(token): min(logprob, 0.0) for token, logprob in each.likeliest}
                        for each in answer.tokens
                    ],
                    "tolerance": GOLDEN_TOLERANCE,
                }
                for answer in self.answers
            ],
        }


async def record(client: Client, earlier: Mapping[str, Reference]) -> Reference:
    """Of the fresh process that `client` asks."""
    answers = await client.answers(PROMPTS, max_tokens=TOKENS, deadline_s=ASK_S)
    rests: dict[tuple[str, str, int], tuple[int, ...]] = {}
    timeout = aiohttp.ClientTimeout(total=ASK_S)
    async with aiohttp.ClientSession(client.http_url, timeout=timeout) as session:
        for prompt in PROMPTS:
            asked = await _prompt_ids(session, client.model, prompt)
            for version, reference in earlier.items():
                begun = reference.ids(prompt)
                for cut in range(1, TOKENS):
                    body = ask(client.model, [*asked, *begun[:cut]], TOKENS - cut)
                    choice = await _choice(session, body)
                    rests[version, prompt, cut] = tuple(map(_id, choice["logprobs"]["tokens"]))
    return Reference(answers, rests)


def ask(model: str, prompt: str | list[int], max_tokens: int) -> Json:
    """A greedy answer that does not end by itself, its tokens told by their ids."""
    return {
        "model": model,
        "prompt": prompt,
        "max_tokens": max_tokens,
        "temperature": 0,
        "ignore_eos": True,
        "logprobs": 1,
        "return_tokens_as_token_ids": True,
    }


@dataclass(frozen=True)
class Recorded:
    """The language of real engines that all serve under the name `model`."""

    model: str
    references: Mapping[str, Reference]  # by version

    def ask(self, prompt: str, max_tokens: int) -> Json:
        return ask(self.model, prompt, max_tokens)

    def words(self, choices: Sequence[Json]) -> list[str]:
        told = (choice.get("logprobs") for choice in choices)  # the last event may lack them
        return [token for logprobs in told if logprobs for token in logprobs["tokens"]]

    def explain(self, words: Sequence[str], prompt: str) -> tuple[str, ...] | None:
        ids = tuple(map(_id, words))
        for version, reference in self.references.items():
            if ids == reference.ids(prompt)[: len(ids)]:
                return (version,)
        for version, reference in self.references.items():
            for (before, asked, cut), rest in reference.rests.items():
                begun = self.references[before].ids(prompt)[:cut]
                if asked == prompt and ids == (*begun, *rest)[: len(ids)]:
                    return (before, version)
        return None


async def _prompt_ids(session: aiohttp.ClientSession, model: str, prompt: str) -> list[int]:
    body = {"model": model, "prompt": prompt, "max_tokens": 1, "return_token_ids": True}
    found: list[int] = (await _choice(session, body))["prompt_token_ids"]
    return found


async def _choice(session: aiohttp.ClientSession, body: Json) -> Json:
    async with session.post("/v1/completions", json=body) as response:
        response.raise_for_status()
        choice: Json = (await response.json())["choices"][0]
        return choice


def _id(token: str) -> int:
    return int(token.removeprefix("token_id:"))


def save(path: Path, references: Mapping[str, Reference]) -> None:
    said = {version: _written(reference) for version, reference in references.items()}
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(said))
    unfinished.replace(path)


def load(path: Path) -> dict[str, Reference]:
    """{}: there is none yet."""
    if not path.exists():
        return {}
    return {version: _read(said) for version, said in json.loads(path.read_text()).items()}


def _written(reference: Reference) -> Json:
    answers = [
        {
            "prompt": answer.prompt,
            "finish": answer.finish,
            "tokens": [[each.id, each.logprob, each.likeliest] for each in answer.tokens],
        }
        for answer in reference.answers
    ]
    return {"answers": answers, "rests": [[*key, ids] for key, ids in reference.rests.items()]}


def _read(said: Json) -> Reference:
    answers = tuple(
        Answer(
            each["prompt"],
            tuple(
                Token(number, logprob, tuple((token, value) for token, value in likeliest))
                for number, logprob, likeliest in each["tokens"]
            ),
            each["finish"],
        )
        for each in said["answers"]
    )
    rests = {(version, prompt, cut): tuple(ids) for version, prompt, cut, ids in said["rests"]}
    return Reference(answers, rests)
