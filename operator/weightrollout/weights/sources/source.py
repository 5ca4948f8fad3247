"""What every source offers: which files there are, in which state, and a file to read from.

A source lists and opens; it never keeps a second copy of a tensor file. Safe across threads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from weightrollout.weights.digest import Bytes
from weightrollout.weights.pace import Pace


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file is written or replaced."""

    bytes: int
    identity: str  # inode and time of a file, ETag or version of an object, hash of a hub's file


class Source(Protocol):
    #: What reading takes its bytes from. `sources.opened` sets it, before anything is read.
    pace: Pace

    @property
    def where(self) -> str:
        """For people; holds no credential."""
        ...

    @property
    def promised(self) -> Mapping[str, str]:
        """File name -> sha256 hex, where the source itself says it. Filled by `stamps`."""
        ...

    def stamps(self) -> dict[str, Stamp]:
        """Of every file that counts for the digest, as it is now; the first call pins what is read.

        Raises WeightsError, OSError, digest.FolderError.
        """
        ...

    def open(self, name: str) -> Bytes:
        """One of `stamps`, seekable; reads raise WeightsError or OSError. Closed by the caller."""
        ...

    def beside(self, name: str, most_bytes: int) -> bytes | None:
        """A file that does not count, at most so much of it; None: no such file. After `stamps`.

        Raises WeightsError, OSError, digest.FolderError.
        """
        ...

    def close(self) -> None:
        """Gives up what is under way. May be called twice and from another thread."""
        ...
