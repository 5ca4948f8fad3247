"""The main job, under traffic."""

import asyncio
from typing import Any

import pytest

from fleet.manifests import ENGINE_HTTP, FleetSpec, weight_rollout
from fleet.traffic import Tally, Traffic
from fleet.world import World
from localcluster.router import ReadyPods
from weightrollout.api import names

pytestmark = pytest.mark.usefixtures("fleet")


async def _roll(world: World, written: dict[str, Any], version: str, **spec: Any) -> Tally:
    """Apply a version under traffic, wait for Complete, and return what the clients saw."""
    known = {name: each.fingerprint for name, each in written.items()}
    weights = {"version": version, "uri": written[version].uri}
    async with ReadyPods(world.api, world.namespace, "app=chat", ENGINE_HTTP) as backends:
        async with Traffic(backends, known=known, clients=3) as traffic:
            await world.apply(weight_rollout("chat", weights, **spec))
            await world.until_phase("chat", "Complete", 90)
            await traffic.more(6)
        return traffic.tally


async def test_every_pod_changes_its_answers_and_no_request_fails(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    tally = await _roll(world, written, "b")

    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert tally.by_answer["a"] > 0
    assert tally.by_answer["b"] > 0
    status = await world.status("chat")
    assert status["updated"] == "2/2"
    assert status["stable"] == status["target"] == status["desired"]
    labels = {pod["metadata"]["labels"][names.LABEL_VERSION] for pod in await world.pods("chat")}
    assert labels == {"b"}


async def test_without_take_out_requests_wait_through_the_pause_and_none_is_lost(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    tally = await _roll(world, written, "c", swap={"takeOut": "None", "drainSeconds": 0})

    assert (tally.failed, tally.unexplained, tally.nowhere) == (0, 0, 0), tally.complaints
    assert tally.by_answer["c"] > 0


async def test_a_person_can_read_what_happened_in_the_events(
    world: World, fleet: FleetSpec
) -> None:
    reasons = [event["reason"] for event in await world.events("chat")]

    assert "RolloutStarted" in reasons
    assert "RolloutComplete" in reasons
    assert len(reasons) < 30


async def test_a_finished_rollout_writes_nothing(world: World, fleet: FleetSpec) -> None:
    before = (await world.rollout("chat"))["metadata"]["resourceVersion"]
    await asyncio.sleep(3)  # the fact is that nothing happens in this time
    assert (await world.rollout("chat"))["metadata"]["resourceVersion"] == before
