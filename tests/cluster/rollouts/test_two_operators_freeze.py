"""The leader is frozen between its decision and its effect, another one takes over, the first one wakes up.

Whatever the action is: nobody is taken out twice, clients notice nothing, and one of the two leads in the end.
"""

import json
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc
import grpc.aio
import pytest

from fleet.agents import agent_states
from fleet.engine import set_faults, state_of
from fleet.history import fill_history
from fleet.manifests import MEASURED, FleetSpec
from fleet.replica import Replica, only_leader
from fleet.scene import DONE_S, Checkpoint, Scene, deploy_to, is_shut, two_replicas
from fleet.world import World
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.rollout.fleet import Doing
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent.agent_pb2_grpc import AgentStub

pytestmark = pytest.mark.faults

Json = dict[str, Any]
#: These need a reason; every rollout does the others, once its history is full and its canary asks. The
#: last three have their reasons in test_two_operators_freeze_late.py.
REASONED: Final = (
    *(Doing.RELEASE, Doing.RESTART_ENGINE, Doing.ADOPT_REVISION),
    *(Doing.EVICT, Doing.LABEL, Doing.PACE),
)
ORDINARY: Final = tuple(each for each in Doing if each not in REASONED)


@pytest.fixture(scope="module")
async def scene(world: World, written: dict[str, Checkpoint]) -> AsyncIterator[Scene]:
    async with two_replicas(world, written) as found:
        yield found


@pytest.fixture(scope="module")
async def fleet(machine: VirtualNode, scene: Scene) -> FleetSpec:
    return await deploy_to(scene, machine.selector)


@pytest.mark.parametrize("doing", ORDINARY)
async def test_frozen_leader_that_wakes_up_takes_no_pod_out_again(
    scene: Scene, fleet: FleetSpec, doing: Doing
) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    if doing is Doing.PRUNE_REVISION:
        await fill_history(scene.world, "chat")
    before, epoch = await scene.updates(), (await scene.world.status("chat"))["epoch"]
    async with scene.traffic() as traffic:
        leader.freeze_in(doing)
        weights = scene.next_weights()
        await scene.apply(weights, **({"strategy": MEASURED} if doing is Doing.MEASURE else {}))
        await leader.frozen()
        await scene.took_over(standby, leader)
        status = await scene.complete()
        await traffic.more(2)

    assert status["epoch"] > epoch
    assert status["stable"]["version"] == weights["version"]
    assert await scene.updates() == {pod: count + 1 for pod, count in before.items()}
    assert await only_leader(*scene.replicas) is standby
    assert leader.said("leadership ended") > 0
    labels = [pod["metadata"]["labels"] for pod in await scene.world.pods("chat")]
    assert {each[names.LABEL_VERSION] for each in labels} == {weights["version"]}


async def test_put_in_of_a_frozen_leader_does_not_bless_the_pod_that_took_the_name(
    scene: Scene, fleet: FleetSpec
) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    leader.freeze_in(Doing.PUT_IN)
    weights = scene.next_weights()
    await scene.apply(weights)
    await leader.frozen()
    old = next(pod for pod in await scene.world.pods("chat") if is_shut(pod))
    path = f"/api/v1/namespaces/{scene.world.namespace}/pods/{old['metadata']['name']}"
    await scene.world.api.delete(path, gracePeriodSeconds="0")

    async def recreated() -> bool:
        pods = {pod["metadata"]["uid"] for pod in await scene.world.pods("chat")}
        return len(pods) == 2 and old["metadata"]["uid"] not in pods

    await eventually(recreated, 30, "the StatefulSet has made it again")
    await scene.took_over(standby, leader)
    await scene.world.until_ready("chat", 2, DONE_S)
    await scene.complete()
    new = await scene.world.api.get(path)
    txn = json.loads(new["metadata"]["annotations"][names.ANNOTATION_SWAP])["txn"]
    assert new["metadata"]["uid"] in txn
    assert (await state_of(new))["version"] == weights["version"]


async def test_reservation_that_a_frozen_leader_was_giving_back_is_given_back(
    scene: Scene, fleet: FleetSpec
) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    before, weights = await scene.updates(), scene.next_weights()
    await scene.apply(weights, swap={"settleSeconds": 20})
    await eventually(lambda: _one_is_out(scene.world), 30, "a pod is reserved")
    leader.freeze_in(Doing.RELEASE)
    await scene.apply(weights, swap={"settleSeconds": 20}, mode="Paused")
    await leader.frozen()
    await scene.took_over(standby, leader)
    await scene.world.until_ready("chat", 2, 30)
    assert await scene.updates() == before

    await scene.apply(weights)
    await scene.complete()
    assert await scene.updates() == {pod: count + 1 for pod, count in before.items()}


async def _one_is_out(world: World) -> bool:
    return any(is_shut(pod) for pod in await world.pods("chat"))


async def test_engine_that_a_frozen_leader_was_restarting_is_restarted_and_serves(
    scene: Scene, fleet: FleetSpec
) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    pods = await scene.world.pods("chat")
    restarts = _engine_restarts(pods)
    for pod in pods:
        await set_faults(pod, {"call": "UpdateWeights", "do": "error"})
    leader.freeze_in(Doing.RESTART_ENGINE)
    weights = scene.next_weights()
    await scene.apply(weights)
    await leader.frozen()
    # The other one takes weights again: only the first one was meant to be poisoned.
    for pod in pods:
        await set_faults(pod)
    await scene.took_over(standby, leader)
    await scene.complete()
    assert _engine_restarts(await scene.world.pods("chat")) == restarts + 1
    assert await only_leader(*scene.replicas) is standby


def _engine_restarts(pods: list[Json]) -> int:
    return sum(
        int(status["restartCount"])
        for pod in pods
        for status in pod["status"]["containerStatuses"]
        if status["name"] == "engine"
    )


async def test_agents_refuse_the_calls_of_an_older_epoch(scene: Scene, fleet: FleetSpec) -> None:
    rollout = await scene.world.rollout("chat")
    epoch = rollout["status"]["epoch"]
    leader = await only_leader(*scene.replicas)
    await leader.process.stop()
    await eventually(lambda: _all_agents_know_a_later_epoch(scene, epoch), 60, "a new epoch")
    leader.process.start()
    old = pb.Fence(owner_uid=rollout["metadata"]["uid"], epoch=epoch)
    pod = (await scene.world.pods("chat"))[0]
    target = f"{pod['status']['podIP']}:{names.DEFAULT_GRPC_PORT}"
    async with grpc.aio.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)]) as door:
        agent = AgentStub(door)
        calls = (
            agent.Hello(pb.HelloRequest(fence=old, takeover=True), timeout=5),
            agent.Reserve(pb.ReserveRequest(fence=old, txn="late", ttl_seconds=9), timeout=5),
            agent.Release(pb.ReleaseRequest(fence=old, txn="late"), timeout=5),
            agent.RestartEngine(pb.RestartEngineRequest(fence=old), timeout=5),
        )
        for call in calls:
            with pytest.raises(grpc.aio.AioRpcError, match="StaleEpoch"):
                await call
        for stream in (
            agent.Stage(pb.StageRequest(fence=old), timeout=5),
            agent.Swap(pb.SwapRequest(fence=old, txn="late"), timeout=5),
        ):
            with pytest.raises(grpc.aio.AioRpcError, match="StaleEpoch"):
                await stream.read()


async def _all_agents_know_a_later_epoch(scene: Scene, epoch: int) -> bool:
    states = await agent_states(scene.world, "chat")
    return all(each.fence.epoch > epoch for each in states)


async def test_leader_that_never_notices_its_end_is_stopped_by_the_epoch_alone(
    scene: Scene, fleet: FleetSpec
) -> None:
    """Its elector is broken on purpose: for it the Lease never ends."""
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    epoch = (await scene.world.status("chat"))["epoch"]
    await standby.process.stop()
    kubeconfig = await scene.world.operator_kubeconfig()
    folder = scene.world.folder / "operator"
    deaf = Replica("deaf", kubeconfig, scene.world.namespace, folder, deaf=True)
    deaf.process.start()
    try:
        await deaf.ready()
        await leader.process.stop()
        await eventually(deaf.leads, 30, "the deaf one leads", every_s=0.1)
        standby.process.start()
        await standby.ready()
        before, weights = await scene.updates(), scene.next_weights()
        deaf.freeze_in(Doing.RESERVE)
        await scene.apply(weights, swap={"settleSeconds": 2})
        await deaf.frozen()
        # + 1: the deaf one's.
        await eventually(
            lambda: _all_agents_know_a_later_epoch(scene, epoch + 1), 30, "the next leader's epoch"
        )
        await scene.took_over(standby, deaf)
        await scene.complete()
        await eventually(lambda: deaf.said("StaleEpoch") > 0, 20, "an agent has refused it")
        assert await scene.updates() == {pod: count + 1 for pod, count in before.items()}
        assert (await scene.world.status("chat"))["updated"] == "2/2"
    finally:
        deaf.thaw()
        await deaf.process.stop(grace_s=3)
        leader.process.start()
