"""Who may give orders: one owner, and of its leaders the newest. Pure."""

from dataclasses import dataclass, replace

from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.swap.book import Book


@dataclass(frozen=True, slots=True)
class Fence:
    owner_uid: str
    epoch: int


def settled(book: Book) -> bool:
    """No transaction and no reservation: nothing that a new owner would have to end."""
    return book.running is None and book.reservation is None


def hello(book: Book, fence: Fence, *, takeover: bool) -> Book:
    """The book after a Hello. Raises Refused."""
    if not fence.owner_uid or fence.epoch < 1:
        raise Refused(RefusalReason.BAD_REQUEST, "a fence needs an owner uid and an epoch from 1")
    if book.owner_uid in ("", fence.owner_uid):
        _not_stale(book, fence)
        return replace(book, owner_uid=fence.owner_uid, epoch=fence.epoch)
    if not takeover:
        raise _foreign(book, fence, "only a takeover changes it")
    if not settled(book):
        raise _foreign(book, fence, "and a swap of that owner is not settled yet")
    # Another resource counts its leaders anew, and must not be judged by the old one's failures.
    return replace(book, owner_uid=fence.owner_uid, epoch=fence.epoch, attempts=(), finished=())


def admit(book: Book, fence: Fence) -> Book:
    """The book after a mutating call was let in. Raises Refused."""
    if not book.owner_uid:
        raise Refused(RefusalReason.NO_OWNER, "say Hello first")
    if book.owner_uid != fence.owner_uid:
        raise _foreign(book, fence, "say Hello with takeover first")
    _not_stale(book, fence)
    return book if book.epoch == fence.epoch else replace(book, epoch=fence.epoch)


def _not_stale(book: Book, fence: Fence) -> None:
    if fence.epoch < book.epoch:
        raise Refused(
            RefusalReason.STALE_EPOCH,
            f"epoch {fence.epoch} is over: the highest seen is {book.epoch}",
            epoch=book.epoch,
        )


def _foreign(book: Book, fence: Fence, how: str) -> Refused:
    return Refused(
        RefusalReason.FOREIGN_OWNER,
        f"this agent belongs to WeightRollout {book.owner_uid}, not to {fence.owner_uid}; {how}",
        epoch=book.epoch,
    )
