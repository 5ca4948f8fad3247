"""Is there a NaN or an infinity among these elements? At the speed of memory, without copies.

In every format here the bits of a value without its sign grow with its size, and everything from
one pattern on is not finite. So two maxima decide: of the bits read as signed numbers for the
positive values, as unsigned ones for the negative.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weightrollout.weights.layout import Chunk
from weightrollout.weights.manifest import ITEM_BYTES, TensorEntry


@dataclass(frozen=True, slots=True)
class NotFinite:
    tensor: TensorEntry
    offset: int  # of the element in the file

    def index(self) -> tuple[int, ...]:
        """Where it is in the tensor's shape."""
        flat = (self.offset - self.tensor.offset) // ITEM_BYTES[self.tensor.dtype]
        found = []
        for size in reversed(self.tensor.shape):
            flat, at = divmod(flat, size)
            found.append(at)
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Form:
    unsigned: type[np.unsignedinteger[Any]]
    signed: type[np.signedinteger[Any]]
    sign: int  # the sign bit
    limit: int  # the smallest pattern without sign that is not finite


_FORMS: Final = {
    "F64": _Form(np.uint64, np.int64, 1 << 63, 0x7FF0_0000_0000_0000),
    "F32": _Form(np.uint32, np.int32, 1 << 31, 0x7F80_0000),
    "C64": _Form(np.uint32, np.int32, 1 << 31, 0x7F80_0000),
    "F16": _Form(np.uint16, np.int16, 1 << 15, 0x7C00),
    "BF16": _Form(np.uint16, np.int16, 1 << 15, 0x7F80),
    "F8_E5M2": _Form(np.uint8, np.int8, 1 << 7, 0x7C),
    "F8_E4M3": _Form(np.uint8, np.int8, 1 << 7, 0x7F),  # no infinities; one NaN for each sign
}


def first_not_finite(dtype: str, data: memoryview) -> int | None:
    """Byte offset of the first element that is not finite; None where all are.

    `data` holds whole elements of a safetensors dtype. Types without such values, and the 8-bit
    ones that few checkpoints use (FNUZ, E8M0), are taken as finite.
    """
    form = _FORMS.get(dtype)
    if form is None or not data.nbytes:
        return None
    bits = np.frombuffer(data, form.unsigned)
    if bits.view(form.signed).max() < form.limit and bits.max() < form.sign | form.limit:
        return None
    without_sign = bits & form.unsigned(form.sign - 1)
    return int(np.argmax(without_sign >= form.limit)) * bits.itemsize


def first_in(chunk: Chunk, data: memoryview) -> NotFinite | None:
    """`data`: the bytes of the chunk."""
    for span in chunk.spans:
        at = span.offset - chunk.offset
        bad = first_not_finite(span.tensor.dtype, data[at : at + span.bytes])
        if bad is not None:
            return NotFinite(span.tensor, span.offset + bad)
    return None
