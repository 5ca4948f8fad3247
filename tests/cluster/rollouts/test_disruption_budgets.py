"""PodDisruptionBudgets, counted by their real controller, hold a rollout and are never overdrawn by it.

The operator begins with the rights that the chart of an older release gave it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import pytest

from fleet import rbac
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from weightrollout.api import names

Json = dict[str, Any]
DONE_S: Final = 90.0
GIVEN_S: Final = 60.0  # a right is asked for again each half a minute


@pytest.fixture(scope="module")
async def operator(world: World) -> AsyncIterator[OperatorProcess]:
    """Without the right to read PodDisruptionBudgets."""
    namespaced, everywhere = rbac.OF_ONE_NAMESPACE
    older = tuple(rule for rule in namespaced if "policy" not in rule["apiGroups"])
    kubeconfig = await world.cluster.kubeconfig_for_serviceaccount(
        world.namespace, names.OPERATOR_ACCOUNT, world.folder, older, everywhere
    )
    process = OperatorProcess(kubeconfig, world.namespace, world.folder / "operator")
    process.start()
    yield process
    await process.stop()


async def budget(world: World, min_available: int) -> Json:
    return await world.apply(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "chat-pdb"},
            "spec": {
                "minAvailable": min_available,
                "selector": {
                    "matchExpressions": [{"key": "app", "operator": "In", "values": ["chat"]}]
                },
            },
        }
    )


def held_for(reason: str) -> Callable[[Json], bool]:
    return lambda status: status.get("hold", {}).get("reason") == reason


async def healthy_at_least(world: World, count: int) -> None:
    """Never returns; fails when the budget's own controller counts fewer."""
    path = f"/apis/policy/v1/namespaces/{world.namespace}/poddisruptionbudgets/chat-pdb"
    while True:
        status = (await world.api.get(path)).get("status", {})
        assert status.get("currentHealthy", count) >= count, status
        await asyncio.sleep(0.05)  # looks often; waits for nothing


async def test_budgets_that_cannot_be_read_hold_and_the_given_right_ends_it(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    await budget(world, 2)
    weights = {"version": "b", "uri": written["b"].uri}
    await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))

    unread = held_for("DisruptionBudgetsUnreadable")
    status = await world.until("chat", unread, DONE_S, "it says that it cannot know")
    assert "poddisruptionbudgets" in status["hold"]["message"]
    assert status["pods"]["available"] == 2

    await world.operator_kubeconfig()
    status = await world.until("chat", held_for("NoDisruptionLeft"), GIVEN_S, "it may read them")
    assert "chat-pdb" in status["hold"]["message"]
    assert (status["pods"]["available"], status["pods"]["updated"]) == (2, 0)


async def test_budget_that_allows_one_lets_the_rollout_end_and_is_never_overdrawn(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    await budget(world, 1)
    weights = {"version": "b", "uri": written["b"].uri}
    every = {"maxUnavailable": "100%", "proveFirst": False}
    rollout = weight_rollout("chat", weights, swap={"settleSeconds": 0}, strategy=every)
    looking = asyncio.create_task(healthy_at_least(world, 1))
    try:
        await world.apply(rollout)
        status = await world.until_phase("chat", "Complete", DONE_S)
    finally:
        looking.cancel()
        (ended,) = await asyncio.gather(looking, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError), ended
    assert status["updated"] == "2/2"


async def test_ignored_budget_holds_nothing(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    await budget(world, 2)
    weights = {"version": "c", "uri": written["c"].uri}
    rollout = weight_rollout("chat", weights, strategy={"ignorePDB": True})
    await world.apply(rollout)
    await world.until_phase("chat", "Complete", DONE_S)
