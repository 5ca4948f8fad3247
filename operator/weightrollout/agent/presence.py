"""Since when has no operator spoken? A call that the fence let in, or a Watch stream with today's fence."""

from collections.abc import Iterator
from contextlib import contextmanager

from weightrollout.agent.fence import Fence
from weightrollout.clock import Clock
from weightrollout.swap.journal import Journal


class Presence:
    """The start of the agent counts as a word: an operator needs a moment to find it."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._heard_at = clock.monotonic()
        self._streams: list[Fence] = []

    def heard(self) -> None:
        """A call was let in."""
        self._heard_at = self._clock.monotonic()

    @contextmanager
    def watched(self, fence: Fence) -> Iterator[None]:
        """A stream lives. It counts while no newer leader has spoken; one without a fence never."""
        self._streams.append(fence)
        try:
            yield
        finally:
            if self._leads(fence):
                self.heard()
            self._streams.remove(fence)

    def silent_s(self) -> float:
        """Seconds; 0 while an operator watches."""
        if any(self._leads(fence) for fence in self._streams):
            return 0.0
        return self._clock.monotonic() - self._heard_at

    def _leads(self, fence: Fence) -> bool:
        book = self._journal.book
        return fence.epoch > 0 and (fence.owner_uid, fence.epoch) == (book.owner_uid, book.epoch)
