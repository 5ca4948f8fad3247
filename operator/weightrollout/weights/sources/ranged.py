"""A file that is read in order, some ranges ahead; a jump begins anew from there."""

import io
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: A request costs some ten milliseconds: shorter ones would be felt, longer ones only take memory. Half of it
#: took a fifth more of a local server's and our time.
RANGE_BYTES: Final = 8 << 20
#: Enough for most headers.
FIRST_BYTES: Final = 64 << 10


class Ranges(Protocol):
    """Where the bytes come from."""

    def ahead(self, name: str, begin: int, end: int) -> Future[memoryview]:
        """Asks for these bytes and returns at once."""
        ...

    def result(self, future: Future[memoryview]) -> memoryview: ...

    def used(self, data: memoryview) -> None:
        """Nothing of it is needed any more: its memory may be used for another range."""
        ...

    def count(self, files: int) -> None:
        """So many more are open."""
        ...

    def share(self) -> int:
        """Ranges that one open file may have under way."""
        ...


class Ranged(io.RawIOBase):
    """Reads raise what `Ranges.result` raises. For one thread."""

    def __init__(self, source: Ranges, name: str, size: int) -> None:
        super().__init__()
        self._source, self._name, self._size = source, name, size
        self._at = 0
        self._next = 0  # first byte that nobody has asked for
        self._ahead: deque[tuple[int, Future[memoryview]]] = deque()  # their first bytes
        self._have: tuple[int, memoryview] = (0, memoryview(b""))  # first byte, bytes
        source.count(1)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only from the start")
        self._at = offset
        return offset

    def readinto(self, into: "WriteableBuffer") -> int:
        """Full, but at the end of the file."""
        view = memoryview(into).cast("B")
        want = view[: max(0, min(len(view), self._size - self._at))]
        done = 0
        while done < len(want):
            begin, have = self._have
            skip = self._at - begin
            size = min(len(want) - done, len(have) - skip)
            if not 0 <= skip < len(have):
                del have  # nothing holds it while more is waited for
                self._fetch(len(want) - done)
                continue
            want[done : done + size] = have[skip : skip + size]
            done += size
            self._at += size
        return done

    def _fetch(self, wanted: int) -> None:
        """Make `_have` hold the byte at `_at`."""
        begin, have = self._have
        # A header is some kilobytes: read ahead only for who goes on, or wants much.
        goes_on = wanted > FIRST_BYTES or (self._at > 0 and self._at == begin + len(have))
        self._have = (0, memoryview(b""))
        self._source.used(have)
        del have  # its memory, before more of it comes
        if not self._ahead or self._ahead[0][0] != self._at:
            self._forget()
            self._next = self._at
        many, size = (self._source.share(), RANGE_BYTES) if goes_on else (1, FIRST_BYTES)
        while len(self._ahead) < max(1, many) and self._next < self._size:
            end = min(self._size, self._next + size)
            self._ahead.append((self._next, self._source.ahead(self._name, self._next, end)))
            self._next = end
        begin, future = self._ahead.popleft()
        self._have = (begin, self._source.result(future))

    def _forget(self) -> None:
        for _, future in self._ahead:
            future.cancel()
        self._ahead.clear()

    def close(self) -> None:
        if not self.closed:
            self._forget()
            self._have = (0, memoryview(b""))
            self._source.count(-1)
        super().close()
