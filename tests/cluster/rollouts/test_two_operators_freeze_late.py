"""The leader is frozen in an action that an ordinary rollout does not have, and what it wakes up to was done without it.

A label that is written late, the pace of a staging that runs, and an eviction: each is done by the next leader, and the
first one's own comes to nothing.
"""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

import pytest

import checkpoints
from fleet.agents import one_is_paced
from fleet.engine import set_faults, state_of
from fleet.replica import Replica, only_leader
from fleet.scene import DONE_S, Checkpoint, Scene, deploy_to, two_replicas
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.rollout.fleet import Doing

pytestmark = pytest.mark.faults

Json = dict[str, Any]
#: As slow as the API takes it: all of these weights would take longer than the test may last.
SLOWLY: Final = "64Ki"
WORDS: Final = 32_768


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checkpoint]:
    """Four megabytes each."""
    root, shapes = tmp_path_factory.mktemp("large"), checkpoints.tiny_shapes(vocab=WORDS)
    folders = {
        name: checkpoints.write_checkpoint(root / name, seed=seed, tensors=shapes)
        for seed, name in enumerate("abcd")
    }
    return {
        name: Checkpoint(folder, checkpoints.fingerprint(folder))
        for name, folder in folders.items()
    }


@pytest.fixture(scope="module")
async def scene(
    world: World, machine: VirtualNode, written: dict[str, Checkpoint]
) -> AsyncIterator[Scene]:
    async with two_replicas(world, written) as found:
        await deploy_to(found, machine.selector)
        yield found


async def wakes_up_for_nothing(scene: Scene, leader: Replica, standby: Replica) -> None:
    """It goes on where it was stopped, and finds that it leads no more."""
    before = leader.said("leadership ended")
    leader.thaw()
    await eventually(
        lambda: leader.said("leadership ended") > before, 30, "the first one knows that it is over"
    )
    assert await only_leader(*scene.replicas) is standby


async def labels(scene: Scene) -> set[str]:
    pods = await scene.world.pods("chat")
    return {pod["metadata"]["labels"][names.LABEL_VERSION] for pod in pods}


async def labelled(scene: Scene, version: str) -> None:
    async def done() -> bool:
        return await labels(scene) == {version}

    await eventually(done, DONE_S, f"all labels say {version}", every_s=0.1)


async def uids(scene: Scene) -> dict[str, str]:
    pods = await scene.world.pods("chat")
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


async def replaced(scene: Scene, before: dict[str, str]) -> bool:
    after = await uids(scene)
    return after.keys() == before.keys() and after != before


async def both_are_updated(scene: Scene) -> bool:
    status = await scene.world.status("chat")
    return (status["phase"], status["updated"]) == ("Complete", "2/2")


async def test_label_of_a_frozen_leader_does_not_come_over_a_newer_one(scene: Scene) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    before, swap = await scene.updates(), {"takeOut": "None"}
    async with scene.traffic() as traffic:
        leader.freeze_in(Doing.LABEL)
        await scene.apply(scene.next_weights(), swap=swap)
        await leader.frozen()
        await eventually(standby.leads, 30, "the standby took over", every_s=0.1)
        newer = scene.next_weights()
        await scene.apply(newer, swap=swap)
        await scene.complete()
        await labelled(scene, newer["version"])
        await wakes_up_for_nothing(scene, leader, standby)
        await traffic.more(2)
    assert await labels(scene) == {newer["version"]}
    assert await scene.updates() == {pod: count + 2 for pod, count in before.items()}


async def test_pace_that_a_frozen_leader_was_changing_is_changed_by_the_next(scene: Scene) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    before, weights = await scene.updates(), scene.next_weights()
    async with scene.traffic() as traffic:
        await scene.apply(weights, staging={"maxBytesPerSecond": SLOWLY})
        await eventually(lambda: one_is_paced(scene.world, "chat"), 30, "a pod reads slowly")
        leader.freeze_in(Doing.PACE)
        await scene.apply(weights)
        await leader.frozen()
        await eventually(standby.leads, 30, "the standby took over", every_s=0.1)
        await scene.complete()
        await wakes_up_for_nothing(scene, leader, standby)
        await traffic.more(2)
    await labelled(scene, weights["version"])
    assert await scene.updates() == {pod: count + 1 for pod, count in before.items()}


async def test_pod_that_a_frozen_leader_was_evicting_is_replaced_once(scene: Scene) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    await scene.world.let_evict()
    weights, repair = scene.next_weights(), {"retries": 0, "allowDelete": True}
    policy: Json = {"repair": repair, "strategy": {"maxFailed": "100%"}}
    one_first = {"steps": [{"updated": 1}, {"pause": {}}]}
    await scene.apply(weights, repair=repair, strategy={**policy["strategy"], **one_first})
    await scene.world.until_phase("chat", "Paused", DONE_S)
    before = await uids(scene)
    (broken,) = [
        pod
        for pod in await scene.world.pods("chat")
        if (await state_of(pod))["version"] != weights["version"]
    ]
    await set_faults(broken, {"call": "UpdateWeights", "do": "error"})
    async with scene.traffic() as traffic:
        leader.freeze_in(Doing.EVICT)
        await scene.apply(weights, **policy)
        await leader.frozen()
        await eventually(standby.leads, 30, "the standby took over", every_s=0.1)
        await eventually(partial(replaced, scene, before), DONE_S, "another pod is there")
        await eventually(partial(both_are_updated, scene), DONE_S, "it has joined")
        after = await uids(scene)
        await wakes_up_for_nothing(scene, leader, standby)
        await traffic.more(2)
    name = broken["metadata"]["name"]
    assert {each for each in before if before[each] != after[each]} == {name}
    assert await uids(scene) == after
    assert await both_are_updated(scene)
