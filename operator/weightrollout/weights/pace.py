"""How fast weights may be read: at most so many bytes per second, over all that reads with one `Pace`.

A bucket of tokens that may be overdrawn by one read: whoever finds it not in debt goes, whatever it
takes, and the next one waits until that is paid. So in any stretch of time at most

    limit * (seconds + SPARE_S) + the longest read

bytes are read, however many threads read and however long nobody did.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

#: What an idle moment saves up: waiting is never exact, and what is late would be lost.
SPARE_S: Final = 0.1
#: How often who waits looks whether to go on, and at the limit.
TICK_S: Final = 0.1


class Pace:
    """Safe across threads. Without a limit it costs a comparison."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`clock`: seconds from any start."""
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._limit: int | None = None
        self._tokens = 0.0
        self._at = clock()

    @property
    def limit(self) -> int | None:
        """Bytes per second; None: as fast as they come."""
        return self._limit

    def hold_to(self, limit: int | None) -> None:
        """From now on, also for who waits already. `limit`: bytes per second, positive."""
        with self._lock:
            self._settle()
            self._limit = limit
            self._tokens = 0.0 if limit is None else min(self._tokens, limit * SPARE_S)

    def take(self, size: int, go_on: Callable[[], None]) -> None:
        """Wait until `size` bytes may be read. `go_on` is called ten times a second and raises to give up."""
        while True:
            go_on()
            wait_s = self._take(size)
            if not wait_s:
                return
            self._sleep(min(wait_s, TICK_S))

    def give_back(self, size: int) -> None:
        """So many bytes of those taken were not read: the file ended."""
        with self._lock:
            if self._limit is not None:
                self._tokens = min(self._tokens + size, self._limit * SPARE_S)

    def _take(self, size: int) -> float:
        """Seconds to wait before asking again; 0: they are taken."""
        with self._lock:
            if self._limit is None:
                return 0.0
            self._settle()
            if self._tokens <= -1:  # a part of a byte is no debt, but rounding
                return -self._tokens / self._limit
            self._tokens -= size
            return 0.0

    def _settle(self) -> None:
        now = self._clock()
        if self._limit is not None:
            earned = self._limit * max(0.0, now - self._at)
            self._tokens = min(self._tokens + earned, self._limit * SPARE_S)
        self._at = now
