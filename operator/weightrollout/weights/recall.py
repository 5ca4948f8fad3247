"""What an earlier process has put into the images of one file, as far as its bytes prove it.

They are read back from where an engine would take them, in the file's order, and hashed: up to a mark of the
journal they count if they have its SHA-256. What no image holds, such as the header, is read from the source.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence

from weightrollout.weights import checksum
from weightrollout.weights.checkpoint import read_all
from weightrollout.weights.digest import Bytes
from weightrollout.weights.finite import NotFinite, first_in
from weightrollout.weights.image import ImageWriter
from weightrollout.weights.journal import Mark
from weightrollout.weights.layout import Chunk, Copy


class Recall:
    """Of one file. After `run` it says how to go on."""

    def __init__(
        self,
        chunks: Iterator[Chunk],
        images: Sequence[ImageWriter],
        source: Bytes,
        where: str,
        go_on: Callable[[], None],
    ) -> None:
        """`chunks`: of the whole file. `go_on` raises to give up; `where` names the source."""
        self.rest = chunks  # what is to be read
        self.to = 0  # first byte of it
        self.hasher = hashlib.sha256()  # of all before
        self.not_finite: list[NotFinite] = []
        self._images = images
        self._source = source
        self._where = where
        self._go_on = go_on

    def run(self, marks: Sequence[Mark]) -> None:
        """`marks`: in the order of their bytes. Raises what the source and `go_on` raise."""
        for mark in marks:
            segment = list(self._segment(mark.to))
            if not self._is_proven(segment, mark):
                self.rest = itertools.chain(segment, self.rest)
                break

    def _segment(self, to: int) -> Iterator[Chunk]:
        for chunk in self.rest:
            yield chunk
            if chunk.offset + chunk.bytes >= to:
                break

    def _is_proven(self, segment: Sequence[Chunk], mark: Mark) -> bool:
        if not segment or segment[-1].offset + segment[-1].bytes != mark.to:
            return False
        hasher = self.hasher.copy()
        parts: list[tuple[Copy, int]] = []
        bad: list[NotFinite] = []
        for chunk in segment:
            self._go_on()
            data = memoryview(bytearray(chunk.bytes))
            if not self._read_back(chunk, data):
                return False
            hasher.update(data)
            for copy in chunk.copies:
                at = copy.offset - chunk.offset
                parts.append((copy, checksum.of(data[at : at + copy.bytes])))
            if (first := first_in(chunk, data)) is not None:
                bad.append(first)
        if hasher.hexdigest() != mark.sha256:
            return False
        for copy, crc32 in parts:
            self._images[copy.image].found(copy, crc32)
        self.hasher, self.to = hasher, mark.to
        self.not_finite += bad
        return True

    def _read_back(self, chunk: Chunk, data: memoryview) -> bool:
        """Fill `data`. False: an image cannot be read, or two of them disagree."""
        at = 0  # all before is filled
        for copy in chunk.copies:
            begin = copy.offset - chunk.offset
            if begin > at:
                self._read(chunk.offset + at, data[at:begin])
                at = begin
            lies = memoryview(bytearray(copy.bytes))
            try:
                if not self._images[copy.image].read_back(copy, lies):
                    continue
            except OSError:
                return False
            again = min(at - begin, copy.bytes)
            if bytes(lies[:again]) != bytes(data[begin : begin + again]):
                return False
            data[begin + again : begin + copy.bytes] = lies[again:]
            at = max(at, begin + copy.bytes)
        self._read(chunk.offset + at, data[at:])
        return True

    def _read(self, offset: int, into: memoryview) -> None:
        if into:
            self._source.seek(offset)
            read_all(self._source, into, self._where)
