"""What a fleet and its operator hold on to: measured twice, far apart, it must be the same."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from weightrollout.api import names

ASK_S: Final = 10.0
MIB: Final = 1 << 20


@dataclass(frozen=True)
class Process:
    handles: int
    threads: int
    series: int  # lines of /metrics


@dataclass(frozen=True)
class PodDisk:
    images: int
    staging_bytes: int
    journal_bytes: int
    handover_files: int


@dataclass(frozen=True)
class Footprint:
    operator: Process
    agents: dict[str, Process]
    disks: dict[str, PodDisk]
    revisions: int

    def __str__(self) -> str:
        agents = "".join(f"\n  {name}: {each}" for name, each in self.agents.items())
        disks = "".join(f"\n  {name}: {each}" for name, each in self.disks.items())
        return f"operator: {self.operator}{agents}{disks}\n  revisions: {self.revisions}"


async def footprint(
    world: World, node: VirtualNode, operator: OperatorProcess, app: str
) -> Footprint:
    pods = await world.pods(app)
    agents, disks = {}, {}
    for pod in pods:
        name = pod["metadata"]["name"]
        pid = node.pid(world.namespace, name, names.AGENT_CONTAINER)
        url = f"http://{pod['status']['podIP']}:{names.DEFAULT_HTTP_PORT}"
        agents[name] = await _process(pid, url)
        disks[name] = _disk(
            node.volume(world.namespace, name, names.VOLUME_STAGING),
            node.volume(world.namespace, name, names.VOLUME_HANDOVER),
        )
    return Footprint(
        await _process(operator.pid, operator.http), agents, disks, len(await revisions(world, app))
    )


def resident(pid: int) -> int:
    """Bytes of memory that a process has now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(status.split("VmRSS:")[1].split()[0])


async def revisions(world: World, rollout: str, *, of_pods: bool = False) -> list[str]:
    """Uids of a rollout's ControllerRevisions. `of_pods`: of those of its StatefulSet, which carry
    the same label."""
    found, _ = await world.api.list(
        f"/apis/apps/v1/namespaces/{world.namespace}/controllerrevisions",
        labelSelector=f"{names.LABEL_NAME}={rollout}",
    )
    return sorted(
        each["metadata"]["uid"] for each in found if ("weights" in each["data"]) is not of_pods
    )


async def series_of(url: str) -> list[str]:
    """The samples of a /metrics page."""
    timeout = aiohttp.ClientTimeout(total=ASK_S)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.get(f"{url}/metrics") as answer,
    ):
        text = await answer.text()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


async def sample(url: str, name: str, *labels: str) -> float:
    """The sum of one metric's samples that carry all these labels."""
    lines = [line for line in await series_of(url) if line.startswith(f"weightrollout_{name}")]
    return sum(
        float(line.rpartition(" ")[2]) for line in lines if all(label in line for label in labels)
    )


async def _process(pid: int, url: str) -> Process:
    return Process(
        len(list(Path(f"/proc/{pid}/fd").iterdir())),
        len(list(Path(f"/proc/{pid}/task").iterdir())),
        len(await series_of(url)),
    )


def _disk(staging: Path, handover: Path) -> PodDisk:
    files = [path for path in staging.rglob("*") if path.is_file()]
    return PodDisk(
        len(list((staging / "images").iterdir())),
        sum(path.stat().st_size for path in files),
        (staging / "journal.json").stat().st_size,
        len(list(handover.iterdir())),
    )
