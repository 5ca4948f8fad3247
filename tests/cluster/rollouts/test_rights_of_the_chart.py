"""The operator lives with exactly the rights that the chart gives it, and has a use for each of them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from apiproxy.proxy import ApiProxy, api_proxy
from fleet import rbac
from fleet.every_right import (
    DONE_S,
    count_of_forbidden,
    fleet_goes,
    history_overflows,
    rights_of,
    rolls_through,
    somebody_else_writes,
    used,
)
from fleet.injected import injected_fleet
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.kubeconfig import read_kubeconfig
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually

Json = dict[str, Any]


@pytest.fixture(scope="module")
async def proxy(world: World) -> AsyncIterator[ApiProxy]:
    async with api_proxy(read_kubeconfig(world.cluster.kubeconfig)) as found:
        yield found


@pytest.fixture(scope="module")
async def operator(world: World, proxy: ApiProxy) -> AsyncIterator[OperatorProcess]:
    """With the rights of the chart, through a proxy that sees what it asks for."""
    kubeconfig = proxy.kubeconfig(await world.operator_kubeconfig(), "proxied.kubeconfig")
    process = OperatorProcess(kubeconfig, world.namespace, world.folder / "operator")
    process.start()
    yield process
    await process.stop()


@pytest.fixture(scope="module")
async def fleet(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> Json:
    """Its agents ask who calls, so that tokens are needed."""
    return await injected_fleet(world, written["a"].folder, machine.selector)


async def test_every_right_is_used_and_no_other_is_asked_for(
    world: World,
    proxy: ApiProxy,
    operator: OperatorProcess,
    fleet: Json,
    written: dict[str, Any],
) -> None:
    await rolls_through(world, ("b", "c"), written)
    await somebody_else_writes(world, proxy)
    await history_overflows(world)
    await fleet_goes(world)
    await eventually(
        lambda: nothing_is_left_over(proxy), DONE_S, "every right of the chart was used"
    )

    assert await count_of_forbidden(operator) == 0


async def nothing_is_left_over(proxy: ApiProxy) -> bool:
    granted = rights_of(rule for rules in rbac.OF_ONE_NAMESPACE for rule in rules)
    asked_for = used(proxy)
    unused, foreign = granted - asked_for, asked_for - granted
    assert granted == asked_for, f"unused: {unused}; not granted: {foreign}"
    return True
