"""A file read in ranges is that file, however it is read, and no more of it is asked for than is allowed."""

from concurrent.futures import Future

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.weights.sources.ranged import FIRST_BYTES, RANGE_BYTES, Ranged
from weightrollout.weights.sources.remote import RANGES, Remote
from weightrollout.weights.sources.retry import Patience, retry_after_s
from weightrollout.weights.sources.source import Stamp

CONTENT = bytes(range(256)) * ((2 * RANGE_BYTES + 12_345) // 256)
WIPED = b"\xff" * RANGE_BYTES


class Kept:
    """Answers at once, and counts what is under way until it is taken. Memory that was given back holds the next range."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._spare: list[memoryview] = []
        self.taken = 0  # memory of ranges
        self.open = 0
        self.under_way = 0
        self.most = 0
        self.asked: list[tuple[int, int]] = []

    def ahead(self, name: str, begin: int, end: int) -> Future[memoryview]:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.asked.append((begin, end))
        if not self._spare:
            self._spare.append(memoryview(bytearray(RANGE_BYTES)))
            self.taken += 1
        data = self._spare.pop()[: end - begin]
        data[:] = CONTENT[begin:end]
        found: Future[memoryview] = Future()
        found.set_result(data)
        return found

    def result(self, future: Future[memoryview]) -> memoryview:
        self.under_way -= 1
        return future.result()

    def used(self, data: memoryview) -> None:
        if len(data):
            assert isinstance(data.obj, bytearray)
            data.obj[:] = WIPED
            self._spare.append(memoryview(data.obj))

    def count(self, files: int) -> None:
        self.open += files

    def share(self) -> int:
        return self._share


@settings(max_examples=50, deadline=None)  # tens of megabytes are copied
@given(
    reads=st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(0, len(CONTENT) + 9)),
            st.integers(0, 3 * RANGE_BYTES),
        ),
        max_size=6,
    )
)
def test_reads_and_jumps_give_the_bytes_of_the_file(reads: list[tuple[int | None, int]]) -> None:
    at = 0
    with Ranged(Kept(3), "x", len(CONTENT)) as file:
        for jump, size in reads:
            if jump is not None:
                file.seek(at := jump)
            found = file.read(size)
            assert found == CONTENT[at : at + size]
            at += len(found)


@pytest.mark.parametrize("share", [1, 3])
def test_whole_file_is_asked_for_once_and_never_more_than_its_share_at_a_time(share: int) -> None:
    source = Kept(share)
    with Ranged(source, "x", len(CONTENT)) as file:
        buffer = bytearray(1 << 20)
        while file.readinto(buffer):
            pass
    assert sum(end - begin for begin, end in source.asked) == len(CONTENT)
    assert source.most == share
    assert source.taken == share
    assert source.open == 0


def test_header_alone_costs_no_large_range() -> None:
    source = Kept(3)
    with Ranged(source, "x", len(CONTENT)) as file:
        file.read(8)
        file.read(2000)
    assert source.asked == [(0, FIRST_BYTES)]


class Counting(Remote):
    """Reads CONTENT, and remembers into which memory."""

    def __init__(self) -> None:
        super().__init__("nowhere", Patience(), lambda: False)
        self.memories: dict[int, object] = {}  # held, so that none gets the number of another
        self._pins = {"x": Stamp(len(CONTENT), "")}

    def _range(self, name: str, pin: Stamp, begin: int, end: int) -> memoryview:
        data = self.memory(end - begin)
        assert isinstance(data.obj, bytearray)
        self.memories[id(data.obj)] = data.obj
        data[:] = CONTENT[begin:end]
        return data


def test_memory_of_a_range_holds_the_next_one() -> None:
    """New memory costs as much as to hash what comes into it."""
    source = Counting()
    with source.open("x") as file:
        for _ in range(4):
            file.seek(0)
            assert file.read(len(CONTENT)) == CONTENT
    source.close()
    assert len(source.memories) <= RANGES


def test_patience_doubles_heeds_the_server_and_ends() -> None:
    patience = Patience(attempts=4, first_s=1, most_s=10)
    delays = [patience.delay_s(failures, None) for failures in (1, 2, 3, 4)]
    assert delays == [1, 2, 4, None]
    assert patience.delay_s(1, 7.0) == 7
    assert patience.delay_s(1, 999.0) == 10
    assert patience.delay_s(4, 1.0) is None


@pytest.mark.parametrize(
    ("header", "found"),
    [("7", 7.0), (" 0 ", 0.0), (None, None), ("soon", None), ("-1", None), ("9" * 30, None)],
)
def test_retry_after_is_taken_in_seconds_only(header: str | None, found: float | None) -> None:
    assert retry_after_s(header) == found
