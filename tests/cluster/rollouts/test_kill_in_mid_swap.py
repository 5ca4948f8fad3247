"""kill -9 of each process while a pod is being swapped: the fleet converges, and nobody gets a wrong answer."""

import signal
from collections.abc import Callable
from typing import Any

from fleet.engine import paused_pod
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.traffic import Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from weightrollout.api import names


async def _survives(
    world: World,
    written: dict[str, Any],
    version: str,
    kill: Callable[[str], None],
    settle_seconds: int = 0,
) -> None:
    """`settle_seconds`: for clients that come late; where an engine dies in its pause they are lost with it."""
    known = {name: each.fingerprint for name, each in written.items()}
    weights = {"version": version, "uri": written[version].uri}
    async with ReadyPods(world.api, world.namespace, "app=chat", ENGINE_HTTP) as backends:
        async with Traffic(backends, known=known, clients=3) as traffic:
            swap = {"settleSeconds": settle_seconds}
            await world.apply(weight_rollout("chat", weights, swap=swap))
            victim = await paused_pod(world, "chat")
            kill(victim)
            status = await world.until_phase("chat", "Complete", 120)
            await traffic.more(6)
        tally = traffic.tally
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert tally.by_answer[version] > 0
    assert status["updated"] == "2/2"
    assert status["versions"][0]["version"] == version


async def test_operator_killed_in_mid_swap(
    world: World, slow_fleet: FleetSpec, operator: OperatorProcess, written: dict[str, Any]
) -> None:
    def kill(_: str) -> None:
        operator.kill(signal.SIGKILL)
        operator.start()

    before = (await world.status("chat")).get("epoch", 0) if await _exists(world) else 0
    await _survives(world, written, "b", kill)
    assert (await world.status("chat"))["epoch"] > before


async def test_agent_killed_in_mid_swap(
    world: World, slow_fleet: FleetSpec, machine: VirtualNode, written: dict[str, Any]
) -> None:
    await _survives(
        world,
        written,
        "c",
        lambda pod: machine.kill(world.namespace, pod, names.AGENT_CONTAINER, signal.SIGKILL),
    )


async def test_engine_killed_in_mid_swap(
    world: World, slow_fleet: FleetSpec, machine: VirtualNode, written: dict[str, Any]
) -> None:
    await _survives(
        world,
        written,
        "d",
        lambda pod: machine.kill(world.namespace, pod, "engine", signal.SIGKILL),
        settle_seconds=2,
    )


async def _exists(world: World) -> bool:
    listed, _ = await world.api.list(
        f"/apis/{names.API_VERSION}/namespaces/{world.namespace}/{names.PLURAL}"
    )
    return bool(listed)
