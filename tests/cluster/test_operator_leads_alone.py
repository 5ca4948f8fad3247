"""One replica acts; the others watch, and take over with a higher epoch when it is gone."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from fleet.manifests import weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.waiting import eventually

WEIGHTS = {"version": "v1", "uri": "file:///models/chat/step-1/"}
TAKEN_OVER_S = 30.0


@pytest.fixture
async def world(cluster: Cluster, api: Api, namespace: str, tmp_path: Path) -> World:
    found = World(cluster, api, namespace, tmp_path)
    await found.install_crd()
    return found


@pytest.fixture
async def first(world: World) -> AsyncIterator[OperatorProcess]:
    process = await world.operator("operator-0")
    await leads(process)
    yield process
    await process.stop()


@pytest.fixture
async def second(world: World, first: OperatorProcess) -> AsyncIterator[OperatorProcess]:
    process = await world.operator("operator-1")
    await eventually(lambda: answers(process, "/readyz"), TAKEN_OVER_S, "the standby is ready")
    yield process
    await process.stop()


async def answers(process: OperatorProcess, path: str) -> bool:
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(process.http + path) as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False


async def metric(process: OperatorProcess, name: str) -> float:
    """The sum over all labels; 0 where it is absent or nobody answers."""
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(f"{process.http}/metrics") as answer:
                text = await answer.text()
        except aiohttp.ClientError:
            return 0.0
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return sum(float(value) for key, value in lines if key.split("{")[0] == name)


async def leads(process: OperatorProcess) -> None:
    async def leading() -> bool:
        return await metric(process, "weightrollout_leader") == 1

    await eventually(leading, TAKEN_OVER_S, f"{process.name} leads", every_s=0.1)


async def reported(world: World, epoch: int) -> None:
    await world.until(
        "chat", lambda status: status.get("epoch") == epoch, TAKEN_OVER_S, f"epoch {epoch} reports"
    )


async def test_status_is_written_once_and_never_again_without_news(
    world: World, first: OperatorProcess
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await world.until_phase("chat", "Pending", 20)
    # The revision's record is news as well: wait until the operator has nothing left to do.
    writes = await settled_writes(first)
    version = (await world.rollout("chat"))["metadata"]["resourceVersion"]
    passes = await metric(first, "weightrollout_pass_seconds_count")
    for number in range(5):
        await world.apply(unrelated_pod(number))

    async def more_passes() -> bool:
        return await metric(first, "weightrollout_pass_seconds_count") >= passes + 1

    await eventually(more_passes, 20, "the operator passed again")
    assert await metric(first, "weightrollout_status_writes_total") == writes
    assert (await world.rollout("chat"))["metadata"]["resourceVersion"] == version
    assert writes <= 3


async def settled_writes(process: OperatorProcess) -> float:
    seen = -1.0

    async def still() -> bool:
        nonlocal seen
        before, seen = seen, await metric(process, "weightrollout_status_writes_total")
        return before == seen > 0

    # Longer than the second for which counters are held back.
    await eventually(still, 20, "status writes end", every_s=1.5)
    return seen


def unrelated_pod(number: int) -> dict[str, object]:
    labels = {"weightrollout.dev/name": "other"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"other-{number}", "labels": labels},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "x", "image": "x"}]},
    }


async def test_standby_is_ready_and_writes_nothing(
    world: World, first: OperatorProcess, second: OperatorProcess
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
    assert await metric(second, "weightrollout_leader") == 0
    assert await metric(second, "weightrollout_status_writes_total") == 0
    assert await answers(second, "/healthz")


async def test_killed_leader_is_followed_by_one_with_a_higher_epoch(
    world: World, first: OperatorProcess, second: OperatorProcess
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
    first.kill(signal.SIGKILL)
    await reported(world, 2)
    await leads(second)


async def test_frozen_leader_that_wakes_up_writes_nothing_more(
    world: World, first: OperatorProcess, second: OperatorProcess
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
    first.kill(signal.SIGSTOP)
    await reported(world, 2)
    first.kill(signal.SIGCONT)

    async def knows() -> bool:
        return await answers(first, "/readyz") and await metric(first, "weightrollout_leader") == 0

    await eventually(knows, TAKEN_OVER_S, "the old leader knows that it is none", every_s=0.1)
    assert (await world.status("chat"))["epoch"] == 2


async def test_stopped_leader_hands_over_without_waiting_for_its_lease(
    world: World, first: OperatorProcess, second: OperatorProcess
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
    first.kill(signal.SIGTERM)
    await eventually(lambda: first.exit_code is not None, 15, "it has ended")
    assert first.exit_code == 0
    await reported(world, 2)


async def test_status_that_was_wiped_comes_back(world: World, first: OperatorProcess) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
    path = f"/apis/weightrollout.dev/v1alpha1/namespaces/{world.namespace}/weightrollouts/chat"
    await world.api.patch(f"{path}/status", {"status": None}, kind="merge")
    await reported(world, 1)


async def test_deleted_and_recreated_rollout_is_a_new_one(
    world: World, first: OperatorProcess
) -> None:
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
    path = f"/apis/weightrollout.dev/v1alpha1/namespaces/{world.namespace}/weightrollouts/chat"
    await world.api.delete(path)
    await world.apply(weight_rollout("chat", WEIGHTS))
    await reported(world, 1)
