"""The list of mutants cannot rot: each one still has its guard and its tests."""

from collections import Counter

import pytest

from mutants.__main__ import PACKAGE, ROOT
from mutants.catalogue import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
def test_guard_that_a_mutant_removes_is_there_exactly_once(mutant: Mutant) -> None:
    assert (ROOT / PACKAGE / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.old != mutant.new


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
def test_test_that_must_see_a_mutant_is_there(mutant: Mutant) -> None:
    for test in mutant.tests:
        path, _, name = test.partition("::")
        text = (ROOT / "tests" / path).read_text()
        assert not name or f"def {name.partition('[')[0]}(" in text


def test_every_invariant_has_at_least_two_mutants() -> None:
    count = Counter(mutant.invariant for mutant in MUTANTS)
    assert {number: count[number] >= 2 for number in range(1, 13)} == dict.fromkeys(
        range(1, 13), True
    )


def test_names_of_mutants_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
