"""Ten rollouts at once under one operator, and a spec that changes twenty times a second."""

import asyncio
import itertools
import time
from typing import Any, Final

import pytest

from fleet.engine import state_of
from fleet.footprint import revisions, sample
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.api import ApiError
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.api.spec import WeightRolloutSpec

pytestmark = pytest.mark.faults

Json = dict[str, Any]

HISTORY: Final = WeightRolloutSpec().revision_history_limit
FLEETS: Final = tuple(f"chat-{number}" for number in range(10))
PODS: Final = 2
POLICY: Final[Json] = {
    "swap": {"takeOut": "None", "drainSeconds": 0, "settleSeconds": 0},
    "strategy": {"maxUnavailable": 1},
}
STORM_S: Final = 10.0
EDITS_PER_S: Final = 20
#: What a server says that is too busy for one of them: it may have been done, and the others follow anyway.
TOO_LATE: Final = 504


@pytest.fixture(scope="module")
async def fleets(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> None:
    """Their engines all loaded checkpoint a at their start."""
    for name in FLEETS:
        await world.deploy(
            FleetSpec(name, written["a"].folder, PODS, gated=True, node_selector=machine.selector)
        )
    await asyncio.gather(*(world.until_ready(name, PODS, 150) for name in FLEETS))


async def test_ten_rollouts_at_once_end_each_with_its_own_weights(
    world: World, operator: OperatorProcess, fleets: None, written: dict[str, Any]
) -> None:
    begun = time.monotonic()
    goals = dict(zip(FLEETS, itertools.cycle("bcd"), strict=False))
    await asyncio.gather(
        *(
            world.apply(
                weight_rollout(
                    name, {"version": f"{name}.{goal}", "uri": written[goal].uri}, **POLICY
                )
            )
            for name, goal in goals.items()
        )
    )
    statuses = await asyncio.gather(*(world.until_phase(name, "Complete", 120) for name in FLEETS))
    lag = await sample(operator.http, "loop_lag_seconds")
    print(f"{len(FLEETS)} rollouts: {time.monotonic() - begun:.1f} s, loop lag {lag:.4f} s")

    for (name, goal), status in zip(goals.items(), statuses, strict=True):
        assert status["updated"] == f"{PODS}/{PODS}"
        assert not status.get("failures")
        assert len(await revisions(world, name)) == 1
        for pod in await world.pods(name):
            state = await state_of(pod)
            assert state["fingerprint"] == written[goal].fingerprint
            assert state["calls"]["PauseGeneration"] == 1


async def test_spec_that_never_stands_still_ends_on_the_newest_without_a_storm_of_writes(
    world: World, operator: OperatorProcess, fleets: None, written: dict[str, Any]
) -> None:
    name = FLEETS[0]
    pauses = await _pauses(world, name)
    patches = await sample(operator.http, "api_requests_total", 'verb="PATCH"')

    path = f"/apis/{names.API_VERSION}/namespaces/{world.namespace}/{names.PLURAL}/{name}"

    async def edit(number: int) -> None:
        weights = {"version": f"edit-{number:03}", "uri": written["bcd"[number % 3]].uri}
        await world.api.patch(path, {"spec": {"weights": weights}}, "merge")

    async def one_of_many(number: int) -> None:
        try:
            await edit(number)
        except TimeoutError:
            pass  # two lanes on two cores: an edit may queue for longer than its writer waits
        except ApiError as late:
            if late.status != TOO_LATE:
                raise

    edits = 0
    begun = time.monotonic()
    async with asyncio.TaskGroup() as writers:
        while (due := begun + edits / EDITS_PER_S) < begun + STORM_S:
            # The load itself, not a wait for anything. No edit waits for the one before it.
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            writers.create_task(one_of_many(edits))
            edits += 1
    rate = edits / (time.monotonic() - begun)
    # Which of them the API server took last is its own affair; this one is the newest.
    await edit(edits)
    edits += 1
    status = await world.until_phase(name, "Complete", 60)

    swapped = [now - before for now, before in zip(await _pauses(world, name), pauses, strict=True)]
    written_since = await sample(operator.http, "api_requests_total", 'verb="PATCH"') - patches
    print(
        f"{edits} edits, {rate:.1f} a second: swaps {swapped}, {written_since:.0f} PATCHes of the operator"
    )
    assert status["desired"]["version"] == f"edit-{edits - 1:03}"
    assert status["versions"] == [
        {"version": f"edit-{edits - 1:03}", "digest": status["desired"]["digest"], "pods": PODS}
    ]
    # A revision and a status for each edit, digest and verdict for those that got so far.
    assert written_since <= 4 * edits + 40
    # Passed over by none, and none is turned round for each edit.
    assert max(swapped) - min(swapped) <= 1
    assert max(swapped) <= STORM_S + 2
    await eventually(lambda: _is_pruned(world, name), 60, "the history is short again")


async def _is_pruned(world: World, name: str) -> bool:
    return len(await revisions(world, name)) <= HISTORY + 3


async def _pauses(world: World, name: str) -> list[int]:
    states = [await state_of(pod) for pod in await world.pods(name)]
    return [int(state["calls"].get("PauseGeneration", 0)) for state in states]
