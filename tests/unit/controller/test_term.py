"""What a leader may do, and when: not before it knows, not after somebody else leads."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agent_double import AgentDouble, served
from apifront import refusal
from localcluster.waiting import eventually
from weightrollout.api.spec import Mode
from weightrollout.api.status import Phase
from weightrollout.controller import report
from weightrollout.controller.leader import Guard, NotLeading
from weightrollout.controller.term import Term
from weightrollout.metrics import PASS_ERRORS
from weightrollout.rollout.actions import Action, Plan
from weightrollout.rollout.fleet import AgentFault, AgentView, Fleet
from weightrollout.wire.agent import agent_pb2 as pb

SOON = 5.0
Ground = Any  # tests/unit/controller/conftest.py


class Leader:
    """A term with a planner that only writes down what it was shown."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.leading = True
        self.stepped_down = ""
        self.fleets: list[Fleet] = []
        self.actions: tuple[Action, ...] = ()
        self.message = "as planned"

    def plan(self, fleet: Fleet) -> Plan:
        self.fleets.append(fleet)
        actions, self.actions = self.actions, ()
        status = fleet.status.model_copy(
            update={
                "epoch": fleet.epoch,
                "observed_generation": fleet.generation,
                "phase": Phase.PROGRESSING,
                "message": self.message,
                "updated": f"0/{len(fleet.pods)}",
            }
        )
        quiet = fleet.spec.mode is Mode.SUSPENDED
        return Plan(actions, status, None, fleet.memory, quiet)

    def step_down(self, why: str) -> None:
        self.leading, self.stepped_down = False, why

    @asynccontextmanager
    async def term(self) -> AsyncIterator[Term]:
        guard = Guard(lambda: self.leading, self.step_down)
        term = Term(self.ground.cluster, guard, self.plan)
        try:
            yield term
        finally:
            await term.end()

    async def planned(self, number: int = 1) -> Fleet:
        await eventually(lambda: len(self.fleets) >= number, SOON, f"{number} plans")
        return self.fleets[-1]


async def test_epoch_is_raised_in_the_status_before_the_first_plan(ground: Ground) -> None:
    ground.rollout()
    leader = Leader(ground)
    async with leader.term():
        fleet = await leader.planned()
        assert fleet.epoch == 1
        await eventually(lambda: ground.status().get("phase") == "Progressing", SOON, "it reports")
        assert ground.status()["epoch"] == 1


async def test_every_term_has_an_epoch_of_its_own(ground: Ground) -> None:
    ground.rollout()
    for epoch in (1, 2, 3):
        leader = Leader(ground)
        async with leader.term():
            assert (await leader.planned()).epoch == epoch


async def test_nothing_is_planned_before_the_first_lists_are_complete(ground: Ground) -> None:
    ground.cluster.revisions.synced.clear()
    ground.rollout()
    leader = Leader(ground)
    async with leader.term() as term:
        await asyncio.sleep(0)
        ground.cluster.revisions.synced.set()
        assert leader.fleets == []
        assert ground.status_writes() == 0
        term.wake_all()
        await leader.planned()


@pytest.mark.parametrize("spec", [{"mode": "Suspended"}, {"mode": "of another release"}], ids=str)
async def test_leader_that_starts_nothing_leaves_agents_to_themselves(
    ground: Ground, spec: dict[str, Any]
) -> None:
    """Suspended, or a spec that it cannot read: without its fence they count as without an operator."""
    double = AgentDouble()
    async with served(double) as target:
        ground.rollout()
        ground.pod("chat-0", target)
        leader = Leader(ground)
        async with leader.term() as term:
            for fenced, changed in ((True, {}), (False, spec), (True, {})):
                ground.rollout(**changed)
                term.wake_all()

                def told(fenced: bool = fenced) -> bool:
                    return bool(double.watched) and double.watched[-1].HasField("fence") is fenced

                await eventually(told, SOON, f"watched with a fence: {fenced}")


async def test_nothing_is_planned_before_every_agent_was_heard(ground: Ground) -> None:
    slow, quick = AgentDouble(), AgentDouble()
    slow.held.clear()
    async with served(slow) as one, served(quick) as two:
        ground.rollout()
        ground.pod("chat-0", one)
        ground.pod("chat-1", two)
        leader = Leader(ground)
        async with leader.term():
            await eventually(lambda: quick.watchers and slow.hellos, SOON, "both were greeted")
            assert leader.fleets == []
            slow.held.set()
            fleet = await leader.planned()
            assert all(isinstance(pod.agent, AgentView) for pod in fleet.pods)


async def test_agent_that_does_not_answer_is_unreachable_and_holds_nobody_up(
    ground: Ground,
) -> None:
    ground.rollout()
    ground.pod("chat-0")
    leader = Leader(ground)
    async with leader.term():
        (pod,) = (await leader.planned()).pods
        assert pod.agent is AgentFault.UNREACHABLE


async def test_epoch_that_an_agent_remembers_is_passed_when_the_status_was_lost(
    ground: Ground,
) -> None:
    double = AgentDouble()
    double.refusal = pb.Refusal(reason="StaleEpoch", message="epoch 1 is over", epoch=7)
    async with served(double) as target:
        ground.rollout()
        ground.pod("chat-0", target)
        leader = Leader(ground)
        async with leader.term():
            await eventually(lambda: ground.status().get("epoch") == 8, SOON, "the epoch is raised")
            double.refusal = None
            await eventually(lambda: double.watchers, SOON, "the agent is heard")
            assert double.hellos[-1].fence.epoch == 8


async def test_higher_epoch_in_the_status_ends_the_term(ground: Ground) -> None:
    ground.rollout()
    leader = Leader(ground)
    async with leader.term():
        await leader.planned()
        await eventually(lambda: ground.status().get("phase"), SOON, "it reports")
        rival = ground.front.objects[
            "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts/chat"
        ]
        rival["status"]["epoch"] = 2
        ground.rollout()
        await eventually(lambda: leader.stepped_down, SOON, "it steps down")
        assert "epoch 2, ours is 1" in leader.stepped_down


async def test_leader_without_the_lease_writes_nothing(ground: Ground) -> None:
    leader = Leader(ground)
    leader.leading = False
    async with leader.term():
        ground.rollout()
        sample = ground.world.metrics.registry.get_sample_value
        refused = ("weightrollout_pass_errors_total", {"reason": "NotLeading"})
        await eventually(lambda: sample(*refused), SOON, "a pass was refused")
        assert ground.status_writes() == 0
        assert leader.fleets == []


async def test_write_on_top_of_an_old_body_is_made_again_on_the_new_one(ground: Ground) -> None:
    ground.rollout()
    ground.front.put(  # changed behind our back: the watch is late
        "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts",
        {"metadata": {"name": "chat", "namespace": "ns", "generation": 2}, "spec": {}},
    )
    leader = Leader(ground)
    async with leader.term():
        await eventually(
            lambda: ground.status().get("observedGeneration") == 2, SOON, "the new spec is seen"
        )


async def test_same_plan_again_writes_nothing(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "COUNTERS_S", 0.0)
    ground.rollout()
    leader = Leader(ground)
    async with leader.term() as term:
        await eventually(lambda: ground.status().get("phase"), SOON, "it reports")
        writes = ground.status_writes()
        for _ in range(3):
            known = len(leader.fleets)
            term.wake_all()
            await leader.planned(known + 1)
        assert ground.status_writes() == writes


async def test_counters_are_written_at_most_once_a_second_and_not_forgotten(
    ground: Ground,
) -> None:
    ground.rollout()
    leader = Leader(ground)
    async with leader.term() as term:
        await eventually(lambda: ground.status().get("phase"), SOON, "it reports")
        writes, begun = ground.status_writes(), asyncio.get_running_loop().time()
        for number in range(20):
            leader.message = f"counted to {number}"
            term.wake_all()
            await leader.planned(len(leader.fleets) + 1)
        await eventually(lambda: ground.status()["message"] == "counted to 19", SOON, "it is told")
        took_s = asyncio.get_running_loop().time() - begun
        assert ground.status_writes() - writes <= took_s + 1


async def test_spec_that_cannot_be_read_is_reported_and_planned_by_nobody(ground: Ground) -> None:
    ground.rollout(warpSpeed=9)
    leader = Leader(ground)
    async with leader.term():
        await eventually(lambda: ground.status().get("phase") == "Failed", SOON, "it is reported")
        assert leader.fleets == []
        conditions = {each["type"]: each for each in ground.status()["conditions"]}
        assert len(conditions) == 5
        assert "spec.warpSpeed" in conditions["Stalled"]["message"]


async def test_deleted_rollout_is_left_alone_and_its_agents_are_let_go(ground: Ground) -> None:
    double = AgentDouble()
    async with served(double) as target:
        body = ground.rollout()
        ground.pod("chat-0", target)
        leader = Leader(ground)
        async with leader.term():
            await leader.planned()
            ground.front.remove(f"{body_path()}/chat")
            ground.world.rollouts.forget("chat", body["metadata"]["uid"])
            sample = ground.world.metrics.registry.get_sample_value
            labels = {"namespace": "ns", "rollout": "chat", "class": "selected"}
            await eventually(
                lambda: sample("weightrollout_pods", labels) is None, SOON, "its series are gone"
            )
            await eventually(lambda: not double.watchers, SOON, "the agent is let go")


async def test_rollout_that_was_recreated_unseen_has_one_pass_at_a_time(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second one beside the first would raise the epoch once more."""
    body = ground.rollout()
    leader = Leader(ground)
    async with leader.term() as term:
        await leader.planned()
        write = ground.cluster.rollouts.write_status

        async def told_by_the_watch_first(read: dict[str, Any], status: dict[str, Any]) -> Any:
            answer = await write(read, status)
            term.wake_all()
            for _ in range(100):  # all that was woken runs before the answer is there
                await asyncio.sleep(0)
            return answer

        monkeypatch.setattr(ground.cluster.rollouts, "write_status", told_by_the_watch_first)
        before = len(leader.fleets)
        ground.front.remove(f"{body_path()}/chat")
        ground.world.rollouts.forget("chat", body["metadata"]["uid"])
        ground.rollout()
        await leader.planned(before + 1)
        await eventually(lambda: ground.status().get("phase") == "Progressing", SOON, "it reports")
        assert ground.status()["epoch"] == 1
        assert {fleet.epoch for fleet in leader.fleets} == {1}


def body_path() -> str:
    return "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts"


async def test_new_pod_is_seen_without_being_waited_for(ground: Ground) -> None:
    ground.rollout()
    leader = Leader(ground)
    async with leader.term():
        await leader.planned()
        ground.pod("chat-0")
        await eventually(
            lambda: [pod.agent for pod in leader.fleets[-1].pods] == [AgentFault.STARTING],
            SOON,
            "the pod is seen",
        )


async def test_straggler_of_a_term_stays_out_when_the_process_leads_again() -> None:
    guard = Guard(lambda: True, lambda why: None)
    guard()
    guard.revoke()
    with pytest.raises(NotLeading):
        guard()


async def test_ended_term_leaves_no_task_behind(ground: Ground) -> None:
    before = asyncio.all_tasks()
    double = AgentDouble()
    async with served(double) as target:
        ground.rollout()
        ground.pod("chat-0", target)
        leader = Leader(ground)
        async with leader.term():
            await leader.planned()
        left = {task.get_name() for task in asyncio.all_tasks() - before}
        assert not any(name.startswith(("pass", "agent", "Stage", "Swap")) for name in left)


async def test_conflict_that_does_not_end_is_met_with_longer_and_longer_pauses(
    ground: Ground,
) -> None:
    ground.rollout()
    ground.front.fault = lambda request: (
        refusal(409, "Conflict") if request.method == "PATCH" else None
    )
    async with Leader(ground).term():
        failed = ground.world.metrics.counter(PASS_ERRORS).labels("ApiServerConflict")
        await eventually(lambda: failed._value.get() >= 2, SOON, "the queue was told of failures")
        assert ground.status_writes() <= 6
