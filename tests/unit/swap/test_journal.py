"""What the agent promised is there after a crash, and what cannot be read is never guessed."""

from dataclasses import replace
from pathlib import Path

import pytest

from weightrollout.api.spec import Expect, Metadata, PauseMode, Prompt, TakeOut
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.swap import book
from weightrollout.swap.book import Book, Reservation, Running, Serving
from weightrollout.swap.journal import FILE, Journal, JournalUnwritable
from weightrollout.swap.machine import begin
from weightrollout.swap.records import Content, Failure, Holds, Source, Step, SwapRequest

OLD = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
NEW = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64, Metadata.IGNORE)
EXPECTED = (Expect(contains="4"), Expect(regex=r"^\s*4"), Expect(token_ids=(19, 0)))
PROMPTS = tuple(Prompt(prompt="2+2=", max_tokens=4, expect=each) for each in EXPECTED)
STATE = begin(
    SwapRequest("cr/rev-2/pod/1", 1, NEW, OLD, PauseMode.ABORT, False, 1.5, 300.0, PROMPTS), "e-1"
)
FAILURE = Failure(FailureClass.WEIGHTS, "VerifyFailed", "prompt '2+2='")


def full() -> Book:
    return Book(
        owner_uid="cr",
        epoch=4,
        told=OLD,
        serving=Serving(OLD, "e-1"),
        last_good=OLD,
        touched="e-1",
        running=Running(
            replace(STATE, step=Step.UPDATE, holds=Holds.GONE, source=Source.LAST_GOOD, cycle=3),
            TakeOut.ENDPOINT,
        ),
        finished=(
            replace(
                book.view(STATE, 12.5, (book.Timing(SwapPhase.PAUSING, 3.25),)),
                outcome=Outcome.UNDONE,
                failure=FAILURE,
            ),
        ),
        attempts=(book.Attempts(NEW.digest, 2, FAILURE),),
        reservation=Reservation("cr/rev-3/pod/1", TakeOut.NONE, 30.0, NEW),
    )


async def test_everything_comes_back_as_it_was_written(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path)
    journal.put(full())
    await journal.sync()
    assert Journal.open(tmp_path).book == full()


def test_invariant_6_a_kill_in_mid_write_leaves_the_old_book_whole(tmp_path: Path) -> None:
    """It is never written over: what another name of the same file shows must not change."""
    journal = Journal.open(tmp_path)
    journal.put(full())
    kept = tmp_path / "kept"
    kept.hardlink_to(tmp_path / FILE)
    old = kept.read_bytes()
    journal.put(Book(owner_uid="cr", epoch=5))
    assert kept.read_bytes() == old
    assert Journal.open(tmp_path).book.epoch == 5


def test_first_start_is_not_a_lost_journal(tmp_path: Path) -> None:
    assert Journal.open(tmp_path).book == Book(lost=False)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"epoch": "many"}', b'{"schema": 2}'])
def test_journal_that_cannot_be_understood_is_kept_aside(tmp_path: Path, data: bytes) -> None:
    for number in (1, 2):
        (tmp_path / FILE).write_bytes(data)
        journal = Journal.open(tmp_path)
        assert journal.book == Book(lost=True)
        assert (tmp_path / f"journal.corrupt-{number}").read_bytes() == data


def test_write_that_was_cut_leaves_the_old_book(tmp_path: Path) -> None:
    Journal.open(tmp_path).put(full())
    (tmp_path / ".journal.json.tmp").write_bytes(b'{"schema"')
    assert Journal.open(tmp_path).book == full()


async def test_volume_that_takes_no_writes_is_said_and_nothing_is_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    journal = Journal.open(folder)
    journal.put(full())
    (folder / FILE).unlink()
    folder.rmdir()
    with pytest.raises(JournalUnwritable, match="No such file"):
        journal.put(Book())
    with pytest.raises(JournalUnwritable):
        await journal.sync()
    assert journal.book == full()


def test_attempts_count_only_those_that_reached_the_pause() -> None:
    running = Book(running=Running(STATE, TakeOut.ENDPOINT))
    state = replace(STATE, outcome=Outcome.UNTOUCHED, failure=FAILURE)
    ended = book.ended(running, state, book.view(state, 0, ()))
    assert ended.attempts == ()
    state = replace(state, pause_sent=True)
    for count in (1, 2):
        ended = book.ended(replace(ended, running=None), state, book.view(state, 0, ()))
        assert ended.attempts == (book.Attempts(NEW.digest, count, FAILURE),)
    state = replace(state, outcome=Outcome.COMMITTED)
    ended = book.ended(ended, state, book.view(state, 0, ()))
    assert ended.attempts == (book.Attempts(NEW.digest, 0, None),)


def test_old_attempts_are_forgotten_before_new_ones() -> None:
    now = Book()
    for number in range(book.MAX_ATTEMPTS + 5):
        target = replace(NEW, digest=f"sha256:{number:064x}")
        state = replace(STATE, request=replace(STATE.request, target=target), pause_sent=True)
        state = replace(state, outcome=Outcome.UNDONE, failure=FAILURE)
        now = book.ended(now, state, book.view(state, 0, ()))
    assert len(now.attempts) == book.MAX_ATTEMPTS
    assert now.attempts[0].digest.endswith(f"{book.MAX_ATTEMPTS + 4:x}")
    assert len(now.finished) == book.MAX_FINISHED


def test_untouched_engine_goes_on_serving_what_was_proven() -> None:
    before = replace(full(), running=Running(STATE, TakeOut.ENDPOINT))
    state = replace(STATE, outcome=Outcome.UNTOUCHED, failure=FAILURE)
    assert book.ended(before, state, book.view(state, 0, ())).serving == Serving(OLD, "e-1")


def test_engine_is_touched_from_the_moment_start_may_have_been_sent() -> None:
    paused = replace(STATE, step=Step.PAUSE)
    assert book.touched(Book(running=Running(paused, TakeOut.ENDPOINT))) == ""
    starting = replace(STATE, step=Step.START)
    assert book.touched(Book(running=Running(starting, TakeOut.ENDPOINT))) == "e-1"
