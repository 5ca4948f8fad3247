"""file:///absolute/folder/ - a volume that is mounted at the same place in every pod."""

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from weightrollout.weights import digest
from weightrollout.weights.digest import Bytes
from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.pace import Pace
from weightrollout.weights.sources.source import Stamp
from weightrollout.weights.sources.uri import unsupported

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SCHEME: Final = "file"


class Folder:
    """A folder of this machine."""

    promised: Mapping[str, str] = {}

    def __init__(self, path: Path, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.path = path
        self.where = str(path)
        self.pace = Pace()
        self._cancelled = cancelled
        self._closed = False

    def stamps(self) -> dict[str, Stamp]:
        found = {}
        for name in digest.matching_files(self.path):
            stat = (self.path / name).stat()
            found[name] = Stamp(stat.st_size, f"{stat.st_dev}:{stat.st_ino}:{stat.st_mtime_ns}")
        return found

    def open(self, name: str) -> Bytes:
        return _Paced(self, self.path / name)

    def beside(self, name: str, most_bytes: int) -> bytes | None:
        if not digest.matching_files(self.path, (name,)):
            return None
        with self.open(name) as file:
            return digest.read_up_to(file, most_bytes)

    def close(self) -> None:
        self._closed = True

    def go_on(self) -> None:
        """Asked by who waits for its turn."""
        if self._closed or self._cancelled():
            raise WeightsError(Reason.STAGING_CANCELLED, f"{self.where}: reading was given up")


class _Paced(io.FileIO):
    """Without a buffer: each read is one of the system's."""

    def __init__(self, folder: Folder, path: Path) -> None:
        super().__init__(path)
        self._folder = folder
        os.posix_fadvise(self.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)

    def readinto(self, into: "WriteableBuffer") -> int | None:
        size = memoryview(into).nbytes
        self._folder.pace.take(size, self._folder.go_on)
        read = super().readinto(into)
        self._folder.pace.give_back(size - (read or 0))
        return read

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            return super().read(size)
        found = bytearray(size)
        del found[self.readinto(found) or 0 :]
        return bytes(found)


def folder(uri: str) -> Path:
    """The folder that the URI names; it need not exist."""
    parts = urlsplit(uri)
    if parts.netloc:
        raise unsupported(uri, f"names the host {parts.netloc!r}; write file:///path")
    if parts.query or parts.fragment:
        raise unsupported(uri, "holds '?' or '#'; write them as %3F and %23")
    path = unquote(parts.path, errors="surrogateescape")
    if not path.startswith("/") or "\0" in path:
        raise unsupported(uri, "must name an absolute path: file:///path")
    return Path(path)
