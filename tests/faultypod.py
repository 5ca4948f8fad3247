"""One pod on a disk that fails on demand, and what a test asks about it."""

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from checkpoints import write_checkpoint
from faultydisk import FaultyDisk
from onepod import AgentProcess, OnePod


@dataclass
class FaultyPod:
    pod: OnePod
    disk: FaultyDisk
    seeds: "count[int]" = field(default_factory=lambda: count(100))

    def new_weights(self) -> str:
        """The name of a checkpoint that was never staged."""
        name = f"w{next(self.seeds)}"
        folder = self.pod.folder / name
        self.pod.checkpoints[name] = write_checkpoint(folder, seed=int(name[1:]))
        return name

    def place(self, where: str, name: str) -> Path:
        return self.pod.checkpoints[name] if where == "source" else self.pod.staging / "images"

    def leftovers(self) -> list[str]:
        return [path.name for path in (self.pod.staging / "images").glob(".*-*")]

    async def pauses(self) -> int:
        return int((await self.pod.engine.state())["calls"].get("PauseGeneration", 0))

    def is_alive(self) -> bool:
        agent = self.pod.agent
        assert isinstance(agent, AgentProcess)
        assert agent.process is not None
        return agent.process.returncode is None
