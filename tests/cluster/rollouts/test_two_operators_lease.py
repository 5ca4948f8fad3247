"""Who leads when the Lease is deleted, the network is cut or a clock is wrong; and how long nobody does.

No pods here: the epoch in a status that is reported says who acts.
"""

import asyncio
import dataclasses
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from fleet.forwarder import Forwarder
from fleet.manifests import weight_rollout
from fleet.replica import Replica, only_leader
from fleet.world import World
from localcluster.kubeconfig import read_kubeconfig, write_kubeconfig
from localcluster.waiting import eventually

pytestmark = pytest.mark.faults

Json = dict[str, Any]
WEIGHTS: Final = {"version": "v1", "uri": "file:///models/chat/step-1/"}
SOON_S: Final = 40.0
HOUR_S: Final = 3600.0


@pytest.fixture(scope="module")
async def declared(world: World) -> World:
    await world.apply(weight_rollout("chat", WEIGHTS))
    return world


@asynccontextmanager
async def _two(world: World, kubeconfig: Path, **first: Any) -> AsyncIterator[list[Replica]]:
    """A leader and a standby, in this order; `first` are the leader's settings."""
    folder = world.folder / "operator"
    leader = Replica("first", kubeconfig, world.namespace, folder, **first)
    standby = Replica("second", kubeconfig, world.namespace, folder)
    leader.process.start()
    try:
        await eventually(leader.leads, SOON_S, "the first one leads", every_s=0.1)
        standby.process.start()
        await standby.ready()
        await _moved(world, 0)
        yield [leader, standby]
    finally:
        await asyncio.gather(*(each.process.stop() for each in (leader, standby)))


async def _epoch(world: World) -> int:
    return int((await world.status("chat")).get("epoch", 0))


async def _moved(world: World, above: int) -> int:
    """A status was reported with a higher epoch; the time that took in seconds is printed by who asks."""
    status = await world.until(
        "chat", lambda said: said.get("epoch", 0) > above, SOON_S, f"an epoch above {above}"
    )
    return int(status["epoch"])


async def test_leadership_after_a_kill_and_after_a_stop_is_taken_over_and_the_times_are_printed(
    declared: World, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = await declared.operator_kubeconfig()
    times = {}
    async with _two(declared, kubeconfig) as (leader, standby):
        for sign, name in ((signal.SIGKILL, "kill -9"), (signal.SIGTERM, "SIGTERM")):
            epoch, begun = await _epoch(declared), time.monotonic()
            leader.process.kill(sign)
            await _moved(declared, epoch)
            times[name] = time.monotonic() - begun
            assert await standby.leads()
            await leader.process.stop()
            leader.process.start()
            await leader.ready()
            leader, standby = standby, leader
    with capsys.disabled():
        told = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())
        print(f"\nfail-over (Lease of 3 s): {told}")


async def test_deleted_lease_ends_with_one_leader(declared: World) -> None:
    kubeconfig = await declared.operator_kubeconfig()
    async with _two(declared, kubeconfig) as replicas:
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{declared.namespace}/leases"
        for _ in range(3):
            await declared.api.delete(f"{lease}/weightrollout-operator")

            async def held() -> str:
                found = await declared.api.list(lease)
                return str(found[0][0]["spec"]["holderIdentity"])

            await eventually(held, SOON_S, "somebody holds the Lease again")
            await only_leader(*replicas)
        assert all(each.process.exit_code is None for each in replicas)
        await _answers_a_new_spec(declared, "after-the-lease")


async def _answers_a_new_spec(world: World, version: str) -> None:
    await world.apply(weight_rollout("chat", {**WEIGHTS, "version": version}))
    await world.until(
        "chat",
        lambda said: said["desired"]["version"] == version,
        SOON_S,
        f"{version} is answered by the one who leads",
    )


async def test_replicas_that_are_both_cut_off_wait_and_one_leads_again(declared: World) -> None:
    direct = await declared.operator_kubeconfig()
    access = read_kubeconfig(direct)
    server = urlsplit(access.server)
    async with Forwarder(str(server.hostname), int(server.port or 443)) as way:
        through = dataclasses.replace(access, server=f"https://127.0.0.1:{way.port}")
        kubeconfig = write_kubeconfig(declared.folder / "through.kubeconfig", through)
        async with _two(declared, kubeconfig) as replicas:
            await way.cut()

            async def nobody() -> bool:
                return not any([await each.leads() for each in replicas])

            await eventually(nobody, SOON_S, "nobody leads", every_s=0.1)
            way.mend()
            await only_leader(*replicas)
            assert all(each.process.exit_code is None for each in replicas)
            await _answers_a_new_spec(declared, "after-the-cut")


@pytest.mark.parametrize("shift_s", [HOUR_S, -HOUR_S])
async def test_clock_that_is_wrong_by_an_hour_gives_and_takes_no_leadership(
    declared: World, shift_s: float
) -> None:
    kubeconfig = await declared.operator_kubeconfig()
    async with _two(declared, kubeconfig, wall_shift_s=shift_s) as (skewed, other):
        assert not await other.leads()
        epoch = await _epoch(declared)
        lease = f"/apis/coordination.k8s.io/v1/namespaces/{declared.namespace}/leases"

        async def renewals() -> str:
            found, _ = await declared.api.list(lease)
            return str(found[0]["spec"]["renewTime"])

        # Longer than the Lease lasts, told by its own writes: the other one does not take it over.
        for _ in range(8):
            before = await renewals()

            async def renewed(before: str = before) -> bool:
                return await renewals() != before

            await eventually(renewed, SOON_S, "the Lease is renewed")
        assert await _epoch(declared) == epoch
        skewed.process.kill(signal.SIGKILL)
        await _moved(declared, epoch)
        assert await other.leads()
        # And back: the other one's times look an hour off to the skewed one.
        skewed.process.start()
        await skewed.ready()
        other.process.kill(signal.SIGTERM)
        await eventually(skewed.leads, SOON_S, "the skewed one leads", every_s=0.1)
