"""A block with a hole, or one that was written twice, has no checksum."""

import zlib

import pytest

from weightrollout.weights.checksum import Part, whole


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
