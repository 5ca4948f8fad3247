"""No NaN and no infinity passes, and no finite value is mistaken for one."""

import struct
from typing import Final

import numpy as np
import pytest

from weightrollout.weights.finite import first_not_finite

#: dtype -> (bytes of an element, bit patterns that are not finite, the largest finite ones)
PATTERNS: Final = {
    "F64": (8, (0x7FF0 << 48, 0xFFF0 << 48, (0x7FF0 << 48) + 1), ((0x7FF0 << 48) - 1,)),
    "F32": (4, (0x7F800000, 0xFF800000, 0x7F800001, 0xFFC00000), (0x7F7FFFFF, 0xFF7FFFFF)),
    "F16": (2, (0x7C00, 0xFC00, 0x7C01, 0xFFFF), (0x7BFF, 0xFBFF)),
    "BF16": (2, (0x7F80, 0xFF80, 0x7F81, 0xFFFF), (0x7F7F, 0xFF7F)),
    "F8_E5M2": (1, (0x7C, 0xFC, 0x7F, 0xFF), (0x7B, 0xFB)),
    "F8_E4M3": (1, (0x7F, 0xFF), (0x7E, 0xFE)),
}
CASES: Final = [
    (dtype, size, bits) for dtype, (size, wrong, _) in PATTERNS.items() for bits in wrong
]


@pytest.mark.parametrize(("dtype", "size", "bits"), CASES)
@pytest.mark.parametrize("at", [0, 6, 12])
def test_one_bad_element_among_good_ones_is_found(
    dtype: str, size: int, bits: int, at: int
) -> None:
    data = bytearray(13 * size)
    data[at * size : (at + 1) * size] = bits.to_bytes(size, "little")
    assert first_not_finite(dtype, memoryview(data)) == at * size


@pytest.mark.parametrize("dtype", PATTERNS)
def test_largest_finite_values_pass(dtype: str) -> None:
    size, _, largest = PATTERNS[dtype]
    data = b"".join(bits.to_bytes(size, "little") for bits in largest)
    assert first_not_finite(dtype, memoryview(data)) is None


def test_all_half_precision_values_are_judged_as_numpy_judges_them() -> None:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    for bits, finite in zip(patterns, np.isfinite(patterns.view(np.float16)), strict=True):
        assert (first_not_finite("F16", memoryview(bits.tobytes())) is None) == finite


def test_elements_that_are_not_aligned_in_memory_are_judged_too() -> None:
    data = memoryview(b"x" + struct.pack("<2f", 1.0, float("inf")))
    assert first_not_finite("F32", data[1:]) == 4


@pytest.mark.parametrize("dtype", ["I64", "U8", "BOOL"])
def test_types_without_such_values_always_pass(dtype: str) -> None:
    assert first_not_finite(dtype, memoryview(b"\xff" * 64)) is None


def test_no_elements_are_finite() -> None:
    assert first_not_finite("F32", memoryview(b"")) is None
