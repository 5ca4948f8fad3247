"""A source behind a network: files are read in ranges, some of them ahead and in parallel.

Memory: at most RANGES + one for each open file, of RANGE_BYTES each, beside what a library holds of
them. A range that fails is asked for again by itself: that is how reading goes on after a cut.
"""

import io
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final, NoReturn, TypeVar

from weightrollout.weights import digest
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.pace import Pace
from weightrollout.weights.sources.ranged import FIRST_BYTES, RANGE_BYTES, Ranged
from weightrollout.weights.sources.retry import Again, Patience
from weightrollout.weights.sources.source import Stamp

T = TypeVar("T")

RANGES: Final = 6
#: Small files are looked at more than once and fetched once.
_SMALL_BYTES: Final = 4 << 20
#: How often who waits looks whether to go on.
_TICK_S: Final = 0.1


class Remote:
    """Base of the sources behind a network. A subclass implements `_list` and `_range`."""

    def __init__(self, where: str, patience: Patience, cancelled: Callable[[], bool]) -> None:
        """`cancelled`: asked from many threads."""
        self.where = where
        self.promised: Mapping[str, str] = {}
        self.pace = Pace()
        self._patience = patience
        self._cancelled = cancelled
        self._pins: dict[str, Stamp] = {}
        self._small: dict[str, bytes] = {}
        self._pool = ThreadPoolExecutor(RANGES, thread_name_prefix="range")
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._open_files = 0
        self._spare: deque[bytearray] = deque()  # of RANGE_BYTES each

    # -- for a subclass ---------------------------------------------------------------

    def _list(self) -> dict[str, Stamp]:
        """All files that lie there. Raises WeightsError, Again."""
        raise NotImplementedError

    def _range(self, name: str, pin: Stamp, begin: int, end: int) -> memoryview:
        """Exactly these bytes, of the file that `pin` is of. Raises WeightsError, Again."""
        raise NotImplementedError

    def _beside(self, name: str) -> Stamp | None:
        """Of a file that `_list` did not tell; None: it tells all. Raises WeightsError, Again."""
        return None

    def memory(self, size: int) -> memoryview:
        """For the bytes of a range. New memory costs a page fault for each page of it, so that of ranges that were read is used again."""
        if size <= FIRST_BYTES or size > RANGE_BYTES:
            return memoryview(bytearray(size))
        try:
            return memoryview(self._spare.pop())[:size]
        except IndexError:
            return memoryview(bytearray(RANGE_BYTES))[:size]

    # -- Source -----------------------------------------------------------------------

    def stamps(self) -> dict[str, Stamp]:
        listed = self.result(self._asked(self._list))
        found = {name: listed[name] for name in digest.counting(listed)}
        if not self._pins:
            # What does not count is pinned too, and read only by `beside`.
            self._pins = {**listed, **found}
        return found

    def beside(self, name: str, most_bytes: int) -> bytes | None:
        pin = self._pins.get(name) or self._beside(name)
        if pin is None:
            return None
        self._pins[name] = pin
        size = min(pin.bytes, most_bytes)
        return bytes(self.result(self.ahead(name, 0, size))) if size else b""

    def open(self, name: str) -> io.RawIOBase | io.BytesIO:
        pin = self._pins[name]
        if not digest.matches(name, (digest.TENSORS,)) and pin.bytes <= _SMALL_BYTES:
            if name not in self._small:
                self._small[name] = (
                    bytes(self.result(self.ahead(name, 0, pin.bytes))) if pin.bytes else b""
                )
            return io.BytesIO(self._small[name])
        return self._file(name, pin)

    def _file(self, name: str, pin: Stamp) -> io.RawIOBase:
        return Ranged(self, name, pin.bytes)

    def close(self) -> None:
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._spare.clear()

    # -- for the files ------------------------------------------------------------------

    def ahead(self, name: str, begin: int, end: int) -> Future[memoryview]:
        pin = self._pins[name]

        def attempt() -> memoryview:
            # Each of them reads from the source, also one that is cut later on.
            self.pace.take(end - begin, self._go_on)
            return self._range(name, pin, begin, end)

        return self._asked(attempt)

    def result(self, future: Future[T]) -> T:
        """Of `ahead`. Nobody waits for a silent server when nobody wants the bytes any more."""
        while True:
            self._go_on()
            if wait([future], _TICK_S).done:
                return future.result()

    def used(self, data: memoryview) -> None:
        """A range that `ahead` gave, of which nobody holds a part any more."""
        if isinstance(data.obj, bytearray) and len(data.obj) == RANGE_BYTES:
            self._spare.append(data.obj)

    def _asked(self, call: Callable[[], T]) -> Future[T]:
        try:
            return self._pool.submit(self._retried, call)
        except RuntimeError:  # closed meanwhile
            self._give_up()

    def count(self, files: int) -> None:
        with self._lock:
            self._open_files += files

    def share(self) -> int:
        """Ranges that one open file may have under way."""
        return max(1, RANGES // max(1, self._open_files))

    def _retried(self, call: Callable[[], T]) -> T:
        failures = 0
        while True:
            self._go_on()
            try:
                return call()
            except Again as again:
                failures += 1
                delay_s = self._patience.delay_s(failures, again.retry_after_s)
                if delay_s is None:
                    # A library's words may hold a signed URL, a server's may hold anything: they end here.
                    raise again.error from None
                self._pause(delay_s)

    def _pause(self, delay_s: float) -> None:
        until = time.monotonic() + delay_s
        while (left := until - time.monotonic()) > 0:
            self._go_on()
            self._closed.wait(min(left, _TICK_S))

    def _go_on(self) -> None:
        if self._closed.is_set() or self._cancelled():
            self._give_up()

    def _give_up(self) -> NoReturn:
        raise WeightsError(Reason.STAGING_CANCELLED, f"{self.where}: reading was given up")
