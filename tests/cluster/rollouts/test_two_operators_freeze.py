"""The leader is frozen between its decision and its effect, another one takes over, the first one wakes up.

Whatever the action is: nobody is taken out twice, clients notice nothing, and one of the two leads in the end.
"""

import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import grpc
import grpc.aio
import pytest

from fleet.agents import agent_states
from fleet.engine import set_faults, state_of
from fleet.history import fill_history
from fleet.manifests import ENGINE_HTTP, MEASURED, FleetSpec, weight_rollout
from fleet.replica import Replica, only_leader
from fleet.traffic import Tally, Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.rollout.fleet import Doing
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent.agent_pb2_grpc import AgentStub

pytestmark = pytest.mark.faults

Json = dict[str, Any]
DONE_S: Final = 90.0
#: These need a reason; every rollout does the others, once its history is full and its canary asks.
REASONED: Final = (
    *(Doing.RELEASE, Doing.RESTART_ENGINE, Doing.ADOPT_REVISION, Doing.EVICT),
    Doing.LABEL,  # with takeOut None alone
    Doing.PACE,  # where the limit of a staging that runs is changed
)
ORDINARY: Final = tuple(each for each in Doing if each not in REASONED)


@dataclass
class Scene:
    """Two replicas over one fleet, and what was rolled so far."""

    world: World
    written: dict[str, Any]
    replicas: list[Replica]
    turn: "itertools.count[int]"

    async def standby_of(self, leader: Replica) -> Replica:
        (other,) = [each for each in self.replicas if each is not leader]
        await other.ready()
        return other

    def next_weights(self) -> Json:
        number = next(self.turn)
        checkpoint = "bcd"[number % 3]
        return {"version": f"v{number}-{checkpoint}", "uri": self.written[checkpoint].uri}

    async def apply(self, weights: Json, **spec: Any) -> None:
        swap = {"settleSeconds": 0, **spec.pop("swap", {})}
        await self.world.apply(weight_rollout("chat", weights, swap=swap, **spec))

    async def updates(self) -> dict[str, int]:
        """Updates that each engine has taken since it was started."""
        pods = await self.world.pods("chat")
        return {
            str(pod["metadata"]["name"]): (await state_of(pod))["calls"].get("UpdateWeights", 0)
            for pod in pods
        }

    async def complete(self) -> Json:
        return await self.world.until_phase("chat", "Complete", DONE_S)

    async def took_over(self, standby: Replica, leader: Replica) -> None:
        """The standby has raised the epoch; then the old leader wakes up in the middle of its work."""
        await eventually(standby.leads, 30, f"{standby.name} took over", every_s=0.1)
        leader.thaw()


@pytest.fixture(scope="module")
async def scene(world: World, written: dict[str, Any]) -> AsyncIterator[Scene]:
    kubeconfig = await world.operator_kubeconfig()
    folder = world.folder / "operator"
    replicas = [
        Replica(f"operator-{number}", kubeconfig, world.namespace, folder) for number in range(2)
    ]
    for replica in replicas:
        replica.process.start()
    yield Scene(world, written, replicas, itertools.count())
    for replica in replicas:
        replica.thaw()
        await replica.process.stop()


@pytest.fixture(scope="module")
async def fleet(world: World, machine: VirtualNode, scene: Scene) -> FleetSpec:
    spec = FleetSpec(
        "chat",
        scene.written["a"].folder,
        replicas=2,
        gated=True,
        node_selector=machine.selector,
    )
    await world.deploy(spec)
    await world.until_ready("chat", 2, 60)
    await scene.apply(scene.next_weights())
    await scene.complete()
    return spec


def _assert_unnoticed(tally: Tally) -> None:
    """`nowhere`: with two pods and a budget of one it says that both were out at once."""
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints


@pytest.mark.parametrize("doing", ORDINARY)
async def test_frozen_leader_that_wakes_up_takes_no_pod_out_again(
    scene: Scene, fleet: FleetSpec, doing: Doing
) -> None:
    leader = await only_leader(*scene.replicas)
    standby = await scene.standby_of(leader)
    if doing is Doing.PRUNE_REVISION:
        await fill_history(scene.world, "chat")
    before, epoch = await scene.updates(), (await scene.world.status("chat"))["epoch"]
    known = {name: each.fingerprint for name, each in scene.written.items()}
    async with (
        ReadyPods(scene.world.api, scene.world.namespace, "app=chat", ENGINE_HTTP) as backends,
        Traffic(backends, known=known, clients=1) as traffic,
    ):
        leader.freeze_in(doing)
        weights = scene.next_weights()
        await scene.apply(weights, **({"strategy": MEASURED} if doing is Doing.MEASURE else {}))
        await leader.frozen()
        await scene.took_over(standby, leader)
        status = await scene.complete()
        await traffic.more(2)

    _assert_unnoticed(traffic.tally)
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
    old = next(pod for pod in await scene.world.pods("chat") if _is_shut(pod))
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


def _is_shut(pod: Json) -> bool:
    """Our readiness gate says no."""
    conditions = {each["type"]: each["status"] for each in pod["status"]["conditions"]}
    return conditions.get(names.GATE_SERVING) == "False"


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
    return any(_is_shut(pod) for pod in await world.pods("chat"))


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
