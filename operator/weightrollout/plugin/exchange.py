"""Put what a loaded shadow holds into the live modules: by reference, without copying a byte.

The live modules stay the same objects, so that whoever holds one (the runner, a drafter, the table
of attention layers, an adapter) sees the new weights. Everything is worked out before the pause; in
it there is one loop over plain assignments, which may run twice.
"""

import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import nn

from weightrollout.plugin.birth import RUNTIME, is_satellite
from weightrollout.plugin.shadow import TABLES, Pair, Shadow, ShadowError

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class SetData:
    """The tensor of that name gets other bytes and stays the same object, which others may hold too.

    By name, because somebody may put another tensor there between preparation and pause.
    """

    table: dict[str, torch.Tensor]
    name: str
    data: torch.Tensor


@dataclass(frozen=True, slots=True)
class SetItem:
    table: dict[str, Any]
    name: str
    value: Any


Entry = SetData | SetItem


@dataclass(frozen=True, slots=True)
class Exchange:
    """`entries` in any order. The shadow stays alive: closures may hold its modules."""

    entries: tuple[Entry, ...]
    shadow: Shadow

    @classmethod
    def of(cls, shadow: Shadow, *, foreign: Callable[[torch.Tensor], bool]) -> "Exchange":
        """`foreign`: a tensor lies in memory that the engine must not keep, such as a mapped file.

        Raises ShadowError where live and shadow have grown apart; nothing was changed.
        """
        entries = tuple(_Differences(shadow, foreign).entries())
        shadow.forget_birth()
        return cls(entries, shadow)

    def missing(self) -> str:
        """A tensor that was there when this was made and is not now; "" where all are."""
        for entry in self.entries:
            if isinstance(entry, SetData) and entry.table.get(entry.name) is None:
                return entry.name
        return ""

    def apply(self) -> list[Any]:
        """In the pause. Returns what was replaced, to be freed after it."""
        replaced: list[Any] = []
        for entry in self.entries:
            match entry:
                case SetData():
                    tensor = entry.table[entry.name]
                    replaced.append(tensor.data)
                    tensor.data = entry.data
                case SetItem():
                    replaced.append(entry.table.get(entry.name))
                    entry.table[entry.name] = entry.value
        return replaced


@dataclass(slots=True)
class _Differences:
    shadow: Shadow
    foreign: Callable[[torch.Tensor], bool]
    _counterparts: dict[int, Any] = field(init=False)
    _data: dict[int, torch.Tensor] = field(init=False, default_factory=dict)
    _seen: dict[int, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._counterparts = self.shadow.counterparts()

    def entries(self) -> Iterator[Entry]:
        for pair in self.shadow.pairs:
            if isinstance(pair.live, nn.Module):
                yield from self._tensors(pair, "_parameters")
                yield from self._tensors(pair, "_buffers")
                if vars(pair.shadow)["_modules"] != pair.begun["_modules"]:
                    raise ShadowError(f"{_name(pair)}: loading replaces submodules")
            yield from self._attributes(pair)

    def _tensors(self, pair: Pair, table: str) -> Iterator[Entry]:
        live, shadow = vars(pair.live)[table], vars(pair.shadow)[table]
        if strange := {name for name in live if live[name] is not None} ^ {
            name for name in shadow if shadow[name] is not None
        }:
            # A checkpoint that switches a tensor on or off is another model.
            raise ShadowError(f"{_name(pair)}: {', '.join(sorted(strange))} is there once only")
        for name, tensor in shadow.items():
            if tensor is None or not self._is_new(pair.begun[table].get(name, _ABSENT), tensor):
                self._check_filled(pair, name, tensor)
            else:
                yield SetData(live, name, self._new_data(pair, name, live[name], tensor))

    def _is_new(self, begun: Any, tensor: torch.Tensor) -> bool:
        return begun is not tensor or not self.shadow.is_untouched(tensor)

    def _check_filled(self, pair: Pair, name: str, tensor: torch.Tensor | None) -> None:
        if tensor is not None and self.shadow.is_unknown(tensor):
            raise ShadowError(f"{_name(pair)}: no checkpoint tensor fills {name}")

    def _new_data(
        self, pair: Pair, name: str, live: torch.Tensor, new: torch.Tensor
    ) -> torch.Tensor:
        """One tensor under two names gets one."""
        own = self._own(new.data)
        data = self._data.setdefault(id(live), own)
        if data.data_ptr() != own.data_ptr() or data.shape != own.shape:
            raise ShadowError(
                f"{_name(pair)}: {name} is one tensor with another in the engine, and two in the"
                " checkpoint"
            )
        return data

    def _own(self, tensor: torch.Tensor) -> torch.Tensor:
        """Never keep a tensor in the staging volume: the image is collected one day."""
        if not self.foreign(tensor):
            return tensor
        known = self._seen.get(id(tensor))
        return known if known is not None else self._seen.setdefault(id(tensor), tensor.clone())

    def _attributes(self, pair: Pair) -> Iterator[Entry]:
        table = vars(pair.live)
        for name, value in vars(pair.shadow).items():
            if name in TABLES or name in RUNTIME:
                continue
            begun = pair.begun.get(name, _ABSENT)
            if isinstance(value, torch.Tensor) and begun is value:
                if not self.shadow.is_untouched(value):
                    yield SetItem(table, name, self._own(value))
            elif begun is not value and not _same(table.get(name, _ABSENT), value):
                yield SetItem(table, name, self._rebind(value))

    def _rebind(self, value: Any) -> Any:
        """Shadow objects in it become the live ones; what loading has made is changed in place."""
        if id(value) in self._counterparts:
            return self._counterparts[id(value)]
        if id(value) in self._seen:
            return self._seen[id(value)]
        if isinstance(value, torch.Tensor):
            return self._own(value)
        self._seen[id(value)] = value
        match value:
            case list() | set() | tuple() if type(value) in (list, set, tuple):
                return type(value)(self._rebind(each) for each in value)
            case dict() if type(value) is dict:
                return {key: self._rebind(each) for key, each in value.items()}
            case types.MethodType():
                return types.MethodType(value.__func__, self._rebind(value.__self__))
            case functools.partial():
                args = (self._rebind(each) for each in value.args)
                keywords = {name: self._rebind(each) for name, each in value.keywords.items()}
                return functools.partial(self._rebind(value.func), *args, **keywords)
            case types.FunctionType():
                for cell in value.__closure__ or ():
                    cell.cell_contents = self._rebind(cell.cell_contents)
        if is_satellite(value) or _is_record(value):
            for name, each in vars(value).items():
                vars(value)[name] = self._rebind(each)
        return value


def _same(one: Any, other: Any) -> bool:
    """Plain values that are equal need no assignment."""
    return type(one) is type(other) and isinstance(one, int | float | str) and one == other


def _is_record(value: Any) -> bool:
    """A dataclass of vLLM, which may hold tensors of its layer."""
    return (
        hasattr(type(value), "__dataclass_fields__")
        and hasattr(value, "__dict__")
        and type(value).__module__.startswith("vllm.model_executor.layers.")
        and not type(value).__name__.endswith("MoEConfig")
    )


def _name(pair: Pair) -> str:
    return str(getattr(pair.live, "prefix", "") or type(pair.live).__name__)
