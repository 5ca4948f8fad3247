"""A user's regular expression can be wrong, but it cannot stop an agent."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weightrollout.api.pattern import MAX_TEXT, compilable, found
from weightrollout.api.spec import MAX_PATTERN

#: Far above what the worst pattern takes, far below what back-tracking would.
CPU_S = 10.0


@pytest.mark.parametrize("pattern", ["(?=4)", "(?<!4)", r"(4)\1", "(4", "[z-a]", "*", "a{2,1}"])
def test_pattern_of_another_dialect_is_refused_with_its_reason(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"of the RE2 family: .+"):
        compilable(pattern)


@pytest.mark.parametrize("pattern", [r"(\w{100}){100}", r"\pL{800}", "((a{100}){100}){100}"])
def test_pattern_that_would_be_a_huge_program_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="size limit"):
        compilable(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "there"),
    [
        ("4", "it is 4.", True),
        ("^4", "it is 4.", False),
        (r"(?i)\bFOUR\b", "It is four", True),
        (r"^\s*[0-9]+$", " 42", True),
        ("a.c", "a\nc", False),
        ("(?s)a.c", "a\nc", True),
        (r"\p{Greek}", "\u03b1", True),
    ],
)
def test_pattern_is_looked_for_anywhere(pattern: str, text: str, there: bool) -> None:
    assert found(pattern, text) is there


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|aa)+$", "(.*a){60}$", r"([01]*1[01]{400})+$", r"\d{1000}x", "(a?){200}a{200}$"],
)
def test_no_pattern_hangs_an_agent(pattern: str) -> None:
    begun = time.process_time()
    for text in ("a" * (1 << 20) + "!", "01" * (1 << 19), "\U0001f600" * (1 << 18)):
        found(pattern, text)
    assert time.process_time() - begun < CPU_S


def test_answer_beyond_the_bound_is_not_looked_at() -> None:
    assert found("b", "a" * (MAX_TEXT - 1) + "b")
    assert not found("b", "a" * MAX_TEXT + "b")


@given(st.text(min_size=1, max_size=40), st.text(max_size=60))
def test_any_text_as_a_pattern_is_refused_or_answers(pattern: str, text: str) -> None:
    try:
        compilable(pattern)
    except ValueError:
        return
    assert found(pattern, text) in (True, False)


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=8))
def test_plain_words_mean_themselves(word: str) -> None:
    assert len(word) <= MAX_PATTERN
    assert found(re.escape(word), f"before {word} after")
    assert not found(f"^{word}$", f"{word}x")
