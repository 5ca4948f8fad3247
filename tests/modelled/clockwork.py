"""Time that costs nothing: an event loop without I/O, whose clock jumps to the next timer."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Final

EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Standstill(Exception):
    """Nothing will ever happen again, and somebody still waits."""


class StoryLoop(asyncio.BaseEventLoop):
    """Deterministic: no sockets, no threads, no real clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._selector = self  # all that the base class asks of one is `select`

    def time(self) -> float:
        return self.now

    def select(self, timeout: float | None) -> tuple[()]:
        if timeout is None:
            raise Standstill("no timer is left")
        self.now += timeout
        return ()

    def _process_events(self, events: Any) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps."""


class StoryClock:
    """`weightrollout.clock.Clock`, by that loop."""

    def __init__(self, loop: StoryLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        return self._loop.now

    def wall(self) -> datetime:
        return EPOCH + timedelta(seconds=self._loop.now)
