"""A poisoned pod that no try is left for is evicted, where a person and the rights allow it, and another one takes its place."""

from typing import Any, Final

from fleet.engine import set_faults
from fleet.manifests import FleetSpec, weight_rollout
from fleet.world import World
from weightrollout.api import names

Json = dict[str, Any]
DONE_S: Final = 90.0
#: Until the engine ends: neither the new weights nor others can be loaded.
LOADS_NOTHING: Final = {"call": "UpdateWeights", "do": "error"}


async def uids(world: World) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in await world.pods("chat")}


def serves(pod: Json, version: str) -> bool:
    return bool(pod["metadata"]["labels"].get(names.LABEL_VERSION) == version)


async def roll(world: World, written: dict[str, Any], **strategy: Any) -> None:
    await world.apply(
        weight_rollout(
            "chat",
            {"version": "b", "uri": written["b"].uri},
            repair={"retries": 0, "allowDelete": True},
            strategy={"maxUnavailable": 1, "maxFailed": "100%", **strategy},
        )
    )


async def test_pod_beyond_repair_is_evicted_and_replaced_once_that_is_allowed(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "chat"},
        "spec": {"minAvailable": 1, "selector": {}},
    }
    await world.apply(budget)
    before = await uids(world)
    await roll(world, written, steps=[{"updated": 1}, {"pause": {}}])
    await world.until_phase("chat", "Paused", DONE_S)
    (broken,) = (pod for pod in await world.pods("chat") if not serves(pod, "b"))
    name = broken["metadata"]["name"]
    await set_faults(broken, LOADS_NOTHING)
    await roll(world, written)

    status = await world.until(
        "chat",
        lambda seen: seen.get("hold", {}).get("reason") == "EvictionForbidden",
        DONE_S,
        "it says that it may not evict",
    )
    assert "rbac.evictPods" in status["hold"]["message"]
    assert (status["updated"], status["pods"]["poisoned"]) == ("1/2", 1)
    assert await uids(world) == before

    await world.let_evict()
    await world.until(
        "chat",
        lambda seen: (seen["phase"], seen["updated"]) == ("Complete", "2/2"),
        DONE_S,
        "another pod took its place",
    )
    after = await uids(world)
    assert after.keys() == before.keys()
    assert {each for each in before if before[each] != after[each]} == {name}
    told = [event["reason"] for event in await world.events(name)]
    assert "PodEvicted" in told
