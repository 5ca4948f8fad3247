"""Which layers a model is made of, by exact class, and which of them were tried with this vLLM.

A layer is a module that holds tensors of its own which a checkpoint may fill, or that nobody has
registered. Caches that are computed from the config alone, such as a rotary embedding's, make none.
What decides how the tensors are held belongs to the description of the layer: the quantisation
method with its scheme, and satellites that hold tensors.

The list of what was tried is data, one file per minor of vLLM beside this one. Nobody types it:
`make test-families` writes what the engines of a family report, once the family was proven right.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from weightrollout.handover.records import LayerReport
from weightrollout.plugin.birth import RUNTIME, is_satellite

#: Names the classes, with commas between, that are swapped though nobody tried them; `*`: all.
OVERRIDE: Final = "WEIGHTROLLOUT_ALLOW_UNTESTED_LAYERS"
ALL: Final = "*"
#: Tables of a module that hold what is asked for by other means.
_TABLES: Final = ("_parameters", "_buffers", "_modules")
#: Attributes whose class decides the form of the weights, whether it holds a tensor or not.
_METHODS: Final = ("quant_method", "scheme")
_FILES: Final = Path(__file__).parent
_NAMED: Final = 3

#: Layer class -> the parts it was seen with, as `LayerReport.parts` joined by " + " -> families.
Tested = Mapping[str, Mapping[str, tuple[str, ...]]]


def tested(minor: str) -> Tested:
    """What was proven with this minor, such as "0.32". Raises OSError: a tried minor has its file."""
    found: Tested = json.loads((_FILES / f"layers-{minor}.json").read_text())
    return found


def layers_of(model: nn.Module, reasons: Mapping[str, str]) -> tuple[LayerReport, ...]:
    """Layers that are alike are one entry. `reasons`: name of a module -> why it is not plain."""
    counts: dict[tuple[str, tuple[str, ...], str], tuple[str, int]] = {}
    for name, module in model.named_modules():
        parts = _parts(module)
        if not parts and not _holds_tensor(_own(module), set()):
            continue
        alike = (_class(module), parts, reasons.get(name, ""))
        first, count = counts.get(alike, (name, 0))
        counts[alike] = (first, count + 1)
    return tuple(
        LayerReport(kind, parts, first, count, why)
        for (kind, parts, why), (first, count) in sorted(counts.items())
    )


def untested(layers: Iterable[LayerReport], known: Tested | None) -> str:
    """Why these layers are refused, with their classes; "" when none is.

    `known` None: the minor itself was not tried, and has an override of its own.
    """
    allowed = {name.strip() for name in os.environ.get(OVERRIDE, "").split(",")}
    if known is None or ALL in allowed:
        return ""
    strange = [
        layer
        for layer in layers
        if layer.held_by() not in known.get(layer.kind, {}) and layer.kind not in allowed
    ]
    if not strange:
        return ""
    classes = sorted({layer.kind for layer in strange})
    listed = "; ".join(
        f"{layer.first} is a {layer.kind} with {layer.held_by() or 'nothing else'}"
        for layer in strange[:_NAMED]
    )
    more = f" and {len(strange) - _NAMED} more" if len(strange) > _NAMED else ""
    return (
        f"no model with these layers was compared with a fresh process yet: {listed}{more}; set"
        f" {OVERRIDE}={','.join(classes)} in the engine's container to try it at your own risk"
    )


def owners(model: nn.Module) -> dict[int, str]:
    """id of the attributes of a module or satellite -> name of the module that it belongs to."""
    found: dict[int, str] = {}
    for name, module in model.named_modules():
        found[id(vars(module))] = name
        for _, satellite in _satellites(module):
            found.setdefault(id(vars(satellite)), name)
    return found


def _parts(module: nn.Module) -> tuple[str, ...]:
    found = {
        _class(satellite)
        for name, satellite in _satellites(module)
        if name in _METHODS or _holds_tensor(vars(satellite).values(), set())
    }
    method = getattr(module, "quant_method", None)
    if isinstance(method, nn.Module):  # experts keep theirs as a module
        found.add(_class(method))
    return tuple(sorted(found))


def _own(module: nn.Module) -> Iterator[Any]:
    attributes = vars(module)
    yield from attributes["_parameters"].values()
    for name, value in attributes["_buffers"].items():
        if name not in attributes["_non_persistent_buffers_set"]:
            yield value
    for name, value in attributes.items():
        if name not in _TABLES and name not in RUNTIME:
            yield value


def _satellites(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """(attribute that holds it, satellite), those of satellites included; modules are not entered."""
    seen: set[int] = set()
    waiting = [
        (name, value)
        for name, value in vars(module).items()
        if name not in _TABLES and name not in RUNTIME
    ]
    while waiting:
        name, value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_satellite(value):
            yield name, value
            waiting += vars(value).items()
        else:
            waiting += [(name, each) for each in _items(value)]


def _holds_tensor(values: Iterable[Any], seen: set[int]) -> bool:
    for value in values:
        if isinstance(value, torch.Tensor):
            return True
        if id(value) not in seen:
            seen.add(id(value))
            if _holds_tensor(_items(value), seen):
                return True
    return False


def _items(value: Any) -> Iterable[Any]:
    if type(value) in (list, tuple, set):
        return tuple(value)
    return tuple(value.values()) if type(value) is dict else ()


def _class(thing: object) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
