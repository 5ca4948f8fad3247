"""Limits round down, so that a percentage never takes more pods than it says."""

import pytest

from weightrollout.api.quantity import limit


@pytest.mark.parametrize(
    ("value", "base", "floor", "expected"),
    [
        ("25%", 4, 1, 1),
        ("25%", 5, 1, 1),  # rounded up it would take out 40 %
        ("25%", 8, 1, 2),
        ("25%", 3, 1, 1),  # 0.75: at least one, else nothing moves
        ("99%", 1, 1, 1),
        ("100%", 7, 1, 7),
        ("0%", 7, 0, 0),
        ("10%", 9, 0, 0),  # maxFailed may be none
        ("10%", 10, 0, 1),
        ("10%", 0, 1, 1),
        (3, 2, 1, 3),
        (0, 5, 1, 1),
        (0, 5, 0, 0),
        ("33%", 1000, 1, 330),
        ("29%", 100, 1, 29),  # 0.29 * 100 is 28.999... in floating point
    ],
)
def test_a_limit_rounds_down_to_its_floor(
    value: int | str, base: int, floor: int, expected: int
) -> None:
    assert limit(value, base, at_least=floor) == expected
