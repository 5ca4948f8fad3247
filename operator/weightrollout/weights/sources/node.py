"""A source whose tensors were read before, by another pod of this node: they come from there, all else from the source.

What an engine is given is decided by the source's own list, headers and small files. What comes from the node's volume is
data between them, and is hashed together with the source's header while it is used.
"""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from weightrollout.weights import digest
from weightrollout.weights.digest import Bytes
from weightrollout.weights.manifest import FileEntry
from weightrollout.weights.node_notices import Notice, Why, volume_failures
from weightrollout.weights.node_volume import Entry
from weightrollout.weights.sources.source import Source, Stamp

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Shared:
    """Wraps a source; `source` and `entry` stay the caller's to close.

    Of the volume it raises Notice, which names the file; all else is the source's.
    """

    def __init__(self, source: Source, entry: Entry, files: Mapping[str, FileEntry]) -> None:
        """`files`: those with tensors, as the source's headers describe them."""
        self.where = str(entry.path)
        self.pace = source.pace
        self._source = source
        self._entry = entry
        self._files = files

    @property
    def promised(self) -> Mapping[str, str]:
        return self._source.promised

    def stamps(self) -> dict[str, Stamp]:
        return self._source.stamps()

    def open(self, name: str) -> Bytes:
        if name not in self._files:
            return self._source.open(name)
        file = self._files[name]
        # The data of the first tensor follows the header.
        begin = min((tensor.offset for tensor in file.tensors), default=file.bytes)
        with self._source.open(name) as opened:
            head = digest.read_up_to(opened, begin)
        return _Joined(
            head, self._entry.open(name, file.bytes), file.bytes, self._entry.path / name
        )

    def beside(self, name: str, most_bytes: int) -> bytes | None:
        return self._source.beside(name, most_bytes)

    def close(self) -> None:
        pass


class _Joined(io.RawIOBase):
    """The beginning from memory, the rest from a file of the volume."""

    def __init__(self, head: bytes, descriptor: int, size: int, path: Path) -> None:
        self._head = head
        self._descriptor = descriptor
        self._size = size
        self._path = path
        self._at = 0

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only from the start")
        self._at = offset
        return offset

    def readinto(self, into: "WriteableBuffer") -> int:
        view = memoryview(into).cast("B")
        head = self._head[self._at : self._at + len(view)]
        if head:
            view[: len(head)] = head
            size = len(head)
        else:
            size = self._data(view[: max(0, self._size - self._at)])
        self._at += size
        return size

    def _data(self, into: memoryview) -> int:
        with volume_failures(self._path):
            size = os.preadv(self._descriptor, [into], self._at)
        if into and not size:
            raise Notice(Why.SPOILT, f"{self._path} ends at {self._at} of {self._size} bytes")
        return size

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()
