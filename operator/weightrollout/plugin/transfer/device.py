"""Copies into memory that a GPU writes: staged bytes -> pinned buffer -> live tensor.

Plain bytes land where they belong. Casts and strides pass through a small scratch tensor on the device,
because torch would allocate one in the pause, of the tensor's size, where the engine has left no room.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch

from weightrollout.plugin.transfer.crew import Crew
from weightrollout.plugin.transfer.pair import Task
from weightrollout.plugin.transfer.ring import ALIGNMENT, Ring
from weightrollout.plugin.transfer.streaming import Piece, Pieces, cut, pieces_of

#: All threads fill one buffer together and wait for each other at its end.
PIECE_BYTES: Final = 2 << 20
#: What a cast or strided tensor takes on the device for the time of the transfer, at most.
SCRATCH_BYTES: Final = 16 << 20

_Copy = tuple[torch.Tensor, torch.Tensor]


@dataclass(slots=True)
class _Batch:
    """What goes through one buffer, once: (1) fill it, (2) send it."""

    buffer: torch.Tensor
    used: int = 0
    plain: list[Piece] = field(default_factory=list)  # into the buffer, by the crew
    shaped: list[_Copy] = field(default_factory=list)  # into the buffer, by torch
    sent: list[_Copy] = field(default_factory=list)  # out of it, in order

    @property
    def room(self) -> int:
        return int(self.buffer.numel()) - self.used

    def take(self, nbytes: int) -> torch.Tensor:
        """The next bytes of the buffer; there is room for them."""
        taken: torch.Tensor = self.buffer[self.used : self.used + nbytes]
        self.used = min(int(self.buffer.numel()), -(-(self.used + nbytes) // ALIGNMENT) * ALIGNMENT)
        return taken


@dataclass(frozen=True, slots=True)
class _Load:
    pieces: Pieces
    shaped: tuple[_Copy, ...]
    sent: tuple[_Copy, ...]

    def pack(self) -> None:
        for staged, source in self.shaped:
            staged.copy_(source)


class RingCopies:
    """Through a ring of pinned buffers, asynchronously; `run` returns when the device has all."""

    def __init__(self, tasks: Sequence[Task], ring: Ring, *, streaming: bool) -> None:
        self._ring = ring
        batches = _Batches(ring)
        shaped = [part for task in tasks if not task.is_plain for part in _parts(task, ring)]
        scratch_bytes = max((_nbytes(source) for _, source in shaped), default=0)
        scratch = torch.empty(scratch_bytes, dtype=torch.uint8, device=ring.device)
        for task in tasks:
            if task.is_plain:
                batches.add_plain(task)
        for target, source in shaped:
            batches.add_shaped(target, source, scratch)
        self._loads = [
            _Load(pieces_of(each.plain, streaming=streaming), tuple(each.shaped), tuple(each.sent))
            for each in batches.all
        ]

    def run(self, crew: Crew) -> None:
        stream = self._ring.stream
        stream.begin()
        try:
            for index, load in enumerate(self._loads):
                slot = index % len(self._ring.buffers)
                load.pieces.rewind()
                stream.wait(slot)
                crew.run(load.pieces.copy, stop=load.pieces.stop, first=load.pack)
                stream.send(load.sent, slot)
        finally:
            stream.drain()  # also after a failure: nothing may write when `run` has ended


class PageableCopies:
    """By torch, through the driver's own buffers: slower, for where no memory can be pinned."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._copies = [(task.target, task.source) for task in tasks]
        self._device = tasks[0].target.device

    def run(self, crew: Crew) -> None:
        try:
            for target, source in self._copies:
                target.copy_(source)
        finally:
            torch.cuda.synchronize(self._device)


class _Batches:
    """Spreads tasks over buffers, in turn."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self.all: list[_Batch] = []

    def add_plain(self, task: Task) -> None:
        # Not reshape: one element counts as contiguous whatever its stride, and is kept so.
        target = task.target.as_strided((task.target.numel(),), (1,)).view(torch.uint8)
        source = int(task.source.data_ptr())
        begin = 0
        while begin < task.nbytes:
            batch = self._with_room(1)
            end = min(task.nbytes, begin + batch.room)
            staged = batch.take(end - begin)
            copy = Piece(int(staged.data_ptr()), source + begin, end - begin)
            batch.plain.extend(cut(copy, PIECE_BYTES))
            batch.sent.append((target[begin:end], staged))
            begin = end

    def add_shaped(self, target: torch.Tensor, source: torch.Tensor, scratch: torch.Tensor) -> None:
        nbytes = _nbytes(source)
        batch = self._with_room(nbytes)
        staged = batch.take(nbytes).view(source.dtype).view(source.shape)
        between = scratch[:nbytes].view(source.dtype).view(source.shape)
        batch.shaped.append((staged, source))
        batch.sent += [(between, staged), (target, between)]

    def _with_room(self, nbytes: int) -> _Batch:
        if not self.all or self.all[-1].room < nbytes:
            buffer = self._ring.buffers[len(self.all) % len(self._ring.buffers)]
            self.all.append(_Batch(buffer))
        return self.all[-1]


def _parts(task: Task, ring: Ring) -> Iterator[_Copy]:
    return _halved(task.target, task.source, min(SCRATCH_BYTES, ring.slot_bytes))


def _halved(target: torch.Tensor, source: torch.Tensor, limit: int) -> Iterator[_Copy]:
    """The same elements in parts of at most `limit` bytes of the source."""
    if _nbytes(source) <= limit:
        yield target, source
        return
    sizes = list(source.shape)
    longest = sizes.index(max(sizes))
    half = sizes[longest] // 2
    for begin, length in ((0, half), (half, sizes[longest] - half)):
        part = target.narrow(longest, begin, length), source.narrow(longest, begin, length)
        yield from _halved(*part, limit)


def _nbytes(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())
