"""Chunks of a file, put together by the layout, are the file; checksums of parts are the whole's."""

import itertools
import zlib
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.handover.records import Block, LoadPlan, Piece
from weightrollout.weights import checksum, layout
from weightrollout.weights.manifest import ITEM_BYTES, FileEntry, TensorEntry


@st.composite
def _files(draw: st.DrawFn) -> FileEntry:
    at = draw(st.integers(8, 40))
    tensors = []
    for number in range(draw(st.integers(0, 6))):
        dtype = draw(st.sampled_from(["F64", "F32", "BF16", "U8"]))
        count = draw(st.integers(0, 30))
        size = count * ITEM_BYTES[dtype]
        tensors.append(TensorEntry(f"t{number}", dtype, (count,), "m.safetensors", at, size))
        at += size
    return FileEntry("m.safetensors", at, tuple(tensors))


@st.composite
def _plans(draw: st.DrawFn, file: FileEntry) -> LoadPlan:
    """Each tensor a parameter, put together from pieces in any order, some bytes used twice."""
    blocks = []
    at = 0
    for tensor in file.tensors:
        cuts = sorted(draw(st.sets(st.integers(0, tensor.bytes), max_size=4)) | {0, tensor.bytes})
        ranges = list(itertools.pairwise(cuts))
        order = draw(st.permutations(ranges + draw(st.sampled_from([ranges, []]))))
        pieces, filled = [], 0
        for begin, end in order:
            pieces.append(Piece(tensor.name, begin, filled, end - begin))
            filled += end - begin
        blocks.append(Block(tensor.name, at, filled, "direct", tuple(pieces)))
        at += filled
    return LoadPlan(0, at, tuple(blocks))


@settings(deadline=None)
@given(st.data(), st.integers(8, 64))
def test_chunks_fill_the_image_and_never_cut_an_element(
    data: st.DataObject, chunk_bytes: int
) -> None:
    file = data.draw(_files())
    plan = data.draw(_plans(file))
    content = bytes(number * 7 % 251 for number in range(file.bytes))
    suppliers = {tensor.name: tensor for tensor in file.tensors}
    taken = layout.copies([plan], suppliers).get(file.name, [])
    image = bytearray(plan.image_bytes)
    spans: dict[str, int] = dict.fromkeys(suppliers, 0)
    at = 0
    for chunk in layout.chunks(file, taken, chunk_bytes):
        assert chunk.offset == at
        assert 0 < chunk.bytes <= chunk_bytes
        at += chunk.bytes
        for copy in chunk.copies:
            assert chunk.offset <= copy.offset
            assert copy.offset + copy.bytes <= at
            piece = content[copy.offset : copy.offset + copy.bytes]
            image[copy.image_offset : copy.image_offset + copy.bytes] = piece
        for span in chunk.spans:
            item = ITEM_BYTES[span.tensor.dtype]
            assert span.offset == span.tensor.offset + spans[span.tensor.name]
            assert span.bytes % item == 0
            spans[span.tensor.name] += span.bytes
    assert at == file.bytes
    assert spans == {tensor.name: tensor.bytes for tensor in file.tensors}
    for block in plan.blocks:
        for piece_ in block.pieces:
            begin = suppliers[piece_.name].offset + piece_.source_offset
            want = content[begin : begin + piece_.bytes]
            got = block.offset + piece_.block_offset
            assert image[got : got + piece_.bytes] == want


@settings(deadline=None)
@given(st.binary(), st.binary())
def test_checksum_of_two_parts_is_that_of_both_joined(one: bytes, two: bytes) -> None:
    assert checksum.combine(zlib.crc32(one), zlib.crc32(two), len(two)) == zlib.crc32(one + two)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=8), st.randoms(use_true_random=False))
def test_parts_seen_in_any_order_give_the_checksum_of_the_whole(
    pieces: list[bytes], random: Random
) -> None:
    parts, at = [], 0
    for piece in pieces:
        parts.append(checksum.Part(at, len(piece), zlib.crc32(piece)))
        at += len(piece)
    random.shuffle(parts)
    assert checksum.whole(parts) == (at, zlib.crc32(b"".join(pieces)))
