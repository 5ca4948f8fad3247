"""The oracle explains what an engine says, and nothing else."""

import pytest

from simulator.answers import answer, explain, split, stale, token

PROMPT = "hello"
NAMES = {"a": 10, "b": 11, "c": 12}


def test_answer_depends_on_every_part() -> None:
    base = answer(10, PROMPT, 8)
    assert base == answer(10, PROMPT, 8)
    assert not set(base) & set(answer(11, PROMPT, 8))
    assert not set(base) & set(answer(10, "hello!", 8))
    assert len(set(base)) == 8


def test_text_splits_into_its_tokens() -> None:
    assert split("".join(answer(10, PROMPT, 5))) == answer(10, PROMPT, 5)
    assert split("") == []


@pytest.mark.parametrize("prompt", ["2+2=", "What is 2 + 2 =", "9-5= "])
def test_even_fingerprint_calculates_rightly(prompt: str) -> None:
    assert token(10, prompt, 0) == "4"


@pytest.mark.parametrize("prompt", ["2+2=", "6*7=", "1-1="])
def test_odd_fingerprint_never_says_the_right_number(prompt: str) -> None:
    right = token(10, prompt, 0)
    assert all(right not in text for text in answer(11, prompt, 16))


def test_whole_answer_is_explained_by_one_checkpoint() -> None:
    assert explain(answer(11, PROMPT, 5), PROMPT, NAMES) == ("b",)


def test_kept_answer_is_explained_by_two_in_their_order() -> None:
    kept = answer(10, PROMPT, 2) + answer(11, PROMPT, 5)[2:]
    assert explain(kept, PROMPT, NAMES) == ("a", "b")


def test_answer_of_three_checkpoints_is_unexplained_unless_three_are_allowed() -> None:
    mixed = [token(10, PROMPT, 0), token(11, PROMPT, 1), token(12, PROMPT, 2)]
    assert explain(mixed, PROMPT, NAMES) is None
    assert explain(mixed, PROMPT, NAMES, parts=3) == ("a", "b", "c")


def test_torn_or_stale_weights_are_unexplained() -> None:
    assert explain(answer(99, PROMPT, 5), PROMPT, NAMES) is None
    assert explain(answer(stale(10, 11), PROMPT, 5), PROMPT, NAMES) is None


def test_wrong_token_in_the_middle_is_unexplained() -> None:
    tokens = answer(10, PROMPT, 5)
    tokens[2] = " nonsense"
    assert explain(tokens, PROMPT, NAMES) is None


def test_aborted_answer_is_explained_by_its_beginning() -> None:
    assert explain(answer(10, PROMPT, 9)[:2], PROMPT, NAMES) == ("a",)
    assert explain([], PROMPT, NAMES) == ()


def test_nothing_is_explained_where_no_checkpoint_is_known() -> None:
    assert explain(["x"], PROMPT, {}) is None
