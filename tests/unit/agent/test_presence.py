"""Since when has no operator spoken?"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from weightrollout.agent.fence import Fence
from weightrollout.agent.presence import Presence
from weightrollout.swap.book import Book
from weightrollout.swap.journal import Journal

LEADER = Fence("cr", 5)


class HandClock:
    """Moves when the test says so."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> datetime:
        return datetime.fromtimestamp(self.now, UTC)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    found = Journal.open(tmp_path)
    found.book = Book(owner_uid="cr", epoch=5)
    return found


def test_new_agent_gives_the_operator_its_time(clock: HandClock, journal: Journal) -> None:
    presence = Presence(journal, clock)
    clock.now += 29
    assert presence.silent_s() == 29
    presence.heard()
    assert presence.silent_s() == 0


def test_operator_that_only_watches_is_there(clock: HandClock, journal: Journal) -> None:
    presence = Presence(journal, clock)
    with presence.watched(LEADER):
        clock.now += 1000
        assert presence.silent_s() == 0
    clock.now += 7
    assert presence.silent_s() == 7


@pytest.mark.parametrize("fence", [Fence("", 0), Fence("cr", 4), Fence("other", 5)])
def test_stream_of_anyone_else_does_not_count(
    clock: HandClock, journal: Journal, fence: Fence
) -> None:
    presence = Presence(journal, clock)
    with presence.watched(fence):
        clock.now += 60
        assert presence.silent_s() == 60
    assert presence.silent_s() == 60


def test_stream_of_a_leader_that_was_replaced_counts_no_more(
    clock: HandClock, journal: Journal
) -> None:
    presence = Presence(journal, clock)
    with presence.watched(LEADER):
        journal.book = replace(journal.book, epoch=6)
        presence.heard()  # the Hello that raised it
        clock.now += 40
        assert presence.silent_s() == 40
    assert presence.silent_s() == 40


def test_agent_that_nobody_ever_greeted_is_not_watched_by_a_reader(
    clock: HandClock, journal: Journal
) -> None:
    journal.book = Book()
    presence = Presence(journal, clock)
    with presence.watched(Fence("", 0)):
        clock.now += 31
        assert presence.silent_s() == 31
