"""Measure, write docs/benchmarks/scale.json, and render it into docs/benchmarks.md: `make bench-scale`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.page import FIGURES, PAGE, ROOT, with_section
from bench.scale import passes
from bench.scale.fleet import SERVING, TRAINING, fleet
from bench.scale.rendering import TITLE, rendered, rounded
from bench.swap import machine
from fleet.world import World
from localcluster.api import Api
from localcluster.cluster import LocalCluster

Json = dict[str, Any]
RAW: Final = FIGURES / "scale.json"
BEGAN: Final = time.monotonic()
#: Alternately to two versions that each agent holds already.
PAUSES: Final = 6


@dataclass(frozen=True)
class Settings:
    pods: int = 300
    training_pods: int = 100
    rest_s: float = 20.0
    staging_s: float = 2.0  # of one pod of the Training fleet
    swap_s: float = 1.0

    @staticmethod
    def of(environment: dict[str, str]) -> Settings:
        pods = int(environment.get("BENCH_SCALE_PODS", "300"))
        return Settings(pods=pods, training_pods=min(100, pods))


def main() -> int:
    settings = Settings.of(dict(os.environ))
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    figures: Json = {
        "schema": 1,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.host(),
        "load": machine.load(),
        "settings": asdict(settings),
        "passes": passes.measure(tell=say),
    }
    with tempfile.TemporaryDirectory(dir=build, prefix="bench-scale-") as folder:
        figures |= asyncio.run(measure(Path(folder), settings))
    FIGURES.mkdir(exist_ok=True)
    RAW.write_text(json.dumps(rounded(figures), indent=1, sort_keys=True) + "\n")
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, rendered(rounded(figures))))
    say(f"done: {PAGE.relative_to(ROOT)}")
    return 0


def say(text: str) -> None:
    print(f"[{time.monotonic() - BEGAN:5.0f} s]  {text}", flush=True)


async def measure(folder: Path, settings: Settings) -> Json:
    say("a control plane starts")
    async with LocalCluster() as cluster, cluster.api() as api:
        await World(cluster, api, "default", folder).install_crd()
        training = await _training(cluster, api, folder, settings)
        large = await _large(cluster, api, folder, settings)
    return {"training": training, "large": large}


async def _training(cluster: LocalCluster, api: Api, folder: Path, settings: Settings) -> Json:
    async with fleet(cluster, api, folder, "training", settings.training_pods, say) as one:
        one.pods.times.staging_s, one.pods.times.swap_s = settings.staging_s, settings.swap_s
        return await one.roll("published", "v1", TRAINING)


async def _large(cluster: LocalCluster, api: Api, folder: Path, settings: Settings) -> Json:
    async with fleet(cluster, api, folder, "large", settings.pods, say) as one:
        rest = await one.rest(settings.rest_s)
        serving = await one.roll("takeOut Endpoint, 25% at a time", "v1", SERVING)
        swaps = [
            await one.roll("takeOut None, all at once", f"v{number % 2}", TRAINING)
            for number in range(PAUSES)
        ]
        first = one.first
    return {"first": first, "rest": rest, "serving": serving, "training": swaps}


if __name__ == "__main__":
    sys.exit(main())
