"""crc32 of a whole, from the crc32s of parts that were read in any order. Pure.

The engine's side takes it by Python's zlib, ours by zlib-ng, for a fifth of the CPU time: one polynomial, one value.
zlib has `crc32_combine`, Python's binding has not. Appending `n` bytes multiplies a crc by x^(8n)
modulo the polynomial, in the ring of polynomials over GF(2) with reflected bits (zlib, crc32.c).
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from zlib_ng import zlib_ng

_POLYNOMIAL: Final = 0xEDB88320
_ONE: Final = 1 << 31  # the polynomial 1; bits are reflected, so x is one bit lower


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A range of a whole, whose bytes were seen."""

    offset: int
    bytes: int
    crc32: int


def whole(parts: Iterable[Part]) -> tuple[int, int]:
    """Length and crc32 of the parts joined. Raises ValueError where they leave a gap or overlap."""
    at, crc = 0, 0
    for part in sorted(parts):
        if part.offset != at:
            raise ValueError(f"part at {part.offset} does not follow byte {at}")
        crc = combine(crc, part.crc32, part.bytes)
        at += part.bytes
    return at, crc


def combine(first: int, second: int, second_bytes: int) -> int:
    """crc32(a + b) from crc32(a), crc32(b) and len(b)."""
    return _multiply(_shift(second_bytes), first) ^ second


@functools.lru_cache(maxsize=4096)
def _shift(count: int) -> int:
    """x^(8 * count)."""
    power, factor = 1 << 23, _ONE  # x^8
    while count:
        if count & 1:
            factor = _multiply(power, factor)
        power = _multiply(power, power)
        count >>= 1
    return factor


def _multiply(a: int, b: int) -> int:
    product = 0
    bit = _ONE
    while a:
        if a & bit:
            product ^= b
            a ^= bit
        bit >>= 1
        b = (b >> 1) ^ _POLYNOMIAL if b & 1 else b >> 1
    return product


def of(data: memoryview) -> int:
    """crc32 of bytes in memory."""
    return zlib_ng.crc32(data)
