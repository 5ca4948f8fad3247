"""Nobody rolls weights out any more: what Kubernetes does to a fleet day by day still ends in pods that
are ready, with the stable weights, and never with those that their engines start with.

Four ways of having no operator, and four things that happen. Each fleet gets one of these, and all four
happen at the same time, so that what is waited for is waited for once.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import pytest

from cluster_fixtures import PROGRAMS
from fleet.deployments import cordon, deployment, drain, gone, roll_out, scale
from fleet.engine import state_of
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.access import Cluster
from localcluster.node_settings import NodeSettings, python_environment
from localcluster.pod_status import is_ready
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

# The first item sets up all four fleets, and four things happen to them.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]

Json = dict[str, Any]

SCALED, DRAINED, RESTARTED, REPLACED = EVENTS = ("scaled", "drained", "restarted", "replaced")
#: In this order: the later ones take more away.
ABSENCES: Final = ("suspended", "killed", "uninstalled", "deleted")
BACK_S: Final = 120.0


@dataclass
class Ground:
    world: World
    nodes: dict[str, VirtualNode]
    operator: OperatorProcess
    written: dict[str, Any]

    async def apply(self, mode: str) -> None:
        weights = {"version": "b", "uri": self.written["b"].uri}
        for name in EVENTS:
            await self.world.apply(
                weight_rollout(name, weights, mode=mode, swap={"settleSeconds": 0})
            )

    async def all_are(self, phase: str) -> None:
        await asyncio.gather(*(self.world.until_phase(name, phase, BACK_S) for name in EVENTS))

    async def settled(self, app: str, pods: int) -> list[Json]:
        """Once so many pods are Ready and no other is there. Whoever is Ready meanwhile is right."""

        async def there() -> bool:
            found = await self.right_ones(app)
            return len(found) == len(await self.world.pods(app)) == pods

        await eventually(there, BACK_S, f"{pods} pods of {app} serve b", every_s=0.2)
        return await self.world.pods(app)

    async def right_ones(self, app: str) -> list[str]:
        """Ready pods. One that was Ready before and after its engine was asked must serve b."""
        before = await self.world.pods(app)
        answers = await asyncio.gather(
            *map(state_of, filter(_ready, before)), return_exceptions=True
        )
        after = {_engine(pod) for pod in await self.world.pods(app) if _ready(pod)}
        found = []
        for pod, answer in zip(filter(_ready, before), answers, strict=True):
            if _engine(pod) not in after:
                continue  # it left meanwhile
            if isinstance(answer, BaseException):
                assert isinstance(answer, OSError | aiohttp.ClientError | TimeoutError), repr(
                    answer
                )
                continue  # its engine has died and nobody knows yet
            assert answer["fingerprint"] == self.written["b"].fingerprint, pod["metadata"]["name"]
            found.append(pod["metadata"]["name"])
        return found


def _ready(pod: Json) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and is_ready(pod.get("status") or {})


def _engine(pod: Json) -> tuple[str, int]:
    statuses = pod["status"].get("containerStatuses", [])
    return pod["metadata"]["uid"], sum(each["restartCount"] for each in statuses)


@pytest.fixture(scope="module")
async def ground(
    cluster: Cluster, world: World, operator: OperatorProcess, written: dict[str, Any]
) -> AsyncIterator[Ground]:
    """Four fleets of one pod each, on either of two nodes, that serve b, which is stable."""
    environment = python_environment(*PROGRAMS)
    mine = {"ground": world.namespace}
    async with AsyncExitStack() as stack:
        nodes = {}
        for _ in range(2):
            node = VirtualNode(cluster, None, environment, world.folder, NodeSettings(labels=mine))
            nodes[node.name] = await stack.enter_async_context(node)
        found = Ground(world, nodes, operator, written)
        for name in EVENTS:
            spec = FleetSpec(
                *(name, written["a"].folder, 1),
                agent_args=("--alone-after-seconds=2",),
                node_selector=mine,
            )
            await world.api.apply(
                {**deployment(spec), "metadata": {"name": name, "namespace": world.namespace}}
            )
        await found.apply("Run")
        await found.all_are("Complete")
        await eventually(lambda: stable_everywhere(world), 30, "b is published as stable")
        yield found


async def stable_everywhere(world: World) -> bool:
    path = f"/api/v1/namespaces/{world.namespace}/configmaps"
    found, _ = await world.api.list(path)
    data = {each["metadata"]["name"]: each.get("data", {}) for each in found}
    return all(names.STABLE_KEY in data.get(names.stable_configmap(name), {}) for name in EVENTS)


# -- no operator --------------------------------------------------------------------------


async def suspended(ground: Ground) -> None:
    """A fleet that is complete stays so in its phase: the operator has seen it when its status is of this spec."""
    await ground.apply("Suspended")
    for name in EVENTS:
        await ground.world.until(name, lambda _: True, BACK_S, f"the mode of {name} is known")


async def killed(ground: Ground) -> None:
    await ground.apply("Run")
    await ground.all_are("Complete")
    ground.operator.kill(signal.SIGKILL)


async def uninstalled(ground: Ground) -> None:
    """The chart is removed; the kind and its objects are kept, as the chart keeps them."""
    rbac, here = "/apis/rbac.authorization.k8s.io/v1", f"namespaces/{ground.world.namespace}"
    api, name = ground.world.api, names.OPERATOR_ACCOUNT
    await api.delete(f"/api/v1/{here}/serviceaccounts/{name}")
    await api.delete(f"{rbac}/{here}/rolebindings/{name}")
    await api.delete(f"{rbac}/{here}/roles/{name}")


async def deleted(ground: Ground) -> None:
    """All WeightRollouts; the operator is there again, and looks after what nobody manages."""
    await ground.world.operator_kubeconfig()
    ground.operator.start()
    await ground.all_are("Complete")
    kind = f"/apis/{names.API_VERSION}/namespaces/{ground.world.namespace}/{names.PLURAL}"
    for name in EVENTS:
        await ground.world.api.delete(f"{kind}/{name}")


# -- what happens -------------------------------------------------------------------------


async def is_scaled(ground: Ground, absence: str) -> None:
    await scale(ground.world, SCALED, 2)
    await ground.settled(SCALED, 2)
    await scale(ground.world, SCALED, 1)


async def is_drained(ground: Ground, absence: str) -> None:
    (pod,) = await ground.settled(DRAINED, 1)
    node = pod["spec"]["nodeName"]
    await drain(ground.world, node, DRAINED)
    (other,) = await ground.settled(DRAINED, 1)
    await cordon(ground.world, node, closed=False)
    assert other["spec"]["nodeName"] != node


async def is_restarted(ground: Ground, absence: str) -> None:
    (pod,) = await ground.settled(RESTARTED, 1)
    before = await state_of(pod)
    node = ground.nodes[pod["spec"]["nodeName"]]
    node.kill(ground.world.namespace, pod["metadata"]["name"], "engine", signal.SIGKILL)

    async def other_process() -> bool:
        (again,) = await ground.world.pods(RESTARTED)
        return _engine(again) != _engine(pod)

    await eventually(other_process, BACK_S, "the engine is started again")
    (again,) = await ground.settled(RESTARTED, 1)
    assert again["metadata"]["uid"] == pod["metadata"]["uid"]
    assert (await state_of(again))["instance"] != before["instance"]


async def is_replaced(ground: Ground, absence: str) -> None:
    (pod,) = await ground.settled(REPLACED, 1)
    await roll_out(ground.world, REPLACED, absence)
    await gone(ground.world, REPLACED, [pod["metadata"]["uid"]])
    await ground.settled(REPLACED, 1)


Happening = Callable[[Ground, str], Awaitable[None]]
HAPPENINGS: Final[dict[str, Happening]] = {
    SCALED: is_scaled,
    DRAINED: is_drained,
    RESTARTED: is_restarted,
    REPLACED: is_replaced,
}
WAYS: Final[dict[str, Callable[[Ground], Awaitable[None]]]] = {
    "suspended": suspended,
    "killed": killed,
    "uninstalled": uninstalled,
    "deleted": deleted,
}


@pytest.fixture(scope="module", params=ABSENCES)
async def outcomes(
    ground: Ground, request: pytest.FixtureRequest
) -> dict[str, BaseException | None]:
    """By event: None where it went well."""
    await WAYS[request.param](ground)
    ended = await asyncio.gather(
        *(happens(ground, request.param) for happens in HAPPENINGS.values()),
        return_exceptions=True,
    )
    return dict(zip(HAPPENINGS, ended, strict=True))


@pytest.mark.parametrize("event", EVENTS)
def test_without_an_operator_pods_come_back_with_stable_weights(
    outcomes: dict[str, BaseException | None], event: str
) -> None:
    wrong = outcomes[event]
    if wrong is not None:
        raise wrong
