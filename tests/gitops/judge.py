"""Ask kstatus, and Argo CD's interpreter with our health script, about objects.

Both are Go; the program in `binary/` is built once (see `gobinary`).
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gobinary import GoModule

Json = dict[str, Any]

HEALTH: Final = (
    Path(__file__).resolve().parents[2]
    / "docs/examples/argocd/resource_customizations/weightrollout.dev/WeightRollout/health.lua"
)

MODULE: Final = GoModule(
    "gitops",
    Path(__file__).with_name("binary"),
    ("go.mod", "go.sum", "main.go"),
    ("-trimpath", "-buildvcs=false", "-ldflags", "-s -w"),
    "about a minute on 2 cores the first time, seconds when the Go cache is warm",
)

ANSWER_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Judgement:
    kstatus: str  # Current, InProgress, Failed or Terminating
    argo: str  # Healthy, Progressing, Suspended or Degraded
    argo_message: str


def is_built() -> bool:
    return MODULE.is_built("gitops")


def build() -> Path:
    """Raises gobinary.BuildFailed."""
    return MODULE.built("gitops", ".", "kstatus and Argo CD's Lua")


def judged(objects: Sequence[Json]) -> list[Judgement]:
    """One judgement for each, in order."""
    done = subprocess.run(
        [str(build()), str(HEALTH)],
        input="\n".join(json.dumps(each) for each in objects),
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        Judgement(each["kstatus"]["status"], each["argo"]["status"], each["argo"]["message"])
        for each in said
    ]
