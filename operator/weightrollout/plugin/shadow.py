"""The same model once more, beside the live one, filled by the model's own loader.

A shadow is thawed from a `Birth`, so it is what a fresh process has after its constructor. Loading
and post-processing it is what a fresh process does next: what it holds then is right for every
family that a fresh process is right for, derived and packed forms included. The live model is read
nowhere, except for large tensors that no checkpoint fills.
"""

import functools
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

import torch
from torch import nn

from weightrollout.plugin.birth import (
    Birth,
    Closure,
    Items,
    Keep,
    Method,
    Partial,
    Ref,
    Slot,
    Storage,
    Table,
    Template,
)
from weightrollout.plugin.tracing import Watch

META: Final = torch.device("meta")
#: Attributes of every module that hold its tensors and submodules by name.
TABLES: Final = ("_parameters", "_buffers", "_modules")


class ShadowError(Exception):
    """The model cannot be built beside the live one; nothing live was touched."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The same module or satellite, live and in the shadow."""

    live: Any
    shadow: Any
    begun: Mapping[str, Any]  # the shadow's attributes before it was loaded


@dataclass(slots=True)
class Shadow:
    model: nn.Module
    pairs: tuple[Pair, ...]
    #: What it was born with, kept alive: the ids below are theirs.
    born: tuple[torch.Tensor, ...] = field(repr=False, default=())
    #: Storages it was born with.
    first: frozenset[int] = frozenset()
    #: Those of them whose value is not known: only a checkpoint can fill them.
    unknown: frozenset[int] = frozenset()
    #: Storages that loading or processing wrote.
    written: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, birth: Birth, *, device: torch.device | None = None) -> "Shadow":
        """`device` meta: no memory, for a trace. None: where each tensor was born."""
        thaw = _Thaw(birth, device)
        for key in birth.things:
            thaw.fill(key)
        pairs = tuple(
            Pair(live, thaw.things[key], _begun(thaw.things[key]))
            for key, thing in birth.things.items()
            if (live := thing.live()) is not None
        )
        born = thaw.born()
        first = frozenset(whole.untyped_storage()._cdata for whole in born)
        return cls(thaw.things[birth.root], pairs, born, first, thaw.unknown())

    def load(self, weights: Iterable[tuple[str, torch.Tensor]]) -> None:
        """By the model's own loader. Raises whatever that raises."""
        with torch.no_grad(), self._watched():
            self.model.load_weights(weights)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        watch = Watch()
        with watch:
            yield
        self.written |= watch.written

    def process(self, work: Any) -> None:
        """`work(model)`: the engine's post-processing."""
        with torch.no_grad(), self._watched():
            work(self.model)

    def is_untouched(self, tensor: torch.Tensor) -> bool:
        """Its memory is that of its birth, and nobody wrote it."""
        storage = tensor.untyped_storage()._cdata
        return storage in self.first and storage not in self.written

    def forget_birth(self) -> None:
        """Free what nothing holds any more. From here on, `is_untouched` is not to be asked."""
        self.born = ()

    def is_unknown(self, tensor: torch.Tensor) -> bool:
        """Nobody has said what is in it."""
        storage = tensor.untyped_storage()._cdata
        return storage in self.unknown and storage not in self.written

    def things(self) -> "list[weakref.ref[Any]]":
        """What it consists of and the live model has, too: no part of the live model."""
        return [
            weakref.ref(pair.shadow) for pair in self.pairs if hasattr(pair.shadow, "__weakref__")
        ]

    def counterparts(self) -> dict[int, Any]:
        """id of a shadow object -> its live one."""
        return {id(pair.shadow): pair.live for pair in self.pairs}


class _Thaw:
    def __init__(self, birth: Birth, device: torch.device | None) -> None:
        self._birth = birth
        self._device = device
        self._storages: dict[int, torch.Tensor] = {}
        self._tensors: dict[int, torch.Tensor] = {}
        self.things: dict[int, Any] = {
            key: object.__new__(thing.kind) for key, thing in birth.things.items()
        }

    def fill(self, key: int) -> None:
        attributes = self._birth.things[key].attributes
        # Past __setattr__: a module's own would sort the values once more.
        vars(self.things[key]).update({name: self._thaw(each) for name, each in attributes.items()})

    def _thaw(self, template: Template) -> Any:
        match template:
            case Keep():
                return template.value
            case Ref():
                return self.things[template.key]
            case Slot():
                return self._tensor(template)
            case Items():
                return template.kind(self._thaw(each) for each in template.items)
            case Table():
                return template.kind((key, self._thaw(each)) for key, each in template.items)
            case Method():
                return types.MethodType(template.function, self._thaw(template.owner))
            case Partial():
                keywords = {name: self._thaw(each) for name, each in template.keywords}
                args = (self._thaw(each) for each in template.args)
                return functools.partial(self._thaw(template.function), *args, **keywords)
            case Closure():
                cells = tuple(types.CellType(self._thaw(each)) for each in template.cells)
                return rebound(template.function, cells)
            case _:
                assert_never(template)

    def _tensor(self, slot: Slot) -> torch.Tensor:
        known = self._tensors.get(slot.key)
        if known is not None:
            return known
        whole = self._storages.get(slot.storage)
        if whole is None:
            whole = self._storages[slot.storage] = self._whole(self._birth.storages[slot.storage])
        tensor = whole.as_strided(slot.shape, slot.stride, slot.offset)
        # As vLLM itself restores a parameter (model_loader/reload/meta.py): its constructor asks
        # for what only the layer knows.
        tensor.__class__ = slot.kind
        self._tensors[slot.key] = tensor
        tensor.__dict__.update(self._thaw(slot.attributes))
        return tensor

    def born(self) -> tuple[torch.Tensor, ...]:
        return tuple(self._storages.values())

    def unknown(self) -> frozenset[int]:
        return frozenset(
            whole.untyped_storage()._cdata
            for key, whole in self._storages.items()
            if self._birth.storages[key].value is None and whole.numel()
        )

    def _whole(self, storage: Storage) -> torch.Tensor:
        device = self._device or storage.device
        if storage.value is not None and device != META:
            return storage.value.clone()
        return torch.empty(storage.elements, dtype=storage.dtype, device=device)


def _begun(thing: Any) -> dict[str, Any]:
    """Its attributes; tables of tensors and modules are copied, because loading changes them."""
    return {name: dict(value) if name in TABLES else value for name, value in vars(thing).items()}


def rebound(function: types.FunctionType, cells: tuple[types.CellType, ...]) -> types.FunctionType:
    """The same function over other closed-over variables."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__dict__.update(function.__dict__)
    return copy
