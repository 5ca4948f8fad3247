"""What happens to tensors while a model loads: who was written, and from which checkpoint bytes.

Views of a tensor keep its storage, offset and strides, so that a chain of narrow, chunk and view is
resolved at the copy that ends it. What is not a view (a cast, arithmetic) has a storage of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_aten = torch.ops.aten


class Watch(TorchDispatchMode):
    """Notes the storages that are written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in mutated(func, args, kwargs or {}):
            self.written.add(tensor.untyped_storage()._cdata)
        return result


def mutated(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The arguments that the operation writes, by its schema."""
    found: list[torch.Tensor] = []
    for number, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[number] if number < len(args) else kwargs.get(argument.name)
        values = value if isinstance(value, list | tuple) else (value,)
        found += [each for each in values if isinstance(each, torch.Tensor)]
    return found


@dataclass(frozen=True, slots=True)
class Piece:
    """A view of a live tensor's storage that is a copy of a view of a checkpoint tensor.

    Shape, strides and offsets in elements. `source` None: zeros.
    """

    source: str | None
    shape: tuple[int, ...]
    source_stride: tuple[int, ...]
    source_offset: int
    stride: tuple[int, ...]
    offset: int

    @property
    def elements(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(slots=True)
class Filling:
    """How one storage of the shadow is filled. `why`: it is not a set of copies, and why not."""

    pieces: list[Piece] = field(default_factory=list)
    why: str = ""


class Tracer(TorchDispatchMode):
    """Watches a load with tensors on the meta device.

    `sources`: storage of a checkpoint tensor -> its name.
    """

    def __init__(self, sources: Mapping[int, str]) -> None:
        super().__init__()
        self._sources = sources
        self.used: set[str] = set()
        self.fillings: dict[int, Filling] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        for tensor in _tensors(args, kwargs):
            name = self._sources.get(tensor.untyped_storage()._cdata)
            if name is not None and not func.is_view:
                self.used.add(name)
        if func is _aten.copy_.default:
            self._copied(args[0], args[1])
            return args[0]
        if func is _aten.zero_.default or (func is _aten.fill_.Scalar and args[1] == 0):
            self._zeroed(args[0])
            return args[0]
        for tensor in mutated(func, args, kwargs):
            self._filling(tensor).why = f"the loader computes in place ({func.name()})"
        return func(*args, **kwargs)

    def _filling(self, tensor: torch.Tensor) -> Filling:
        return self.fillings.setdefault(tensor.untyped_storage()._cdata, Filling())

    def _zeroed(self, target: torch.Tensor) -> None:
        if target.numel():
            self._add(target, target, None)

    def _copied(self, target: torch.Tensor, source: torch.Tensor) -> None:
        name = self._sources.get(source.untyped_storage()._cdata)
        filling = self._filling(target)
        if name is None:
            filling.why = filling.why or "the loader computes the values"
        elif source.numel() != target.numel():
            filling.why = filling.why or "one value fills many elements"
        else:
            if source.shape != target.shape:
                source = source.expand(target.shape)
            self._add(target, source, name)

    def _add(self, target: torch.Tensor, source: torch.Tensor, name: str | None) -> None:
        self._filling(target).pieces.append(
            Piece(
                name,
                tuple(target.shape),
                tuple(source.stride()),
                source.storage_offset(),
                tuple(target.stride()),
                target.storage_offset(),
            )
        )


def _tensors(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    found = []
    for value in (*args, *kwargs.values()):
        values = value if isinstance(value, list | tuple) else (value,)
        found += [each for each in values if isinstance(each, torch.Tensor)]
    return found


def coverage(filling: Filling, shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> str:
    """ "" when every element of the tensor is written exactly once, else what is wrong."""
    elements = 1
    for size in shape:
        elements *= size
    spans = [_span(piece) for piece in filling.pieces]
    if all(span is not None for span in spans) and _is_dense(shape, stride):
        at = offset
        for begin, length in sorted(span for span in spans if span is not None):
            if begin != at:
                return "an element is written by no piece" if begin > at else "two pieces overlap"
            at += length
        return "" if at == offset + elements else "an element is written by no piece"
    count = torch.zeros(_extent(shape, stride, offset), dtype=torch.uint8)
    for piece in filling.pieces:
        if _extent(piece.shape, piece.stride, piece.offset) > count.numel():
            return "a piece reaches beyond the tensor"
        count.as_strided(piece.shape, piece.stride, piece.offset).add_(1)
    exact = bool((count.as_strided(shape, stride, offset) == 1).all())
    return "" if exact else "an element is not written exactly once"


def _span(piece: Piece) -> tuple[int, int] | None:
    """Begin and length of a contiguous piece, in elements."""
    return (piece.offset, piece.elements) if _is_dense(piece.shape, piece.stride) else None


def _is_dense(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    expected = 1
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


def _extent(shape: tuple[int, ...], stride: tuple[int, ...], offset: int) -> int:
    if 0 in shape:
        return offset
    return offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True)) + 1
