"""A limit in bytes per second holds over all readers, in any stretch of time, and is obeyed from the moment it is set."""

import random
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import checkpoints
from reports import report_of
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.pace import SPARE_S, Pace
from weightrollout.weights.staging import StageCount, Store

MIB = 1 << 20


class Time:
    """Passes only while somebody sleeps; who sleeps may do something first."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lock = threading.Lock()
        self.before: Callable[[], None] = lambda: None

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.before()
        with self.lock:
            self.now += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pace(time: Time) -> Pace:
    return Pace(time.clock, time.sleep)


def _go_on() -> None:
    pass


@pytest.mark.parametrize("seed", range(5))
def test_no_stretch_of_time_has_more_bytes_than_the_limit_and_one_read(
    time: Time, pace: Pace, seed: int
) -> None:
    rng = random.Random(seed)
    limit, longest = MIB, 300_000
    pace.hold_to(limit)
    reads: list[tuple[float, int]] = []
    for _ in range(200):
        size = rng.randrange(1, longest)
        pace.take(size, _go_on)
        reads.append((time.now, size))
        if rng.random() < 0.2:
            time.now += rng.random() * 3  # nobody reads, which saves up next to nothing
    for first, (begin, _) in enumerate(reads):
        total = 0
        for end, size in reads[first:]:
            total += size
            assert total <= limit * (end - begin + SPARE_S) + longest + 1


def test_limit_is_reached_by_who_always_wants_more(time: Time, pace: Pace) -> None:
    pace.hold_to(MIB)
    for _ in range(100):
        pace.take(MIB // 4, _go_on)
    assert 100 * (MIB // 4) / time.now >= 0.99 * MIB


def test_bytes_that_the_end_of_a_file_left_unread_are_not_counted(time: Time, pace: Pace) -> None:
    pace.hold_to(MIB)
    for _ in range(50):
        pace.take(MIB, _go_on)
        pace.give_back(MIB - 1)
    assert time.now < 0.01


def test_without_a_limit_nobody_waits(time: Time, pace: Pace) -> None:
    for _ in range(100):
        pace.take(1 << 40, _go_on)
    assert time.now == 0.0


@pytest.mark.parametrize(("limit", "at_most_s"), [(None, 0.2), (1 << 30, 0.3)])
def test_limit_that_is_raised_or_lifted_lets_go_who_waits(
    time: Time, pace: Pace, limit: int | None, at_most_s: float
) -> None:
    pace.hold_to(1)  # a byte per second: a day for what follows
    pace.take(90_000, _go_on)
    time.before = lambda: pace.hold_to(limit)
    pace.take(1, _go_on)
    assert time.now <= at_most_s


def test_limit_that_is_lowered_holds_for_who_reads_on(time: Time, pace: Pace) -> None:
    pace.hold_to(1 << 30)
    pace.take(MIB, _go_on)
    pace.hold_to(MIB)
    begun = time.now
    for _ in range(4):
        pace.take(MIB, _go_on)
    assert time.now - begun >= 3


def test_who_waits_gives_up_when_it_is_told_to(time: Time, pace: Pace) -> None:
    pace.hold_to(1)
    pace.take(90_000, _go_on)

    def give_up() -> None:
        if time.now > 1:
            raise WeightsError(Reason.STAGING_CANCELLED, "")

    with pytest.raises(WeightsError):
        pace.take(1, give_up)
    assert time.now < 2


def _stage(store: Store, folder: Path, cancelled: Callable[[], bool] = lambda: False) -> int:
    counts: list[StageCount] = []
    store.stage(
        folder.as_uri(),
        digest=None,
        reports=[report_of(folder)],
        progress=counts.append,
        cancelled=cancelled,
    )
    return counts[-1].bytes


def test_staging_from_a_volume_takes_as_long_as_the_limit_says(
    tmp_path: Path, time: Time, pace: Pace
) -> None:
    folder = checkpoints.write_checkpoint(
        tmp_path / "model", seed=1, tensors={"weight": ("BF16", (8 << 20,))}, files=1
    )
    pace.hold_to(MIB)
    size = _stage(Store(tmp_path / "staging", threads=2, pace=pace), folder)
    assert time.now >= (size - MIB) / MIB - SPARE_S


@pytest.mark.timeout(60)
def test_cancelled_staging_does_not_wait_for_its_turn(
    tmp_path: Path, time: Time, pace: Pace
) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    pace.hold_to(1)
    cancelled = threading.Event()
    time.before = cancelled.set
    with pytest.raises(WeightsError) as caught:
        _stage(Store(tmp_path / "staging", threads=2, pace=pace), folder, cancelled.is_set)
    assert caught.value.reason is Reason.STAGING_CANCELLED
    assert time.now < 10


class OneFails(Pace):
    """The first file that is read fails; whoever else reads waits for a day."""

    def __init__(self) -> None:
        super().__init__()
        self._first = threading.Lock()

    def take(self, size: int, go_on: Callable[[], None]) -> None:
        if not threading.current_thread().name.startswith("read"):
            return  # headers and small files
        if self._first.acquire(blocking=False):
            raise WeightsError(Reason.SOURCE_UNREADABLE, "the first")
        self.hold_to(1)
        super().take(86_400, _go_on)
        super().take(size, go_on)


@pytest.mark.timeout(60)
def test_file_that_fails_ends_the_wait_of_the_others(tmp_path: Path) -> None:
    folder = checkpoints.write_checkpoint(tmp_path / "model", seed=1)
    with pytest.raises(WeightsError, match="the first"):
        _stage(Store(tmp_path / "staging", threads=2, pace=OneFails()), folder)
