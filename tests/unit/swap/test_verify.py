"""What an answer must be, and what is said when it is not."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from weightrollout.api.spec import Expect, Prompt
from weightrollout.engine.protocol import AnswerToken, EngineLoad
from weightrollout.swap.verify import SHOWN, complaint, wrong_ids, wrong_text
from weightrollout.weights.golden import Golden, GoldenPrompt, Token


@dataclass
class Answers:
    """An engine's HTTP side that answers what it was given; it remembers what it was asked."""

    text: str = ""
    tokens: tuple[AnswerToken, ...] = ()
    asked: list[Mapping[str, object]] = field(default_factory=list)

    async def load(self, *, deadline_s: float) -> EngineLoad:
        return EngineLoad(0, 0)

    async def complete(self, prompt: str, *, max_tokens: int, deadline_s: float) -> str:
        self.asked.append({"prompt": prompt, "max_tokens": max_tokens})
        return self.text

    async def complete_tokens(
        self, prompt: str, *, max_tokens: int, top: int, deadline_s: float
    ) -> tuple[AnswerToken, ...]:
        self.asked.append({"prompt": prompt, "max_tokens": max_tokens, "top": top})
        return self.tokens

    async def close(self) -> None:
        """Nothing is open."""


def prompt(expect: Expect, text: str = "2+2=") -> Prompt:
    return Prompt(prompt=text, max_tokens=4, expect=expect)


@pytest.mark.parametrize(
    ("expect", "good", "bad"),
    [
        (Expect(contains="4"), "it is 4", "it is 5"),
        (Expect(regex="^(4|four)$"), "four", "it is 4"),
        (Expect(contains="(4"), "(4)", "4"),
    ],
)
def test_text_is_what_was_expected_or_both_are_named(expect: Expect, good: str, bad: str) -> None:
    assert wrong_text(expect, good) is None
    said = wrong_text(expect, bad)
    assert said is not None
    assert repr(expect.contains or expect.regex) in said
    assert repr(bad) in said


def test_answer_may_go_on_after_the_expected_tokens() -> None:
    assert wrong_ids((19, 7), (19, 7, 1)) is None


@pytest.mark.parametrize(("got", "at"), [((19, 8), 1), ((5, 7), 0), ((19,), 1), ((), 0)])
def test_other_tokens_are_told_with_the_position(got: tuple[int, ...], at: int) -> None:
    said = wrong_ids((19, 7), got)
    assert said is not None
    assert said.endswith(f"differ at position {at}")
    assert "[19, 7]" in said


async def test_prompts_come_before_golden_and_the_first_wrong_one_ends_it() -> None:
    engine = Answers(text="5", tokens=(AnswerToken(1, {1: -0.1}),))
    golden = Golden((GoldenPrompt("once", (Token(2, {}),), 0.0),))
    wrong = await complaint(engine, (prompt(Expect(contains="4")),), golden, lambda: 1.0)
    assert wrong == "prompt '2+2=': expected an answer that contains '4', got '5'"
    assert [each["prompt"] for each in engine.asked] == ["2+2="]
    engine.text = "4"
    wrong = await complaint(engine, (prompt(Expect(contains="4")),), golden, lambda: 1.0)
    assert wrong == "golden.json prompt 0 'once': token 0: expected id 2, got 1"


async def test_golden_asks_for_as_many_tokens_and_logprobs_as_it_knows() -> None:
    token = Token(2, {2: -0.1, 3: -2.0})
    engine = Answers(tokens=(AnswerToken(2, {2: -0.1, 3: -2.0, 4: -5.0}),))
    golden = Golden((GoldenPrompt("once", (token,), 0.01),))
    assert await complaint(engine, (), golden, lambda: 1.0) is None
    assert engine.asked == [{"prompt": "once", "max_tokens": 1, "top": 2}]


async def test_ids_are_expected_of_the_whole_answer_asked_for() -> None:
    engine = Answers(tokens=(AnswerToken(19, {}), AnswerToken(7, {})))
    assert await complaint(engine, (prompt(Expect(token_ids=(19,))),), None, lambda: 1.0) is None
    assert engine.asked == [{"prompt": "2+2=", "max_tokens": 4, "top": 0}]


@pytest.mark.parametrize("sign", ["x", "\u202e", "\n", "'"])
async def test_what_is_said_stays_short_whatever_was_asked_and_answered(sign: str) -> None:
    engine = Answers(text=sign * 100_000)
    for expect in (Expect(contains="y" * 1024), Expect(regex="y" * 512)):
        said = await complaint(engine, (prompt(expect, sign * 8192),), None, lambda: 1.0)
        assert said is not None
        assert len(said) < 7 * SHOWN
    tokens = tuple(range(10**9, 10**9 + 256))
    said = wrong_ids(tokens, tokens[1:])
    assert said is not None
    assert len(said) < 4 * SHOWN
