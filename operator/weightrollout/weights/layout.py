"""Which bytes of a checkpoint file go where in which rank's image. Pure.

A load plan speaks of tensors and pieces, the one pass over a file of chunks: this is the
translation. A chunk never cuts an element, so that each one can be checked by itself.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weightrollout.handover.records import PAGE, Block, LoadPlan, TensorFact
from weightrollout.weights.manifest import ITEM_BYTES, MAX_RANK, FileEntry, TensorEntry


@dataclass(frozen=True, slots=True)
class Copy:
    """A range of a file that goes into a block of a rank's image."""

    offset: int  # in the file
    bytes: int
    rank: int
    block: int  # index in the rank's plan
    block_offset: int
    image_offset: int
    image: int = 0  # which one, where a pass fills several

    def within(self, begin: int, end: int) -> "Copy | None":
        """The part of it that lies in [begin, end) of the file."""
        first, last = max(begin, self.offset), min(end, self.offset + self.bytes)
        if first >= last:
            return None
        skip = first - self.offset
        return Copy(
            first,
            last - first,
            self.rank,
            self.block,
            self.block_offset + skip,
            self.image_offset + skip,
            self.image,
        )


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a file that holds whole elements of one tensor."""

    tensor: TensorEntry
    offset: int  # in the file
    bytes: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of a file that is read at once, and what is to be done with it."""

    offset: int
    bytes: int
    spans: tuple[Span, ...]
    copies: tuple[Copy, ...]


def copies(
    plans: Iterable[LoadPlan], suppliers: Mapping[str, TensorEntry], *, image: int = 0
) -> dict[str, list[Copy]]:
    """File name -> what the plans take from it, in the order of its bytes."""
    found: dict[str, list[Copy]] = {}
    for plan in plans:
        for number, block in enumerate(plan.blocks):
            for piece in block.pieces:
                tensor = suppliers[piece.name]
                found.setdefault(tensor.file, []).append(
                    Copy(
                        tensor.offset + piece.source_offset,
                        piece.bytes,
                        plan.rank,
                        number,
                        piece.block_offset,
                        block.offset + piece.block_offset,
                        image,
                    )
                )
    for taken in found.values():
        taken.sort(key=lambda copy: copy.offset)
    return found


def chunks(file: FileEntry, taken: Sequence[Copy], chunk_bytes: int) -> Iterator[Chunk]:
    """The whole file in order, header included, in chunks of at most `chunk_bytes`."""
    open_copies: list[Copy] = []
    upcoming = iter(taken)
    following = next(upcoming, None)
    tensors = [tensor for tensor in file.tensors if tensor.bytes]
    first = 0  # of the tensors that may reach into the chunk
    begin = 0
    while begin < file.bytes:
        end = min(begin + chunk_bytes, file.bytes)
        while first < len(tensors) and tensors[first].end <= begin:
            first += 1
        last = first
        while last < len(tensors) and tensors[last].offset < end:
            last += 1
        reached = tensors[first:last]
        if reached:
            end = _on_element(reached[-1], begin, end)
        while following is not None and following.offset < end:
            open_copies.append(following)
            following = next(upcoming, None)
        parts = (copy.within(begin, end) for copy in open_copies)
        yield Chunk(
            begin,
            end - begin,
            tuple(span for tensor in reached if (span := _span(tensor, begin, end)) is not None),
            tuple(part for part in parts if part is not None),
        )
        open_copies = [copy for copy in open_copies if copy.offset + copy.bytes > end]
        begin = end


def _on_element(tensor: TensorEntry, begin: int, end: int) -> int:
    """`end`, or the end of the last whole element before it."""
    if not tensor.offset < end < tensor.end:
        return end
    whole = end - (end - tensor.offset) % ITEM_BYTES[tensor.dtype]
    return whole if whole > begin else end


def _span(tensor: TensorEntry, begin: int, end: int) -> Span | None:
    first, last = max(begin, tensor.offset), min(end, tensor.end)
    return Span(tensor, first, last - first) if first < last else None


def defect(plan: LoadPlan, facts: Iterable[TensorFact]) -> str | None:
    """What makes a plan unfit to build an image from; None where nothing does."""
    facts = tuple(facts)
    if deep := [fact.name for fact in facts if len(fact.shape) > MAX_RANK]:
        return f"tensor {deep[0]} has more than {MAX_RANK} dimensions"
    sizes = {fact.name: math.prod(fact.shape) * ITEM_BYTES.get(fact.dtype, 0) for fact in facts}
    at = 0
    for block in sorted(plan.blocks, key=lambda block: block.offset):
        if block.offset < at or block.offset % PAGE or block.bytes < 0:
            return f"parameter {block.parameter} overlaps another one or begins within a page"
        at = block.offset + block.bytes
        if (found := _block_defect(block, sizes)) is not None:
            return f"parameter {block.parameter}: {found}"
    if at > plan.image_bytes:
        return f"blocks need {at} bytes, the image has {plan.image_bytes}"
    return None


def _block_defect(block: Block, sizes: Mapping[str, int]) -> str | None:
    at = 0
    for piece in sorted(block.pieces, key=lambda piece: piece.block_offset):
        if piece.name not in sizes:
            return f"tensor {piece.name} is not in the report"
        if piece.bytes <= 0 or piece.source_offset < 0:
            return f"tensor {piece.name}: a piece of {piece.bytes} bytes at {piece.source_offset}"
        if piece.source_offset + piece.bytes > sizes[piece.name]:
            return f"tensor {piece.name}: a piece ends behind its {sizes[piece.name]} bytes"
        if piece.block_offset != at:
            return f"byte {min(at, piece.block_offset)} is filled by no piece, or by two"
        at += piece.bytes
    return None if at == block.bytes else f"{at} of {block.bytes} bytes are filled"
