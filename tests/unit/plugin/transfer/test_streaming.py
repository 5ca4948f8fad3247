"""The C helper and its stand-in copy exactly the bytes they were told to, and both stop."""

import ctypes
import random
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: make test-transfer")

from weightrollout.plugin.transfer.streaming import (
    Piece,
    cut,
    helper_at,
    pieces_of,
    streaming_helper,
)

#: Around the least length that is streamed, four pages, and a line of the cache.
LENGTHS = [0, 1, 63, 64, 65, 16_383, 65_535, 65_536, 65_537, 81_919, 81_920, 200_003]
ways = pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "memmove"])


def buffer(size: int) -> "ctypes.Array[ctypes.c_char]":
    return (ctypes.c_char * size).from_buffer_copy(random.Random(size).randbytes(size))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: make setup built none")
def test_the_helper_was_built_for_this_machine_and_loads() -> None:
    """Else every test here would pass with its stand-in."""
    assert streaming_helper() is not None


@ways
@pytest.mark.parametrize("length", LENGTHS)
def test_bytes_from_any_address_to_any_address(streaming: bool, length: int) -> None:
    for to, from_ in [(0, 0), (1, 0), (0, 1), (17, 3), (63, 64)]:
        target, source = buffer(length + 130), buffer(length + 131)
        before = bytes(target)
        piece = Piece(ctypes.addressof(target) + to, ctypes.addressof(source) + from_, length)
        pieces_of([piece], streaming=streaming).copy()
        wanted = before[:to] + bytes(source)[from_ : from_ + length] + before[to + length :]
        assert bytes(target) == wanted


@ways
def test_a_list_is_copied_once_until_it_is_rewound(streaming: bool) -> None:
    target, source = buffer(100), buffer(101)
    piece = Piece(ctypes.addressof(target), ctypes.addressof(source), 100)
    pieces = pieces_of(cut(piece, 7), streaming=streaming)
    pieces.copy()
    assert bytes(target) == bytes(source)[:100]
    ctypes.memset(target, 0, 100)
    pieces.copy()
    assert bytes(target) == bytes(100)
    pieces.rewind()
    pieces.copy()
    assert bytes(target) == bytes(source)[:100]


@ways
def test_a_stopped_list_copies_nothing_more(streaming: bool) -> None:
    target, source = buffer(100), buffer(101)
    before = bytes(target)
    piece = Piece(ctypes.addressof(target), ctypes.addressof(source), 100)
    pieces = pieces_of([piece], streaming=streaming)
    pieces.stop()
    pieces.copy()
    assert bytes(target) == before


def test_pieces_cover_the_whole_and_none_is_larger_than_the_limit() -> None:
    assert cut(Piece(1000, 2000, 10), 4) == [
        Piece(1000, 2000, 4),
        Piece(1004, 2004, 4),
        Piece(1008, 2008, 2),
    ]


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF of another machine"])
def test_a_helper_that_is_absent_or_of_another_machine_is_done_without(
    tmp_path: Path, content: bytes | None
) -> None:
    library = tmp_path / "streaming.so"
    if content is not None:
        library.write_bytes(content)
    assert helper_at(library) is None
