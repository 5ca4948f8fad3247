"""PEM files that rotate under a running process: read again when they change, and never half.

Files that cannot be used leave the last good reading in force. A certificate that expired is not looked for: whoever is shown it
says so.
"""

import logging
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar

R = TypeVar("R")

log = logging.getLogger(__name__)

_MISMATCH: Final = "KEY_VALUES_MISMATCH"


class Rotating(Generic[R]):
    """`good` is the last good reading; `why` says what is wrong with the files as they are, "" for nothing."""

    def __init__(
        self,
        certificate: Path | None,
        key: Path | None,
        ca: Path | None,
        read: Callable[[], R],
        title: str,
    ) -> None:
        """`read` raises OSError, of which ssl.SSLError is one. `title`: what they are for, for people."""
        self.good: R | None = None
        self.why = ""
        self._pair = f"{certificate} and {key}"
        self._paths = tuple(path for path in (ca, certificate, key) if path is not None)
        self._read = read
        self._title = title
        self._seen: tuple[tuple[int, int, int], ...] | None = None

    def refresh(self) -> bool:
        """Whether there is a new reading. Blocks for a few small files; never raises."""
        try:
            found = self._versions()
            if found == self._seen:
                return False
            fresh = self._read()
            if found != self._versions():
                self.why = self.why or f"{self._names()}: being written"
                return False  # the next question reads them
        except OSError as error:
            self._complain(self._words(error))
            return False
        self._seen, self.good, self.why = found, fresh, ""
        log.info("%s: read %s", self._title, self._names())
        return True

    def _versions(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_version(path) for path in self._paths)

    def _complain(self, why: str) -> None:
        if why != self.why:
            self.why = why
            kept = "; the earlier ones stay in force" if self.good is not None else ""
            log.warning("%s: %s%s", self._title, why, kept)

    def _words(self, error: OSError) -> str:
        if isinstance(error, ssl.SSLError) and error.reason == _MISMATCH:
            return f"{self._pair} do not belong together"
        return f"{self._names()}: {error.strerror or error}"

    def _names(self) -> str:
        return ", ".join(str(path) for path in self._paths)


def _version(path: Path) -> tuple[int, int, int]:
    """Of a file's content; a mounted Secret changes by a link to another file."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
