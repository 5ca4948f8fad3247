"""Which engines play in the demo: what they load, how they are started, and how their answers are judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from demo.screen import Screen
from fleet.language import Language
from fleet.manifests import FleetSpec
from fleet.world import World

Json = dict[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """A folder and its digest."""

    version: str
    folder: Path
    digest: str

    @property
    def uri(self) -> str:
        return self.folder.resolve().as_uri() + "/"


@dataclass(frozen=True)
class Checkpoints:
    """`wrong` loads, and answers otherwise than it should."""

    v1: Checkpoint
    v2: Checkpoint
    v3: Checkpoint
    wrong: Checkpoint
    language: Language  # knows the answers of all that may be served


class Cast(Protocol):
    """Simulated engines, or real ones."""

    @property
    def name(self) -> str:
        """Of ENGINE."""

    @property
    def pods(self) -> int:
        """How many the fleet has."""

    @property
    def start_s(self) -> float:
        """Within which a fleet is Ready."""

    @property
    def deadline_s(self) -> float:
        """Within which a scene ends."""

    @property
    def prompts(self) -> list[Json]:
        """`spec.verify.prompts`."""

    async def make(self, folder: Path, screen: Screen) -> Checkpoints:
        """Below `folder`, or what an earlier run left there."""

    @property
    def asked(self) -> Sequence[str]:
        """The prompts of the traffic."""

    def fleet(self, name: str, base: Checkpoint) -> FleetSpec:
        """Engines that load `base` at start."""

    async def paused(self, pod: Json) -> bool:
        """Whether its engine is. False where it does not answer."""

    async def compare(self, world: World, name: str, made: Checkpoints) -> str:
        """Compare all pods with a process that was started on v3; "": nothing to say beyond traffic's answers.

        Raises WentWrong.
        """
