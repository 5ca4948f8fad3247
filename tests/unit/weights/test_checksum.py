"""A block with a hole, or one that was written twice, has no checksum."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weightrollout.weights.checksum import Part, of, whole


@pytest.mark.parametrize(
    "parts",
    [
        [Part(0, 4, 1), Part(5, 4, 1)],
        [Part(0, 4, 1), Part(3, 4, 1)],
        [Part(0, 4, 1), Part(0, 4, 1)],
        [Part(1, 4, 1)],
    ],
    ids=["gap", "overlap", "twice", "late start"],
)
def test_parts_that_do_not_join_are_refused(parts: list[Part]) -> None:
    with pytest.raises(ValueError, match="does not follow byte"):
        whole(parts)


def test_nothing_has_the_checksum_of_nothing() -> None:
    assert whole([]) == (0, zlib.crc32(b""))


@given(st.binary(max_size=100))
def test_engine_finds_the_checksum_that_was_staged(data: bytes) -> None:
    """It has Python's zlib, and the agent another library. The long one takes that library's fast way."""
    for each in (data, data * 1000):
        assert of(memoryview(each)) == zlib.crc32(each)
