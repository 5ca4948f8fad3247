"""The comparison sees one bit, and says how far two answers are apart."""

from __future__ import annotations

from dataclasses import replace

from realvllm.client import NEVER_TOGETHER, Answer, Speculation, Token, _read, difference

TOKEN = Token(7, -0.5, ((7, -0.5), (3, -1.25)))
ANSWER = Answer("hello", (TOKEN, TOKEN), "length")
CHOICE = {
    "finish_reason": "length",
    "logprobs": {
        "tokens": ["token_id:7"],
        "token_logprobs": [-0.5],
        "top_logprobs": [{"token_id:9": -1.25, "token_id:7": -0.5, "token_id:3": -1.25}],
    },
}


def other(token: Token) -> Answer:
    return replace(ANSWER, tokens=(TOKEN, token))


def test_equal_answers_have_no_difference() -> None:
    assert difference([ANSWER], [ANSWER]) == 0.0


def test_smallest_change_of_a_logprob_is_seen() -> None:
    changed = other(replace(TOKEN, logprob=-0.5000001))

    assert changed != ANSWER
    assert 0 < difference([ANSWER], [changed]) < 1e-6


def test_logprob_of_a_token_that_was_not_chosen_counts() -> None:
    changed = other(replace(TOKEN, likeliest=((7, -0.5), (3, -1.5))))

    assert difference([ANSWER], [changed]) == 0.25


def test_another_token_is_never_near() -> None:
    assert difference([ANSWER], [other(replace(TOKEN, id=8))]) == NEVER_TOGETHER


def test_other_candidates_are_never_near() -> None:
    changed = other(replace(TOKEN, likeliest=((7, -0.5), (4, -1.25))))

    assert difference([ANSWER], [changed]) == NEVER_TOGETHER


def test_reply_is_read_with_candidates_in_one_order() -> None:
    answer = _read("hello", CHOICE)

    assert answer.tokens == (Token(7, -0.5, ((7, -0.5), (3, -1.25), (9, -1.25))),)
    assert answer.ids == (7,)


def test_speculation_is_counted_from_a_point_in_time() -> None:
    assert Speculation(10, 30, 27).since(Speculation(4, 12, 12)) == Speculation(6, 18, 15)
