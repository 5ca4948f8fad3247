"""Write down which layers a family was proven right with: the list by which the plugin refuses others.

The file is the plugin's, one per minor of vLLM. What a family has added before is replaced, so that a layer that no family
has any more disappears.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from once import locked
from realvllm import venv
from realvllm.plugins import PRODUCT
from weightrollout.handover.records import EngineReport, LayerReport

#: Engines may have any layer, and what a family was proven with is kept.
RECORD: Final = "WEIGHTROLLOUT_RECORD_LAYERS"
#: The plugin's override for all layers, in an engine's environment.
ANY_LAYER: Final = {"WEIGHTROLLOUT_ALLOW_UNTESTED_LAYERS": "*"}

Table = dict[str, dict[str, list[str]]]


def records() -> bool:
    """Whether this run was asked to write the list."""
    return os.environ.get(RECORD) == "1"


def path(engine_version: str) -> Path:
    """Of the list for the minor of this vLLM, such as "0.32.0"."""
    minor = ".".join(engine_version.split(".")[:2])
    return PRODUCT / "plugin" / f"layers-{minor}.json"


def keep(family: str, reports: Sequence[EngineReport]) -> None:
    """Replace what `family` has in the list by the layers of these engines."""
    target = path(reports[0].engine_version)
    with locked(venv.cache_folder() / "proven.lock", lambda said: None, "writing"):
        known: Table = json.loads(target.read_text()) if target.exists() else {}
        target.write_text(dumps(merged(known, family, _layers(reports))))


def merged(known: Table, family: str, layers: Iterable[LayerReport]) -> Table:
    """The list with `family` at exactly these layers."""
    table: Table = {
        kind: {parts: [each for each in names if each != family] for parts, names in by.items()}
        for kind, by in known.items()
    }
    for layer in layers:
        names = table.setdefault(layer.kind, {}).setdefault(layer.held_by(), [])
        if family not in names:
            names.append(family)
    left = {kind: {at: names for at, names in by.items() if names} for kind, by in table.items()}
    return {kind: by for kind, by in left.items() if by}


def dumps(table: Table) -> str:
    """Sorted, a line per class and family, so that a change is a small difference."""
    ordered = {
        kind: {parts: sorted(by[parts]) for parts in sorted(by)}
        for kind, by in sorted(table.items())
    }
    return json.dumps(ordered, indent=1) + "\n"


def _layers(reports: Sequence[EngineReport]) -> Iterator[LayerReport]:
    for report in reports:
        yield from report.layers
        if report.draft is not None:
            yield from report.draft.layers
