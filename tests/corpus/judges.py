"""Every kind of input, and who judges it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from corpus import checkpoint_side, cluster_side, engine_side, rpc, volume_side

#: The input, and an empty folder for it; the class of the answer.
Judge = Callable[[bytes, Path], str]

HERE: Final = Path(__file__).parent
EXPECTED: Final = "expected.json"

JUDGES: Final[Mapping[str, tuple[str, Judge]]] = {
    "journal": ("json", volume_side.journal),
    "report": ("json", volume_side.report),
    "prepared": ("json", volume_side.prepared),
    "receipt": ("json", volume_side.receipt),
    "index": ("json", volume_side.index),
    "exit-request": ("json", volume_side.exit_request),
    "safetensors": ("safetensors", volume_side.safetensors),
    "golden": ("json", checkpoint_side.golden),
    "config": ("json", checkpoint_side.config),
    "stable": ("json", volume_side.stable),
    "published": ("json", cluster_side.published),
    "swap-annotation": ("txt", cluster_side.swap_annotation),
    "revision": ("json", cluster_side.revision),
    "pod": ("json", cluster_side.pod),
    "spec": ("json", cluster_side.spec),
    "agent-state": ("json", cluster_side.agent_state),
    "metrics": ("txt", engine_side.metrics),
    "completion": ("http", engine_side.completion),
    "rpc": ("json", rpc.judge),
}


@dataclass(frozen=True, slots=True)
class Case:
    kind: str
    path: Path
    expected: str


def cases(kind: str) -> list[Case]:
    folder = HERE / kind
    expected = json.loads((folder / EXPECTED).read_text())
    paths = sorted(folder.glob(f"*.{JUDGES[kind][0]}"))
    return [Case(kind, path, expected[path.name]) for path in paths if path.name != EXPECTED]
