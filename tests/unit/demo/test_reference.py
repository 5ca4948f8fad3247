"""What the demo takes for the truth about real engines."""

import json
from pathlib import Path
from typing import Any

import pytest

from demo import reference
from demo.reference import PROMPTS, TOKENS, Recorded, Reference
from realvllm.client import Answer, Token
from weightrollout.weights import golden

PROMPT = PROMPTS[0]


def answered(first: int) -> tuple[Answer, ...]:
    """Tokens `first`, `first` + 1, ... to every prompt."""
    tokens = tuple(
        Token(first + at, -0.5, ((first + at, -0.5), (9000, -2.5))) for at in range(TOKENS)
    )
    return tuple(Answer(prompt, tokens, "length") for prompt in PROMPTS)


@pytest.fixture
def told() -> dict[str, Reference]:
    """v2 ends each answer that v1 has begun with tokens of its own."""
    rests = {
        ("v1", prompt, cut): tuple(range(500, 500 + TOKENS - cut))
        for prompt in PROMPTS
        for cut in range(1, TOKENS)
    }
    return {"v1": Reference(answered(100), {}), "v2": Reference(answered(200), rests)}


def words(*ids: int) -> list[str]:
    return [f"token_id:{each}" for each in ids]


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        (range(100, 112), ("v1",)),
        (range(200, 212), ("v2",)),
        ((100, 101, 102, *range(500, 509)), ("v1", "v2")),
        ((200, 201, 202, *range(500, 509)), None),
        ((100, 101, 102, *range(203, 212)), None),
        ((100, 101, 102, *range(500, 508), 7), None),
    ],
)
def test_answer_is_of_one_version_or_of_two_in_their_order_or_unexplained(
    told: dict[str, Reference], ids: tuple[int, ...], names: tuple[str, ...] | None
) -> None:
    assert Recorded("m", told).explain(words(*ids), PROMPT) == names


def test_tokens_of_a_stream_are_its_ids_in_order(told: dict[str, Reference]) -> None:
    events: list[dict[str, Any]] = [
        {"text": "a", "logprobs": {"tokens": ["token_id:1", "token_id:2"]}},
        {"text": "", "logprobs": None},
        {"text": "", "finish_reason": "length"},
    ]
    assert Recorded("m", told).words(events) == words(1, 2)


def test_references_come_back_as_they_were_saved(
    told: dict[str, Reference], tmp_path: Path
) -> None:
    path = tmp_path / "answers.json"
    assert reference.load(path) == {}
    reference.save(path, told)
    assert reference.load(path) == told


def test_product_reads_the_golden_answers_and_finds_them_equal(told: dict[str, Reference]) -> None:
    read = golden.parse(json.dumps(told["v1"].golden()).encode())
    assert [each.prompt for each in read.prompts] == list(PROMPTS)
    for asked, answer in zip(read.prompts, told["v1"].answers, strict=True):
        got = [golden.Token(each.id, dict(each.likeliest)) for each in answer.tokens]
        assert golden.mismatch(asked, got) is None
    other = [golden.Token(each.id, {}) for each in told["v2"].answers[0].tokens]
    assert golden.mismatch(read.prompts[0], other) is not None
