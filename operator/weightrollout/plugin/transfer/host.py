"""Copies into memory that the CPU writes."""

from collections.abc import Sequence
from typing import Final

from weightrollout.plugin.transfer.crew import Crew
from weightrollout.plugin.transfer.pair import Task
from weightrollout.plugin.transfer.streaming import Piece, cut, pieces_of

#: Small enough that threads end together, large enough that the next page-aligned piece costs
#: nothing: two threads lose less than 2 ms of 70 on the last one.
PIECE_BYTES: Final = 8 << 20


class HostCopies:
    """Plain bytes by all threads of the crew; casts and strides by torch, in the calling thread.

    Torch has threads of its own for its copies, as many as the engine gave it.
    """

    def __init__(self, tasks: Sequence[Task], *, streaming: bool) -> None:
        plain = [task for task in tasks if task.is_plain]
        self._shaped = [(task.target, task.source) for task in tasks if not task.is_plain]
        pieces = [
            piece
            for task in plain
            for piece in cut(plain_copy_of(task, 0, task.nbytes), PIECE_BYTES)
        ]
        self._pieces = pieces_of(pieces, streaming=streaming)

    def run(self, crew: Crew) -> None:
        self._pieces.rewind()
        crew.run(self._pieces.copy, stop=self._pieces.stop, first=self._copy_shaped)

    def _copy_shaped(self) -> None:
        for target, source in self._shaped:
            target.copy_(source)


def plain_copy_of(task: Task, begin: int, end: int) -> Piece:
    """Bytes `begin` to `end` of a plain task whose target is on the CPU."""
    target, source = int(task.target.data_ptr()), int(task.source.data_ptr())
    return Piece(target + begin, source + begin, end - begin)
