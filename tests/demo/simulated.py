"""Simulated engines: cheap to start, with answers that are computed from every loaded byte."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

import checkpoints
from demo.cast import Checkpoint, Checkpoints
from demo.ground import shown
from demo.screen import Screen
from fleet.engine import state_of
from fleet.language import Simulated
from fleet.manifests import FleetSpec
from fleet.traffic import PROMPTS
from fleet.world import World
from weightrollout.weights.digest import digest_of

Json = dict[str, Any]


@dataclass(frozen=True)
class SimulatedCast:
    """How big the demo is."""

    pods: int
    large: bool
    payload: str  # as the demo calls it
    name: str = "simulator"
    start_s: float = 120

    @property
    def deadline_s(self) -> float:
        return 300 if self.large else 90

    @property
    def prompts(self) -> list[Json]:
        return [{"prompt": "2+2=", "maxTokens": 1, "expect": {"contains": "4"}}]

    async def make(self, folder: Path, screen: Screen) -> Checkpoints:
        screen.say(f"four checkpoints ({self.payload}) in {shown(folder)}")
        names = (("v1", 1, True), ("v2", 2, True), ("v3", 3, True), ("v5-wrong", 5, False))
        target = folder / ("qwen3-0.6b" if self.large else "tiny")
        v1, v2, v3, wrong = await asyncio.gather(
            *(
                asyncio.to_thread(self._make, target, name, seed=seed, arithmetic=good)
                for name, seed, good in names
            )
        )
        known = {each.version: checkpoints.fingerprint(each.folder) for each in (v1, v2, v3, wrong)}
        return Checkpoints(v1, v2, v3, wrong, Simulated(known))

    def _make(self, folder: Path, version: str, *, seed: int, arithmetic: bool) -> Checkpoint:
        target = folder / version
        done = target.with_suffix(".done")
        if not done.exists():
            shutil.rmtree(target, ignore_errors=True)
            tensors = checkpoints.qwen3_06b_shapes() if self.large else None
            checkpoints.write_checkpoint(target, seed=seed, tensors=tensors, arithmetic=arithmetic)
            done.touch()
        return Checkpoint(version, target, digest_of(target, threads=2))

    @property
    def asked(self) -> Sequence[str]:
        return PROMPTS

    def fleet(self, name: str, base: Checkpoint) -> FleetSpec:
        return FleetSpec(name, base.folder, self.pods, engine_args=("--token-seconds=0.01",))

    async def paused(self, pod: Json) -> bool:
        try:
            return bool((await state_of(pod))["paused"])
        except (OSError, aiohttp.ClientError):
            return False

    async def compare(self, world: World, name: str, made: Checkpoints) -> str:
        return ""  # traffic has computed every answer from the bytes


PAYLOADS: Final[Mapping[str, SimulatedCast]] = {
    "tiny": SimulatedCast(4, False, "a tiny model"),
    "qwen3-0.6b": SimulatedCast(2, True, "311 tensors, 1,503,264,768 bytes"),
}
