"""Pods that no swap can reach: the reason is in status by name, and the pod keeps serving."""

import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

Json = dict[str, Any]

#: fleet name -> (what differs, hold reason, what the message must name)
FLEETS: Final[Mapping[str, tuple[Mapping[str, Any], str, str]]] = {
    "no-agent": ({"with_agent": False}, "AgentMissing", "weightrollout-agent"),
    "too-old": ({"engine_args": ("--vllm=0.27",)}, "Incompatible", "EngineTooOld"),
    "stock": ({"engine_args": ("--backend=nccl",)}, "Incompatible", "NoTransferBackend"),
    "eplb": ({"engine_args": ("--eplb",)}, "Incompatible", "EplbEnabled"),
}


@pytest.fixture(scope="module")
async def deployed(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> FleetSpec:
    """One pod of each kind, all Ready."""
    base = FleetSpec("", written["a"].folder, replicas=1, node_selector=machine.selector)
    for name, (differs, _, _) in FLEETS.items():
        await world.deploy(replace(base, name=name, **differs))
    await world.deploy(replace(base, name="lost"))
    await world.deploy(replace(base, name="stray", rollout="nobody"))
    for name in (*FLEETS, "lost", "stray"):
        await world.until_ready(name, 1, 60)
    return base


@pytest.mark.parametrize("name", FLEETS)
async def test_a_pod_that_cannot_be_swapped_is_named_with_its_reason(
    name: str, world: World, deployed: FleetSpec, written: dict[str, Any]
) -> None:
    _, reason, named = FLEETS[name]
    await world.apply(weight_rollout(name, {"version": "b", "uri": written["b"].uri}))

    status = await world.until(
        name, lambda seen: seen.get("hold", {}).get("reason") == reason, 30, reason
    )

    assert f"{name}-0" in status["hold"]["message"]
    assert named in status["hold"]["message"]
    assert status["pods"]["incompatible"] == 1
    await world.until_ready(name, 1, 1)


async def test_an_agent_that_does_not_answer_is_unreachable_and_counts_as_out(
    world: World, machine: VirtualNode, deployed: FleetSpec, written: dict[str, Any]
) -> None:
    await world.apply(weight_rollout("lost", None))
    await world.until("lost", lambda seen: seen["pods"]["selected"] == 1, 30, "it is seen")

    machine.kill(world.namespace, "lost-0", names.AGENT_CONTAINER, signal.SIGSTOP)
    try:
        await world.apply(weight_rollout("lost", {"version": "b", "uri": written["b"].uri}))
        status = await world.until(
            "lost",
            lambda seen: seen.get("hold", {}).get("reason") == "AgentUnreachable",
            30,
            "the silence is noticed",
        )
        assert "lost-0" in status["hold"]["message"]
        assert (status["pods"]["unreachable"], status["pods"]["out"]) == (1, 1)
        assert status["phase"] == "Progressing"
    finally:
        machine.kill(world.namespace, "lost-0", names.AGENT_CONTAINER, signal.SIGCONT)
    await world.until_phase("lost", "Complete", 60)


async def test_a_label_that_points_to_no_rollout_is_told_on_the_pod(
    world: World, deployed: FleetSpec
) -> None:
    async def told() -> list[str]:
        return [
            f"{event['reason']}: {event['note']}"
            for event in await world.events("stray-0")
            if event["reportingController"] == names.GROUP
            or "weightrollout" in event["reportingController"]
        ]

    notes = await eventually(told, 30, "an Event on the pod")
    assert any("nobody" in note for note in notes), notes
    await world.until_ready("stray", 1, 1)
