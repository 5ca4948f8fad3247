"""file:///absolute/folder/ - a volume that is mounted at the same place in every pod."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from weightrollout.weights import digest
from weightrollout.weights.digest import Bytes
from weightrollout.weights.sources.source import Stamp
from weightrollout.weights.sources.uri import unsupported

SCHEME: Final = "file"


class Folder:
    """A folder of this machine."""

    promised: Mapping[str, str] = {}

    def __init__(self, path: Path) -> None:
        self.path = path
        self.where = str(path)

    def stamps(self) -> dict[str, Stamp]:
        found = {}
        for name in digest.matching_files(self.path):
            stat = (self.path / name).stat()
            found[name] = Stamp(stat.st_size, f"{stat.st_dev}:{stat.st_ino}:{stat.st_mtime_ns}")
        return found

    def open(self, name: str) -> Bytes:
        source = (self.path / name).open("rb", buffering=0)
        os.posix_fadvise(source.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        return source

    def beside(self, name: str, most_bytes: int) -> bytes | None:
        if not digest.matching_files(self.path, (name,)):
            return None
        with self.open(name) as file:
            return digest.read_up_to(file, most_bytes)

    def close(self) -> None:
        pass  # holds nothing


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
