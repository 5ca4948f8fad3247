"""Many copies of plain memory in one call, without the GIL.

The copies are made by a small library in C (streaming.c) where one was built for this machine, and by
memmove where none was or it does not load. Both give the same bytes; the library streams past
the cache, and its threads never wait for the GIL between two pieces.
"""

import ctypes
import functools
import itertools
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

_INTERFACE: Final = 1  # INTERFACE in streaming.c

#: (pieces, how many, index of the next one)
Helper = Callable[[object, ctypes.c_size_t, object], None]


class Piece(NamedTuple):
    """`length` bytes, from address `source` to address `target`; the two do not overlap."""

    target: int
    source: int
    length: int


class Pieces(Protocol):
    """A list of pieces that several threads work off together."""

    def rewind(self) -> None:
        """All are to be copied (again). Not while a thread is in `copy`."""

    def copy(self) -> None:
        """Copy pieces until none is left. Called by any number of threads at once."""

    def stop(self) -> None:
        """No thread begins another piece."""


def pieces_of(copies: Sequence[Piece], *, streaming: bool) -> Pieces:
    """Largest first, so that threads end together. `streaming`: with the library, if there is one."""
    ordered = sorted(copies, key=lambda piece: -piece.length)
    helper = streaming_helper() if streaming else None
    return _Moved(ordered) if helper is None else _Streamed(ordered, helper)


def cut(piece: Piece, limit: int) -> list[Piece]:
    """The same bytes in pieces of at most `limit` bytes."""
    return [
        Piece(piece.target + at, piece.source + at, min(limit, piece.length - at))
        for at in range(0, piece.length, limit)
    ]


@functools.cache
def streaming_helper() -> Helper | None:
    """The library's copy function; None where there is none for this machine."""
    return helper_at(Path(__file__).with_name(f"streaming-{platform.machine()}.so"))


def helper_at(path: Path) -> Helper | None:
    """None when the file is absent, is no library of this machine, or has another interface."""
    try:
        library = ctypes.CDLL(str(path))  # releases the GIL in calls
        if library.weightrollout_interface() != _INTERFACE:
            return None
        function = library.weightrollout_copy
    except (OSError, AttributeError):
        return None
    function.restype = None
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    copy: Helper = function
    return copy


class _CPiece(ctypes.Structure):
    _fields_ = (
        ("target", ctypes.c_void_p),
        ("source", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
    )


class _Streamed:
    def __init__(self, pieces: Sequence[Piece], helper: Helper) -> None:
        self._pieces = (_CPiece * len(pieces))(*(_CPiece(*piece) for piece in pieces))
        self._count = ctypes.c_size_t(len(pieces))
        self._next = ctypes.c_size_t(0)
        self._arguments = (ctypes.byref(self._pieces), self._count, ctypes.byref(self._next))
        self._helper = helper

    def rewind(self) -> None:
        self._next.value = 0

    def copy(self) -> None:
        self._helper(*self._arguments)

    def stop(self) -> None:
        self._next.value = self._count.value


class _Moved:
    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = tuple(pieces)
        self._next = itertools.count()  # one step of it is atomic
        self._stopped = False

    def rewind(self) -> None:
        self._next = itertools.count()
        self._stopped = False

    def copy(self) -> None:
        for index in self._next:
            if self._stopped or index >= len(self._pieces):
                return
            ctypes.memmove(*self._pieces[index])  # releases the GIL

    def stop(self) -> None:
        self._stopped = True
