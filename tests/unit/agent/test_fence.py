"""Who may give orders: one owner, the newest leader."""

from dataclasses import replace

import pytest

from weightrollout.agent.fence import Fence, admit, hello
from weightrollout.agent.reasons import Refused
from weightrollout.api.spec import PauseMode, TakeOut
from weightrollout.swap.book import Attempts, Book, Reservation, Running
from weightrollout.swap.machine import begin
from weightrollout.swap.records import Content, SwapRequest

NEW = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
OWNED = Book(owner_uid="cr", epoch=5, told=NEW, attempts=(Attempts(NEW.digest, 1, None),))
RESERVED = replace(OWNED, reservation=Reservation("txn", TakeOut.ENDPOINT, 30, NEW))
SWAPPING = replace(
    OWNED,
    running=Running(
        begin(SwapRequest("txn", 1, NEW, None, PauseMode.KEEP, True, 1, 9, ()), "engine-1"),
        TakeOut.ENDPOINT,
    ),
)


def test_first_hello_makes_an_owner() -> None:
    book = hello(Book(), Fence("cr", 1), takeover=False)
    assert (book.owner_uid, book.epoch) == ("cr", 1)


@pytest.mark.parametrize("fence", [Fence("", 1), Fence("cr", 0), Fence("cr", -1)])
def test_fence_without_owner_or_epoch_is_no_fence(fence: Fence) -> None:
    with pytest.raises(Refused, match="BadRequest"):
        hello(Book(), fence, takeover=True)


def test_call_before_any_hello_is_refused() -> None:
    with pytest.raises(Refused, match="NoOwner"):
        admit(Book(), Fence("cr", 1))


def test_leader_that_was_replaced_is_told_the_epoch_it_lost_to() -> None:
    with pytest.raises(Refused, match="StaleEpoch") as refused:
        admit(OWNED, Fence("cr", 4))
    assert refused.value.epoch == 5
    with pytest.raises(Refused, match="StaleEpoch"):
        hello(OWNED, Fence("cr", 4), takeover=True)


def test_newer_leader_is_obeyed_and_remembered() -> None:
    assert admit(OWNED, Fence("cr", 5)) is OWNED
    assert admit(OWNED, Fence("cr", 6)).epoch == 6
    assert hello(OWNED, Fence("cr", 7), takeover=False).epoch == 7


def test_newer_leader_of_the_same_owner_is_obeyed_in_mid_swap() -> None:
    assert admit(SWAPPING, Fence("cr", 6)).running is SWAPPING.running


def test_other_owner_is_refused_until_it_takes_over() -> None:
    with pytest.raises(Refused, match="ForeignOwner"):
        admit(OWNED, Fence("other", 9))
    with pytest.raises(Refused, match="ForeignOwner"):
        hello(OWNED, Fence("other", 9), takeover=False)


@pytest.mark.parametrize("book", [RESERVED, SWAPPING])
def test_takeover_waits_for_a_settled_state(book: Book) -> None:
    with pytest.raises(Refused, match="not settled"):
        hello(book, Fence("other", 9), takeover=True)


def test_takeover_keeps_what_is_served_and_forgets_attempts_of_the_old_owner() -> None:
    book = hello(OWNED, Fence("other", 1), takeover=True)
    assert (book.owner_uid, book.epoch, book.told, book.attempts) == ("other", 1, NEW, ())
