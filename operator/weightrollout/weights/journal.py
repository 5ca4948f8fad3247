"""What lies in an unfinished image already, so that a staging that was killed goes on and reads it no second time.

A line of JSON for each mark. Nothing in here is believed. The key is of all that decides what is read and where it goes, the source's state
included: another state is another folder. A mark only says which SHA-256 a file has up to some byte. What lies in the
image is hashed again up to there, and counts where the hash is the same: the digest is of the bytes that are in the
image, whoever wrote them. So the worst line, a torn write or a lost page costs one more reading of the source.
"""

import hashlib
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weightrollout.weights.sources.source import Stamp

#: Of each file: so much is read twice at most, and a line is written for each of them.
STEP_BYTES: Final = 16 << 20
#: A line has about 150 bytes, so these are marks of more than 5 TB.
_MAX_BYTES: Final = 64 << 20
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Mark:
    to: int  # bytes of the file; all chunks before are in the images
    sha256: str  # hex, of the file up to there


class Journal:
    """Of one staging. Marks may be set from several threads; a volume that refuses them is no failure."""

    def __init__(self, path: Path | None, step_bytes: int = STEP_BYTES) -> None:
        """None: nothing is found and nothing kept."""
        self.step_bytes = step_bytes
        self._lock = threading.Lock()
        self._found: dict[str, dict[int, str]] = {}
        self._file: int | None = None
        if path is not None:
            with suppress(OSError):
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
                self._load(self._file)

    def marks(self, file: str) -> list[Mark]:
        """Of an earlier process, in the order of their bytes."""
        return [Mark(to, sha256) for to, sha256 in sorted(self._found.get(file, {}).items())]

    def set(self, file: str, mark: Mark) -> None:
        line = json.dumps({"file": file, "to": mark.to, "sha256": mark.sha256}) + "\n"
        with self._lock:
            if self._file is None:
                return
            try:
                os.write(self._file, line.encode())
            except OSError:
                self._close()  # a full volume: the image has its space, we do without

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _load(self, descriptor: int) -> None:
        """Up to the first line that is not ours; what comes from there on is cut off."""
        data, whole = os.pread(descriptor, _MAX_BYTES, 0), 0
        for line in data.splitlines(keepends=True):
            entry = _entry(line)
            if entry is None:
                break
            whole += len(line)
            file, mark = entry
            self._found.setdefault(file, {})[mark.to] = mark.sha256
        os.ftruncate(descriptor, whole)


def _entry(line: bytes) -> tuple[str, Mark] | None:
    try:
        said = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        return None
    match said:
        case {"file": str(file), "to": int(to), "sha256": str(sha256)}:
            return (file, Mark(to, sha256)) if _SHA256.fullmatch(sha256) else None
        case _:
            return None


def key_of(
    where: str,
    stamps: Mapping[str, Stamp],
    promised: Mapping[str, str],
    layout: Sequence[object],
) -> str | None:
    """`layout`: what goes where; its repr must tell all of it. None: the source cannot tell a change of its files."""
    if not all(stamp.identity or name in promised for name, stamp in stamps.items()):
        return None
    said = (where, sorted(stamps.items()), sorted(promised.items()), layout)
    return hashlib.sha256(repr(said).encode(errors="surrogateescape")).hexdigest()[:32]
