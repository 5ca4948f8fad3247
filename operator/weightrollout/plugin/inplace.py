"""Can the live tensors be filled where they are? Proven per tensor, never assumed per class.

Yes, when loading is nothing but copies (the trace), each element is written exactly once, nothing
was derived from the weights afterwards, the live tensor still has the layout it was born with, and
its bytes equal those of the checkpoint it was loaded from.
"""

import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from weightrollout.plugin import layers
from weightrollout.plugin.birth import (
    RUNTIME,
    Birth,
    Keep,
    Ref,
    Slot,
    Table,
    Template,
    Thing,
    is_satellite,
)
from weightrollout.plugin.recording import Record
from weightrollout.plugin.shadow import TABLES, Shadow
from weightrollout.plugin.tracing import Filling, Piece, coverage


@dataclass(frozen=True, slots=True)
class Target:
    """A live tensor, and what fills it."""

    name: str
    table: Mapping[str, torch.Tensor]  # of its module
    tensor: torch.Tensor
    offset: int  # of the tensor in the storage it was traced in, in elements
    pieces: tuple[Piece, ...]

    def is_live(self) -> bool:
        """Its module still holds this very tensor."""
        return self.table.get(self.name.rpartition(".")[2]) is self.tensor

    def view(self, piece: Piece) -> torch.Tensor:
        """The part of the live tensor that the piece fills."""
        at = self.tensor.storage_offset() + piece.offset - self.offset
        return self.tensor.data.as_strided(piece.shape, piece.stride, at)


@dataclass(frozen=True, slots=True)
class InPlace:
    targets: tuple[Target, ...]
    why: str  # why not, with the layer; "" when all can be
    reasons: Mapping[str, str] = field(default_factory=dict)  # by name of the module


def analyse(
    model: nn.Module,
    record: Record,
    shadow: Shadow,
    fillings: Mapping[int, Filling],
    untraceable: str,
) -> InPlace:
    if untraceable:
        return InPlace((), untraceable, {name: untraceable for name, _ in model.named_modules()})
    reasons = _derivations(model, record.birth)
    targets, defects = _targets(shadow, fillings)
    for name, why in defects.items():
        reasons.setdefault(_module(name), f"{name.rpartition('.')[2]}: {why}")
    if not reasons:
        # The checkpoint is read once more only where the answer depends on it.
        if record.again is None:
            return InPlace(targets, "the checkpoint cannot be read a second time")
        reasons = _mismatches(record.again(model), targets)
    for layer, why in reasons.items():
        return InPlace(targets, f"{layer}: {why}", reasons)
    return InPlace(targets, "")


def _derivations(model: nn.Module, birth: Birth | None) -> dict[str, str]:
    """Name of a module -> what was made from its weights."""
    owners = layers.owners(model)
    found: dict[str, str] = {}
    for kind, table, name in derived(birth):
        found.setdefault(owners.get(id(table), kind), f"{name} was made from the weights")
    return found


def _module(tensor: str) -> str:
    return tensor.rpartition(".")[0]


def source(piece: Piece, tensor: torch.Tensor) -> torch.Tensor:
    """The view of a whole checkpoint tensor that the piece copies."""
    at = tensor.storage_offset() + piece.source_offset
    return tensor.as_strided(piece.shape, piece.source_stride, at)


def _targets(
    shadow: Shadow, fillings: Mapping[int, Filling]
) -> tuple[tuple[Target, ...], dict[str, str]]:
    """What can be filled, and name of a tensor -> why it cannot."""
    found: dict[int, Target] = {}
    defects: dict[str, str] = {}
    for name, table, live, traced in _tensors(shadow):
        storage = traced.untyped_storage()._cdata
        filling = fillings.get(storage)
        if filling is None or traced.numel() == 0:
            continue
        known = found.get(storage)
        if known is not None:
            if known.tensor.untyped_storage()._cdata != live.untyped_storage()._cdata:
                defects[name] = f"it was one with {known.name} and is its own tensor now"
            continue
        layout = (tuple(traced.shape), tuple(traced.stride()), traced.storage_offset())
        why = filling.why or coverage(filling, *layout)
        if not why and (live.shape, live.stride(), live.dtype) != (
            traced.shape,
            traced.stride(),
            traced.dtype,
        ):
            why = "the live tensor has another layout than the loader fills"
        if why:
            defects[name] = why
        else:
            pieces = tuple(filling.pieces)
            found[storage] = Target(name, table, live, traced.storage_offset(), pieces)
    return tuple(found.values()), defects


def _tensors(
    shadow: Shadow,
) -> Iterator[tuple[str, Mapping[str, torch.Tensor], torch.Tensor, torch.Tensor]]:
    """(name, table of the module, live, traced) of all tensors that are there in both."""
    names = {id(module): name for name, module in shadow.model.named_modules()}
    for pair in shadow.pairs:
        if not isinstance(pair.live, nn.Module):
            continue
        for table in ("_parameters", "_buffers"):
            live = vars(pair.live)[table]
            for name, traced in vars(pair.shadow)[table].items():
                if traced is not None and live.get(name) is not None:
                    full = f"{names.get(id(pair.shadow), '')}.{name}".lstrip(".")
                    yield full, live, live[name], traced


def _mismatches(
    checkpoint: Iterable[tuple[str, torch.Tensor]], targets: Iterable[Target]
) -> dict[str, str]:
    """Name of a module -> the tensor whose live bytes are not the checkpoint's: a hook that shuffles would show."""
    by_source: dict[str, list[tuple[Target, Piece]]] = {}
    for target in targets:
        for piece in target.pieces:
            if piece.source is not None:
                by_source.setdefault(piece.source, []).append((target, piece))
    found: dict[str, str] = {}
    for name, tensor in checkpoint:
        for target, piece in by_source.get(name, ()):
            if not _equal(target.view(piece), source(piece, tensor)):
                leaf = target.name.rpartition(".")[2]
                found.setdefault(
                    _module(target.name), f"{leaf}: the live bytes are not those of {name}"
                )
    return found


def _equal(live: torch.Tensor, wanted: torch.Tensor) -> bool:
    wanted = wanted.to(device=live.device, dtype=live.dtype).contiguous()
    return bool(torch.equal(live.contiguous().view(torch.uint8), wanted.view(torch.uint8)))


def derived(birth: Birth | None) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(layer, its attributes, name) of what was made from weights after they were loaded."""
    for thing in birth.things.values() if birth is not None else ():
        live = thing.live()
        if live is None:
            continue
        for name, value in vars(live).items():
            if name in TABLES or name in RUNTIME or _unchanged(thing, name, value):
                continue
            if _holds_state(value, set()):
                yield str(getattr(live, "prefix", "") or type(live).__name__), vars(live), name


def _unchanged(thing: Thing, name: str, value: Any) -> bool:
    template: Template | None = thing.attributes.get(name)
    match template:
        case Keep():
            return template.value is value
        case Ref() | Slot() | Table():
            return isinstance(value, nn.Module | torch.Tensor | dict) or is_satellite(value)
        case None:
            return False
    return True


def _holds_state(value: Any, seen: set[int]) -> bool:
    """A tensor in it, or a thing of which nobody can say what is in it."""
    if id(value) in seen or value is None:
        return False
    seen.add(id(value))
    match value:
        case torch.Tensor():
            return bool(value.numel() > 1)
        case bool() | int() | float() | str() | bytes() | type() | torch.dtype() | torch.device():
            return False
        case list() | tuple() | set() | frozenset():
            return any(_holds_state(each, seen) for each in value)
        case dict():
            return any(_holds_state(each, seen) for each in value.values())
        case types.FunctionType():
            cells = value.__closure__ or ()
            return any(_holds_state(cell.cell_contents, seen) for cell in cells)
        case types.BuiltinFunctionType() | types.ModuleType():
            return False
        case types.MethodType():
            return _holds_state(value.__self__, seen)
        case nn.Module():
            return False
    if is_satellite(value):
        return any(_holds_state(each, seen) for each in vars(value).values())
    return True
