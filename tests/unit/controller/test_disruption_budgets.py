"""Who looks again when a PodDisruptionBudget changes, and which pod an eviction hits."""

from typing import Any

import pytest
from aiohttp import web

from apifront import refusal
from localcluster.waiting import eventually
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.controller.act.context import Context
from weightrollout.controller.act.evict import evict
from weightrollout.controller.agents import Agents
from weightrollout.controller.leader import Fence, Guard
from weightrollout.controller.term import Term
from weightrollout.kube.evictions import EvictionForbidden, EvictionRefused
from weightrollout.kube.revisions import Owner
from weightrollout.rollout.actions import EvictPod, Plan
from weightrollout.rollout.fleet import Fleet

Ground = Any  # tests/unit/controller/conftest.py
Json = dict[str, Any]
PDBS = "/apis/policy/v1/namespaces/ns/poddisruptionbudgets"
PODS = "/api/v1/namespaces/ns/pods"
SOON = 5.0


def leads(why: str = "") -> None:
    """Nobody else leads."""


GUARD = Guard(lambda: True, leads)


def budget(ground: Ground, app: str) -> None:
    spec = {"selector": {"matchLabels": {"app": app}}, "minAvailable": 1}
    metadata = {"name": app, "generation": 1}
    ground.cluster.pdbs.learn(ground.front.put(PDBS, {"metadata": metadata, "spec": spec}))


async def test_budget_that_selects_pods_of_a_fleet_is_looked_at_when_it_comes_and_goes(
    ground: Ground,
) -> None:
    ground.rollout()
    ground.pod("chat-0", app="chat")
    fleets: list[Fleet] = []

    def plan(fleet: Fleet) -> Plan:
        fleets.append(fleet)
        return Plan((), WeightRolloutStatus(epoch=fleet.epoch), None, fleet.memory)

    def seen(*names: str) -> bool:
        return tuple(each.name for each in fleets[-1].disruption_budgets) == names

    term = Term(ground.cluster, GUARD, plan)
    try:
        await eventually(lambda: fleets, SOON, "a first plan")
        budget(ground, "chat")
        await eventually(lambda: seen("chat"), SOON, "it was looked at")
        assert fleets[-1].disruption_budgets[0].selects(fleets[-1].pods[0].labels)
        known = ground.cluster.pdbs.get("chat")
        ground.cluster.pdbs.drop("chat", known.uid)
        await eventually(lambda: seen(), SOON, "one that is gone is seen to be")
    finally:
        await term.end()


def context_of(ground: Ground, rollout: Json) -> Context:
    world = ground.world
    agents = Agents(world.clock, lambda name: None, world.access)
    owner = Owner("chat", rollout["metadata"]["uid"])
    return Context(world, agents, GUARD, owner, Fence(owner.uid, 1))


def evictions(ground: Ground) -> int:
    return sum(path.endswith("/eviction") for _, path in ground.front.requests)


def answers(ground: Ground, answer: web.Response | None) -> None:
    made = answer or web.json_response({"kind": "Status", "status": "Success"}, status=201)
    ground.front.fault = lambda request: made if request.path.endswith("/eviction") else None


async def test_pod_that_is_not_ready_is_evicted(ground: Ground) -> None:
    context, pod = context_of(ground, ground.rollout()), ground.pod("chat-0")
    answers(ground, None)
    await evict(context, EvictPod("chat-0", pod["metadata"]["uid"], "", ""))
    assert evictions(ground) == 1


async def test_neither_another_pod_of_its_name_nor_one_that_is_ready_again_is_evicted(
    ground: Ground,
) -> None:
    context, pod = context_of(ground, ground.rollout()), ground.pod("chat-0")
    await evict(context, EvictPod("chat-0", "of an older pod", "", ""))
    await evict(context, EvictPod("chat-9", "gone", "", ""))
    ready = {**pod, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    ground.world.pods.learn(ground.front.put(PODS, ready))
    await evict(context, EvictPod("chat-0", pod["metadata"]["uid"], "", ""))
    assert evictions(ground) == 0


@pytest.mark.parametrize(
    ("code", "error"), [(429, EvictionRefused), (403, EvictionForbidden), (404, None)]
)
async def test_what_the_api_server_says_is_a_reason_and_is_not_asked_again_at_once(
    ground: Ground, code: int, error: type[Exception] | None
) -> None:
    context, pod = context_of(ground, ground.rollout()), ground.pod("chat-0")
    answers(ground, refusal(code, "Whatever"))
    action = EvictPod("chat-0", pod["metadata"]["uid"], "", "")
    if error is None:
        await evict(context, action)
    else:
        with pytest.raises(error, match=str(code)):
            await evict(context, action)
    assert evictions(ground) == 1
