"""Locks of files that a kill ends, and that nobody waits for."""

import fcntl
import os
from pathlib import Path
from typing import Final

SHARED: Final = fcntl.LOCK_SH
ALONE: Final = fcntl.LOCK_EX


def locked(name: str, kind: int, *, within: int | None = None) -> int | None:
    """A descriptor that holds the lock of a file until it is closed; None: another one has it.

    `kind`: SHARED or ALONE. The file is made where there is none. Raises OSError.
    """
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        found = os.open(name, flags, 0o600, dir_fd=within)
        try:
            _lock(found, name, kind)
            there = os.stat(name, dir_fd=within, follow_symlinks=False)
            if os.path.samestat(os.fstat(found), there):
                return found
        except BlockingIOError:
            os.close(found)
            return None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(found)
            raise
        os.close(
            found
        )  # who collects has removed it meanwhile: another one would lock another file


def _lock(descriptor: int, name: str, kind: int) -> None:
    """Says which call it was: file systems without locks answer with words that could mean anything."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        said = f"no lock can be had on this file system (flock: {error.strerror})"
        raise OSError(error.errno, said, name) from error


def is_at(folder: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(folder), path.lstat())
    except FileNotFoundError:
        return False
