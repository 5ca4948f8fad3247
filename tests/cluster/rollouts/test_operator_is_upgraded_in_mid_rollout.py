"""An operator of an earlier release begins, this one ends, and the other way round. The agents stay."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from earlier import Earlier, NoHistory, earlier
from fleet.engine import paused_pod
from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess, OperatorRun
from fleet.traffic import Traffic
from fleet.world import CRD_FILE, World
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode

pytestmark = pytest.mark.faults

END_S: Final = 120.0


@pytest.fixture(scope="module")
def old() -> Earlier:
    try:
        return earlier()
    except NoHistory as why:
        pytest.skip(str(why))  # no tier is missing here, but a part of the checkout


@pytest.fixture(scope="module")
async def before(world: World, old: Earlier) -> AsyncIterator[OperatorProcess]:
    """Of the earlier release, running, with its own CRD installed."""
    await install(world, old.crd)
    process = await world.operator("before", OperatorRun(environment=old.environment))
    yield process
    await process.stop()


@pytest.fixture(scope="module")
async def after(world: World, before: OperatorProcess) -> AsyncIterator[OperatorProcess]:
    """Of this release, not running yet."""
    kubeconfig = await world.operator_kubeconfig()
    process = OperatorProcess(kubeconfig, world.namespace, world.folder / "operator", "after")
    yield process
    await process.stop()


@pytest.fixture(scope="module")
async def fleet(
    world: World, machine: VirtualNode, before: OperatorProcess, written: dict[str, Any]
) -> FleetSpec:
    """Three pods with agents of this release; their updates take long enough to be hit."""
    spec = FleetSpec(
        *("chat", written["a"].folder, 3),
        gated=True,
        engine_args=("--token-seconds=0.01", "--update-seconds=1.5"),
        node_selector=machine.selector,
    )
    await world.deploy(spec)
    await world.until_ready("chat", 3, 60)
    return spec


async def install(world: World, crd: Path) -> None:
    await world.api.apply(await asyncio.to_thread(lambda: yaml.safe_load(crd.read_text())))


async def handed_over(
    world: World,
    written: dict[str, Any],
    version: str,
    crd: Path,
    operators: tuple[OperatorProcess, OperatorProcess],
) -> None:
    """The first of the two begins; while a pod is paused the CRD is changed and the second takes over."""
    leaves, comes = operators
    known = {name: each.fingerprint for name, each in written.items()}
    async with ReadyPods(world.api, world.namespace, "app=chat", ENGINE_HTTP) as backends:
        async with Traffic(backends, known=known, clients=3) as traffic:
            weights = {"version": version, "uri": written[version].uri}
            await world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}))
            await paused_pod(world, "chat")
            epoch = (await world.status("chat"))["epoch"]
            await install(world, crd)
            leaves.kill(signal.SIGTERM)
            comes.start()
            status = await world.until_phase("chat", "Complete", END_S)
            await traffic.more(6)
        tally = traffic.tally
    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert tally.by_answer[version] > 0
    assert status["updated"] == "3/3"
    assert status["stable"]["version"] == version
    assert status["epoch"] > epoch, "another leader ended it"
    assert leaves.exit_code == 0


async def test_rollout_of_an_earlier_operator_is_ended_by_this_one(
    world: World,
    fleet: FleetSpec,
    before: OperatorProcess,
    after: OperatorProcess,
    written: dict[str, Any],
) -> None:
    await handed_over(world, written, "b", CRD_FILE, (before, after))


async def test_rollout_of_this_operator_is_ended_by_an_earlier_one(
    world: World,
    fleet: FleetSpec,
    before: OperatorProcess,
    after: OperatorProcess,
    written: dict[str, Any],
    old: Earlier,
) -> None:
    await handed_over(world, written, "c", old.crd, (after, before))
