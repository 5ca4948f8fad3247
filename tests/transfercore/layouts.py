"""Tensors in every layout that a live or a staged tensor may have, random and from a seed."""

import random
from dataclasses import dataclass
from typing import Final

import torch

from weightrollout.plugin.transfer import Pair

LAYOUTS: Final = ("plain", "transposed", "stepped", "columns", "column")
#: Floats are cast into each other; anything is copied to itself.
FLOATS: Final = ("float32", "bfloat16", "float16", "float64", "float8_e4m3fn")
OTHERS: Final = ("int8", "uint8", "int32", "int64", "bool", "float8_e5m2", "complex64")


@dataclass(frozen=True)
class Shape:
    """One pair to be: `margin` elements lie before a plain tensor, so that it begins anywhere."""

    sizes: tuple[int, ...]
    target_dtype: str
    source_dtype: str
    target_layout: str
    source_layout: str
    margin: int


@dataclass(frozen=True)
class Laid:
    """A pair, and all the memory around its target, whose other bytes must stay as they are."""

    pair: Pair
    around: torch.Tensor

    def expected(self) -> torch.Tensor:
        """What torch's own copy makes of `around`; call it before the transfer."""
        around = self.around.clone()
        live = self.pair.target
        where = live.storage_offset() - self.around.storage_offset()
        around.view(-1).as_strided(live.shape, live.stride(), where).copy_(self.pair.source)
        return around


def lay_out(shape: Shape, seed: int, device: str = "cpu") -> Laid:
    torch.manual_seed(seed)
    cast = shape.target_dtype != shape.source_dtype
    around, target = _tensor(shape, shape.target_dtype, shape.target_layout, finite=cast)
    _, source = _tensor(shape, shape.source_dtype, shape.source_layout, finite=cast)
    there = around.to(device)
    target = there.view(-1).as_strided(target.shape, target.stride(), target.storage_offset())
    return Laid(Pair(target, source), there)


def random_shape(chance: random.Random, *, longest: int = 40) -> Shape:
    """For where there is no hypothesis."""
    dtype = chance.choice(FLOATS + OTHERS)
    other = chance.choice(FLOATS) if dtype in FLOATS else dtype
    return Shape(
        sizes=tuple(chance.randint(0, longest) for _ in range(chance.randint(0, 3))),
        target_dtype=dtype,
        source_dtype=chance.choice((dtype, other)),
        target_layout=chance.choice(LAYOUTS),
        source_layout=chance.choice(LAYOUTS),
        margin=chance.randint(0, 3),
    )


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """NaN equals the same NaN, and 0.0 does not equal -0.0."""
    flat = [each.contiguous().reshape(-1).view(torch.uint8) for each in (one, other)]
    return bool(torch.equal(*flat))


def _tensor(
    shape: Shape, dtype: str, layout: str, *, finite: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """(all the memory, flat; the tensor in it)."""
    sizes = list(shape.sizes)
    if layout == "plain" or not sizes:
        around = _filled([shape.margin + _numel(sizes) + 1], dtype, finite=finite)
        inside = around[shape.margin : shape.margin + _numel(sizes)].view(sizes)
        return around, inside
    match layout:
        case "transposed":
            around = _filled(sizes[::-1], dtype, finite=finite)
            inside = around.permute(*range(len(sizes))[::-1])
        case "stepped":
            around = _filled([2 * sizes[0], *sizes[1:]], dtype, finite=finite)
            inside = around[::2]
        case "columns":
            around = _filled([*sizes[:-1], sizes[-1] + 3], dtype, finite=finite)
            inside = around[..., 1 : 1 + sizes[-1]]
        case _:
            around = _filled([*sizes, 2], dtype, finite=finite)
            inside = around[..., 1]
    return around.view(-1), inside


def _filled(sizes: list[int], dtype: str, *, finite: bool) -> torch.Tensor:
    kind: torch.dtype = getattr(torch, dtype)
    if finite:
        return torch.randn(sizes).to(kind)
    if kind == torch.bool:
        return torch.randint(0, 2, sizes).to(kind)
    bits = torch.randint(0, 256, (_numel(sizes) * kind.itemsize,), dtype=torch.uint8)
    return bits.view(kind).view(sizes)


def _numel(sizes: list[int]) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product
