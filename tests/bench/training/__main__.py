"""Measure, write docs/benchmarks/training.json, and render it into docs/benchmarks.md: `make bench-training`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.page import FIGURES, PAGE, ROOT, with_section
from bench.scale.rendering import rounded
from bench.swap import machine
from bench.training.course import NAME, Settings, course
from bench.training.rendering import TITLE, rendered, verdicts
from fleet.world import World
from localcluster.access import make_namespace
from localcluster.cluster import LocalCluster

Json = dict[str, Any]
RAW: Final = FIGURES / "training.json"
BEGAN: Final = time.monotonic()


def main() -> int:
    settings = Settings(
        pods=int(os.environ.get("BENCH_TRAINING_PODS", "50")),
        seconds=(seconds := float(os.environ.get("BENCH_TRAINING_SECONDS", "600"))),
        engine_restarts=max(1, round(seconds / 60)),
    )
    (ROOT / "build").mkdir(exist_ok=True)
    figures: Json = {
        "schema": 1,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.host(),
        "load": machine.load(),
    }
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bench-training-") as folder:
        figures |= asyncio.run(measure(Path(folder), settings))
    figures = rounded(figures)
    for each in verdicts(figures):
        say(
            f"{'reached' if each.reached else 'MISSED'}: {each.what}: {each.measured} ({each.target})"
        )
    if "BENCH_TRAINING_PODS" in os.environ or "BENCH_TRAINING_SECONDS" in os.environ:
        say(f"a look at another size, nothing is written\n\n{rendered(figures)}")
        return 0
    FIGURES.mkdir(exist_ok=True)
    RAW.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, rendered(figures)))
    say(f"done: {PAGE.relative_to(ROOT)}")
    return 0


def say(text: str) -> None:
    print(f"[{time.monotonic() - BEGAN:5.0f} s]  {text}", flush=True)


async def measure(folder: Path, settings: Settings) -> Json:
    say("a control plane starts")
    async with LocalCluster() as cluster, cluster.api() as api:
        await make_namespace(api, NAME)
        world = World(cluster, api, NAME, folder)
        await world.install_crd()
        return await course(cluster, world, settings, say)


if __name__ == "__main__":
    sys.exit(main())
