"""What a model was when it was built: enough to build the same again, without its constructor.

vLLM's constructors need process-wide state (the default dtype, the current config), so that they
cannot run beside a serving engine. Instead each object is written down as a template when the model
is built, before loading changes it. Thawing a template is plain Python and disturbs nobody.

Two kinds of objects are taken apart: modules, and their *satellites*, objects that belong to one
module and are changed by loading (quantisation methods, attention implementations, kernels).
Everything else (configs, process groups, functions) is shared.
"""

import dataclasses
import enum
import functools
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import nn

#: Tensors up to this size keep their first value: scales and biases that no checkpoint need set.
VALUE_BYTES: Final = 1 << 20
#: Where the classes of satellites live.
_SATELLITES: Final = (
    "vllm.model_executor.layers.",
    "vllm.model_executor.kernels.",
    "vllm.model_executor.models.",
    "vllm.v1.attention.",
)
_VALUES: Final = tuple | list | dict | set | str | int | float
#: Written by the code that runs a model, never by what loads it.
RUNTIME: Final = frozenset({"kv_cache"})


@dataclass(frozen=True, slots=True)
class Keep:
    value: Any


@dataclass(frozen=True, slots=True)
class Ref:
    """A module or satellite of the same model."""

    key: int


@dataclass(frozen=True, slots=True)
class Slot:
    """A tensor without its bytes. Strides and offset in elements."""

    key: int
    storage: int
    kind: type
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    dtype: torch.dtype
    attributes: "Template" = field(repr=False)


@dataclass(frozen=True, slots=True)
class Items:
    """A list, tuple, set or deque."""

    kind: type
    items: tuple["Template", ...]


@dataclass(frozen=True, slots=True)
class Table:
    kind: type
    items: tuple[tuple[Any, "Template"], ...]


@dataclass(frozen=True, slots=True)
class Method:
    function: Any
    owner: "Template"


@dataclass(frozen=True, slots=True)
class Partial:
    function: "Template"
    args: tuple["Template", ...]
    keywords: tuple[tuple[str, "Template"], ...]


@dataclass(frozen=True, slots=True)
class Closure:
    function: types.FunctionType
    cells: tuple["Template", ...]


Template = Keep | Ref | Slot | Items | Table | Method | Partial | Closure


@dataclass(frozen=True, slots=True)
class Thing:
    """A module or a satellite at its birth."""

    kind: type
    live: Callable[[], Any]  # None once it is gone
    attributes: Mapping[str, Template]
    is_module: bool


@dataclass(frozen=True, slots=True)
class Storage:
    elements: int
    dtype: torch.dtype
    device: torch.device
    value: torch.Tensor | None  # of the whole storage, where it is small or no parameter's


@dataclass(frozen=True, slots=True)
class Birth:
    root: int
    things: Mapping[int, Thing]
    storages: Mapping[int, Storage]

    @classmethod
    def of(cls, model: nn.Module) -> "Birth":
        """Raises NotImplementedError for a tensor that cannot be written down."""
        return _Writer(model).birth()


def is_satellite(value: object) -> bool:
    kind = type(value)
    return (
        kind.__module__.startswith(_SATELLITES)
        and hasattr(value, "__dict__")
        and not isinstance(value, nn.Module | type | enum.Enum | types.FunctionType | _VALUES)
        and not dataclasses.is_dataclass(kind)
        and not kind.__name__.endswith(("Config", "Metadata"))
    )


class _Writer:
    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._keys: dict[int, int] = {}
        self._things: dict[int, Thing] = {}
        self._storages: dict[int, Storage] = {}
        self._slots: dict[int, Slot] = {}
        self._alive: list[object] = []  # ids stay unique while this writer works
        self._waiting: list[object] = []
        self._parameters = {parameter.untyped_storage()._cdata for parameter in model.parameters()}

    def birth(self) -> Birth:
        for module in self._model.modules():
            self._key(module)
        root = self._keys[id(self._model)]
        while self._waiting:
            thing = self._waiting.pop()
            attributes = {
                name: self._write(value)
                for name, value in vars(thing).items()
                if name not in RUNTIME
            }
            self._things[self._keys[id(thing)]] = Thing(
                type(thing), _weakly(thing), attributes, isinstance(thing, nn.Module)
            )
        return Birth(root, self._things, self._storages)

    def _key(self, thing: object) -> int:
        known = self._keys.get(id(thing))
        if known is None:
            known = self._keys[id(thing)] = len(self._keys)
            self._alive.append(thing)
            self._waiting.append(thing)
        return known

    def _write(self, value: Any) -> Template:
        if isinstance(value, torch.Tensor):
            return self._slot(value)
        if id(value) in self._keys or is_satellite(value):
            return Ref(self._key(value))
        match value:
            case list() | tuple() | set() if type(value) in (list, tuple, set):
                return Items(type(value), tuple(self._write(each) for each in value))
            case dict() if type(value) in (dict, OrderedDict):
                items = tuple((key, self._write(each)) for key, each in value.items())
                return Table(type(value), items)
            case types.MethodType():
                return Method(value.__func__, self._write(value.__self__))
            case functools.partial():
                return Partial(
                    self._write(value.func),
                    tuple(self._write(each) for each in value.args),
                    tuple((name, self._write(each)) for name, each in value.keywords.items()),
                )
            case types.FunctionType() if value.__closure__:
                cells = tuple(self._write(_content(cell)) for cell in value.__closure__)
                if any(not isinstance(cell, Keep) for cell in cells):
                    return Closure(value, cells)
        return Keep(value)

    def _slot(self, tensor: torch.Tensor) -> Slot:
        known = self._slots.get(id(tensor))
        if known is not None:
            return known
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self._storages:
            self._storages[key] = self._storage(tensor, storage)
        elif self._storages[key].dtype != tensor.dtype:
            raise NotImplementedError(f"a {tensor.dtype} view of a {self._storages[key].dtype}")
        self._alive.append(tensor)
        slot = self._slots[id(tensor)] = Slot(
            len(self._slots),
            key,
            type(tensor),
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tensor.storage_offset(),
            tensor.dtype,
            self._write(dict(vars(tensor))),
        )
        return slot

    def _storage(self, tensor: torch.Tensor, storage: torch.UntypedStorage) -> Storage:
        self._alive.append(storage)
        elements = storage.nbytes() // tensor.dtype.itemsize
        value = None
        if not tensor.is_meta and (
            storage.nbytes() <= VALUE_BYTES or storage._cdata not in self._parameters
        ):
            whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            value = whole.set_(storage, 0, (elements,), (1,)).clone()
        return Storage(elements, tensor.dtype, tensor.device, value)


def _weakly(thing: Any) -> Callable[[], Any]:
    """Whoever replaced a module must be able to free it."""
    try:
        return weakref.ref(thing)
    except TypeError:  # a class with __slots__
        return lambda: thing


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None
