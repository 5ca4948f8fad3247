"""With the chart's `scope: cluster` one operator rolls fleets of one name in two namespaces, and needs no more rights.

It works wherever there is a WeightRollout, so what other tests left in the cluster is its own too.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from apiproxy.proxy import ApiProxy, api_proxy
from fleet import rbac
from fleet.engine import state_of
from fleet.every_right import (
    DONE_S,
    PATH,
    count_of_forbidden,
    fleet_goes,
    history_overflows,
    resource_of,
    rights_of,
    rolls_through,
    somebody_else_writes,
    used,
)
from fleet.injected import injected_fleet
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.world import World
from localcluster.access import Cluster, make_namespace, remove_namespace
from localcluster.api import Api
from localcluster.kubeconfig import read_kubeconfig
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.api.callers import account


@pytest.fixture(scope="module")
async def other(cluster: Cluster, api: Api, world: World) -> AsyncIterator[World]:
    """A second namespace beside `world`."""
    async with a_namespace(cluster, api, world) as found:
        yield found


@pytest.fixture(scope="module")
async def home(cluster: Cluster, api: Api, world: World) -> AsyncIterator[World]:
    """The operator's own namespace; no fleet is there."""
    async with a_namespace(cluster, api, world) as found:
        yield found


@asynccontextmanager
async def a_namespace(cluster: Cluster, api: Api, beside: World) -> AsyncIterator[World]:
    namespace = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, namespace)
    yield World(cluster, api, namespace, beside.folder / namespace)
    await remove_namespace(api, namespace)


@pytest.fixture(scope="module")
async def proxy(cluster: Cluster) -> AsyncIterator[ApiProxy]:
    async with api_proxy(read_kubeconfig(cluster.kubeconfig)) as found:
        yield found


@pytest.fixture(scope="module")
async def operator(
    cluster: Cluster, api: Api, world: World, home: World, proxy: ApiProxy
) -> AsyncIterator[OperatorProcess]:
    """With the rights of the chart for all namespaces, through a proxy that sees what it asks for."""
    # In one that ends its writes are forbidden, whatever its rights are.
    await eventually(partial(none_ends, api), DONE_S, "namespaces of earlier tests are gone")
    own = await cluster.kubeconfig_for_serviceaccount(
        home.namespace, names.OPERATOR_ACCOUNT, world.folder, *rbac.OF_ALL
    )
    kubeconfig = proxy.kubeconfig(own, "proxied.kubeconfig")
    how = OperatorRun(flags=("--scope=cluster",))
    process = OperatorProcess(
        kubeconfig, home.namespace, world.folder / "operator", "operator-0", how
    )
    process.start()
    yield process
    await process.stop()


async def none_ends(api: Api) -> bool:
    namespaces, _ = await api.list("/api/v1/namespaces")
    ending = [
        each["metadata"]["name"] for each in namespaces if each["status"]["phase"] != "Active"
    ]
    assert not ending, ending
    return True


@pytest.fixture(scope="module")
async def fleets(
    world: World,
    other: World,
    home: World,
    machine: VirtualNode,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> tuple[World, World]:
    """In both namespaces two pods of a fleet "chat", which loaded checkpoint a at their start.

    Their agents ask who calls, and let in the operator's account, which is of neither namespace.
    """
    whom = ("--operator-account", account(home.namespace, names.OPERATOR_ACCOUNT))
    model = written["a"].folder
    await asyncio.gather(
        *(injected_fleet(place, model, machine.selector, *whom) for place in (world, other))
    )
    return world, other


async def test_fleets_of_one_name_in_two_namespaces_both_roll_each_to_its_own_weights(
    fleets: tuple[World, World], written: dict[str, Any]
) -> None:
    goals = dict(zip(fleets, "bc", strict=True))
    await asyncio.gather(*(rolls_through(place, goal, written) for place, goal in goals.items()))

    for place, goal in goals.items():
        assert (await place.status("chat"))["updated"] == "2/2"
        for pod in await place.pods("chat"):
            assert (await state_of(pod))["fingerprint"] == written[goal].fingerprint
            assert pod["metadata"]["labels"][names.LABEL_VERSION] == goal


async def test_every_right_is_used_and_no_other_is_asked_for(
    fleets: tuple[World, World],
    home: World,
    proxy: ApiProxy,
    operator: OperatorProcess,
    written: dict[str, Any],
) -> None:
    first, second = fleets
    await rolls_through(first, ("d", "b"), written)
    await somebody_else_writes(second, proxy)
    await history_overflows(first)
    await fleet_goes(second)

    def nothing_is_left_over() -> bool:
        granted = rights_of(rule for rules in rbac.OF_ALL for rule in rules)
        asked_for = used(proxy)
        unused, foreign = granted - asked_for, asked_for - granted
        assert granted == asked_for, f"unused: {unused}; not granted: {foreign}"
        return True

    await eventually(nothing_is_left_over, DONE_S, "every right of the chart was used")
    assert await count_of_forbidden(operator) == 0


async def test_fleet_stays_when_the_one_of_its_name_elsewhere_is_gone(
    fleets: tuple[World, World], written: dict[str, Any]
) -> None:
    """Its neighbour was deleted by the test before."""
    first, _ = fleets
    assert (await first.status("chat"))["phase"] == "Complete"
    await rolls_through(first, "c", written)

    for pod in await first.pods("chat"):
        assert (await state_of(pod))["fingerprint"] == written["c"].fingerprint


async def test_right_to_lease_and_tokens_is_asked_for_in_its_own_namespace_alone(
    fleets: tuple[World, World], home: World, proxy: ApiProxy
) -> None:
    parts = [found for call, _ in proxy.answers if (found := PATH.match(call.path))]
    own = {resource_of(part) for part in parts if part["namespace"] == home.namespace}
    elsewhere = {resource_of(part) for part in parts if part["namespace"] != home.namespace}

    assert own == {resource for rule in rbac.OWN for resource in rule["resources"]}
    assert not own & elsewhere


async def test_there_is_one_watch_of_each_kind_however_many_namespaces_there_are(
    fleets: tuple[World, World], proxy: ApiProxy
) -> None:
    watched = {call.path for call, _ in proxy.answers if call.verb == "WATCH"}

    kinds = {path.rpartition("/")[2] for path in watched}
    assert kinds == {
        *("weightrollouts", "pods", "controllerrevisions", "configmaps", "poddisruptionbudgets"),
    }
    assert len(watched) == len(kinds), watched
    assert not any("/namespaces/" in path for path in watched)
