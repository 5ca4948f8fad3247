"""Fleets that speculate: the draft comes with its target, and one that fails costs speed alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import checkpoints
from acceptance import acceptance
from fleet.engine import set_faults, state_of, url_of
from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import World
from localcluster.virtual_node import VirtualNode

Json = dict[str, Any]

MTP: Final = ("--token-seconds=0.005", "--speculative=mtp")
#: Until the engine is told to behave again.
DRAFT_FAILS: Final = {"call": "UpdateWeights/draft", "do": "error"}


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Checkpoints with an MTP head in each."""
    folder = tmp_path_factory.mktemp("heads")
    return {
        name: checkpoints.write_checkpoint(
            folder / name, seed=seed, tensors=checkpoints.mtp_shapes()
        )
        for seed, name in enumerate(("a", "b", "c"), 11)
    }


@pytest.fixture(scope="module")
async def fleets(
    world: World, machine: VirtualNode, operator: OperatorProcess, heads: dict[str, Path]
) -> None:
    """Two fleets of two pods that serve a with its head."""
    base = FleetSpec(
        *("", heads["a"]), replicas=2, gated=True, engine_args=MTP, node_selector=machine.selector
    )
    for name in ("mtp", "broken"):
        await world.deploy(replace(base, name=name))
    for name in ("mtp", "broken"):
        await world.until_ready(name, 2, 60)


async def roll(world: World, fleet: str, folder: Path, **weights: Any) -> Json:
    said = {"version": folder.name, "uri": folder.as_uri() + "/", **weights}
    await world.apply(weight_rollout(fleet, said, strategy={"maxUnavailable": "100%"}))
    await world.until(
        fleet, lambda status: status["target"]["version"] == folder.name, 30, "it is the target"
    )
    return await world.until_phase(fleet, "Complete", 90)


def ready_of(status: Json) -> Json:
    return next(each for each in status["conditions"] if each["type"] == "Ready")


async def accepted(world: World, fleet: str) -> list[float]:
    return [await acceptance(url_of(pod)) for pod in await world.pods(fleet)]


@pytest.mark.usefixtures("fleets")
async def test_acceptance_is_back_after_a_rollout(world: World, heads: dict[str, Path]) -> None:
    status = await roll(world, "mtp", heads["b"])

    assert (status["updated"], ready_of(status)["reason"]) == ("2/2", "Complete")
    assert await accepted(world, "mtp") == [1.0, 1.0]
    for pod in await world.pods("mtp"):
        engine = await state_of(pod)
        assert engine["fingerprint"] == checkpoints.fingerprint(heads["b"])
        assert engine["draftFingerprint"] == checkpoints.mtp_fingerprint(heads["b"])
        assert engine["version"] == "b"


@pytest.mark.usefixtures("fleets")
async def test_fleet_whose_draft_fails_is_complete_and_degraded_until_the_next_revision(
    world: World, heads: dict[str, Path]
) -> None:
    for pod in await world.pods("broken"):
        await set_faults(pod, DRAFT_FAILS)

    status = await roll(world, "broken", heads["b"])

    assert (status["updated"], status["pods"]["failed"]) == ("2/2", 0)
    assert status["stable"]["version"] == "b"
    assert (ready_of(status)["status"], ready_of(status)["reason"]) == ("True", "Degraded")
    assert "DraftFailed on broken-0, broken-1" in status["message"]
    failures = {(each["pod"], each["class"], each["reason"]) for each in status["failures"]}
    assert failures == {(f"broken-{index}", "Pod", "DraftFailed") for index in range(2)}
    assert await accepted(world, "broken") == [0.0, 0.0]
    for pod in await world.pods("broken"):
        engine = await state_of(pod)
        assert engine["fingerprint"] == checkpoints.fingerprint(heads["b"])
        assert engine["calls"]["StartDraftWeightUpdate"] == 1, "it is not tried again"
        await set_faults(pod)

    status = await roll(world, "broken", heads["c"], draft={"from": "Target"})

    assert ready_of(status)["reason"] == "Complete"
    assert "failures" not in status or not status["failures"]
    assert await accepted(world, "broken") == [1.0, 1.0]


@pytest.mark.usefixtures("fleets")
async def test_draft_for_engines_that_have_none_of_their_own_is_refused_while_they_serve(
    world: World, machine: VirtualNode, heads: dict[str, Path], written: dict[str, Any]
) -> None:
    plain = FleetSpec("plain", written["a"].folder, replicas=1, node_selector=machine.selector)
    await world.deploy(plain)
    await world.until_ready("plain", 1, 60)
    own = {"uri": heads["b"].as_uri() + "/", "digest": f"sha256:{'0' * 64}"}
    weights = {"version": "b", "uri": written["b"].uri, "draft": own}
    await world.apply(weight_rollout("plain", weights))

    status = await world.until_phase("plain", "RolledBack", 60)

    assert "NoDraft" in status["message"]
    (pod,) = await world.pods("plain")
    assert "PauseGeneration" not in (await state_of(pod))["calls"]
