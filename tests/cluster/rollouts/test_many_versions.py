"""Two hundred versions one after the other on one fleet: nothing grows."""

import shutil
import time
from pathlib import Path
from typing import Final

import pytest

import checkpoints
from fleet.footprint import MIB, Footprint, footprint, resident, revisions
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from weightrollout.api import names
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.weights.digest import digest_of

pytestmark = pytest.mark.faults

HISTORY: Final = WeightRolloutSpec().revision_history_limit
VERSIONS: Final = 200
#: After so many all caches are full: the history, the agents' finished swaps and attempts.
WARM: Final = 45
EACH_S: Final = 60.0
#: Memory comes and goes with the buffers of a staging, so peaks are compared, each of so many versions.
WINDOW: Final = 30
#: Of a process's peak: 50 kilobytes per version would be more.
GROWTH: Final = 6 * MIB
#: Connections, pool threads and rare failures come and go; one per version would be ten times more.
SLACK: Final = 12


async def roll(world: World, folder: Path, number: int) -> None:
    version = f"v{number:03}"
    checkpoint = checkpoints.write_checkpoint(folder / version, seed=1000 + number, files=1)
    weights = {"version": version, "uri": checkpoint.as_uri() + "/"}
    if number % 4:  # without a digest one pod reads first, which takes longer
        weights["digest"] = digest_of(checkpoint, threads=1)
    policy = {
        "swap": {"takeOut": "None", "drainSeconds": 0, "settleSeconds": 0},
        "strategy": {"maxUnavailable": "100%", "proveFirst": number % 4 == 0},
    }
    await world.apply(weight_rollout("chat", weights, **policy))
    await world.until_phase("chat", "Complete", EACH_S)
    shutil.rmtree(folder / f"v{number - 1:03}", ignore_errors=True)


@pytest.mark.timeout(900)
async def test_two_hundred_versions_leave_no_more_than_one(
    world: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    fleet: FleetSpec,
    tmp_path: Path,
) -> None:
    of_pods = await revisions(world, "chat", of_pods=True)
    pids = [
        operator.pid,
        *(
            machine.pid(world.namespace, pod["metadata"]["name"], names.AGENT_CONTAINER)
            for pod in await world.pods("chat")
        ),
    ]
    begun = time.monotonic()
    memory: list[list[int]] = []  # after each version, of each process
    for number in range(VERSIONS):
        await roll(world, tmp_path, number)
        memory.append([resident(pid) for pid in pids])
        if number == WARM:
            warm = await footprint(world, machine, operator, "chat")
    late = await footprint(world, machine, operator, "chat")
    early, newest = peaks(memory[WARM : WARM + WINDOW]), peaks(memory[-WINDOW:])
    print(f"{VERSIONS} versions in {time.monotonic() - begun:.0f} s\n{warm}\n{late}")
    print(f"memory of operator and agents: {early} -> {newest}")

    nothing_grew(warm, late)
    for before, after in zip(early, newest, strict=True):
        assert after < before + GROWTH
    assert late.revisions <= HISTORY + 3  # and desired, and last good where a pod still tells it
    assert await revisions(world, "chat", of_pods=True) == of_pods != []
    events = await world.events("chat")
    assert len(events) <= 12 * VERSIONS


def peaks(memory: list[list[int]]) -> list[int]:
    return [max(of_one) for of_one in zip(*memory, strict=True)]


def nothing_grew(warm: Footprint, late: Footprint) -> None:
    before, after = warm.operator, late.operator
    assert after.handles <= before.handles + SLACK
    assert after.series <= before.series + SLACK
    for name, agent in warm.agents.items():
        now = late.agents[name]
        assert now.handles <= agent.handles + SLACK
        assert now.threads <= agent.threads + SLACK
        assert now.series <= agent.series + SLACK
        disk, then = late.disks[name], warm.disks[name]
        assert disk.images <= 2  # what it serves, and last good
        assert disk.staging_bytes < then.staging_bytes * 1.1
        assert disk.journal_bytes < then.journal_bytes * 1.1
        assert disk.handover_files <= then.handover_files + 1
