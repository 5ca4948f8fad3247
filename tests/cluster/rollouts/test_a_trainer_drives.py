"""Fleets that a trainer drives: nothing serves base weights, nobody swaps a trainer's version away, and the fleet
changes hands while nothing holds it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fleet.engine import state_of
from fleet.manifests import FleetSpec, weight_rollout
from fleet.world import Json, World
from localcluster.access import Cluster
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from onestep import one_step
from toytrainer import TOKEN, Trainer, fabric
from weightrollout import sdk
from weightrollout.api import names

pytestmark = pytest.mark.cluster

SOON = 60.0
NCCL, OURS = "policy", "chat"


@pytest.fixture(scope="module")
async def token(world: World) -> AsyncIterator[Path]:
    """And an operator."""
    path = world.folder / "trainers-token"
    path.write_text(TOKEN)
    process = await world.operator()
    yield path
    await process.stop()


def fleet_of(name: str, folder: Path, backend: str, token: Path, machine: VirtualNode) -> FleetSpec:
    return FleetSpec(
        name,
        folder,
        replicas=2,
        engine_args=("--token-seconds=0.01", f"--backend={backend}"),
        agent_args=(
            f"--trainer-token-file={token}",
            f"--trainer-bind=$(POD_IP):{names.DEFAULT_TRAINER_PORT}",
        ),
        node_selector=machine.selector,
    )


def trainer_of(pod: Json) -> Trainer:
    return Trainer(f"http://{pod['status']['podIP']}:{names.DEFAULT_TRAINER_PORT}")


def is_ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def loaded(status: Json) -> dict[str, int]:
    return {each["version"]: each["pods"] for each in status.get("versions", [])}


def hold(status: Json) -> str:
    found: str = status.get("hold", {}).get("reason", "")
    return found


def guard(status: Json) -> str:
    found: str = status.get("trainer", {}).get("guard", "")
    return found


def reason(status: Json, condition: str = "Ready") -> str:
    (found,) = (each for each in status["conditions"] if each["type"] == condition)
    return f"{found['status']}/{found['reason']}"


async def change(world: World, name: str, **spec: Any) -> None:
    """As another person with a file of their own would."""
    weights = spec.pop("weights", None)
    await world.apply(weight_rollout(name, weights, **spec))


async def test_engines_with_a_backend_of_their_own_serve_what_their_trainer_sends(
    world: World, machine: VirtualNode, token: Path, written: dict[str, Any]
) -> None:
    """Not before; the guard of the spec reaches the agents; nobody calls the pods incompatible or outdated."""
    await change(world, NCCL, driver="Trainer")
    await world.until(NCCL, lambda status: hold(status) == "NoPods", SOON, "it is seen")
    await world.deploy(fleet_of(NCCL, written["a"].folder, "nccl", token, machine))
    served: list[Json] = []

    async def all_wait() -> bool:
        served.extend(pod for pod in await world.pods(NCCL) if is_ready(pod))
        status = await world.status(NCCL)
        return status.get("pods", {}).get("joining") == 2 and hold(status) == "WaitingForTrainer"

    await eventually(all_wait, SOON, "both pods wait for their trainer")
    assert served == [], "base weights served"
    pods = await world.pods(NCCL)
    refused = await trainer_of(pods[0]).update("start_weight_update")
    assert (refused.status, refused.body["error"]) == (409, "not_paused")
    await change(world, NCCL, driver="Trainer", guard="AutoPause")
    status = await world.until(
        NCCL, lambda status: guard(status) == "AutoPause", SOON, "all agents know"
    )
    assert status["pods"]["incompatible"] == 0
    for pod in pods:
        trainer = trainer_of(pod)
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            assert (await trainer.update("start_weight_update")).status == 200
            assert (await trainer.send(wire, written["b"].folder)).status == 200
            done = await trainer.update("finish_weight_update", weight_version="7")
            assert done.status == 200
    await world.until_ready(NCCL, 2, SOON)
    status = await world.until(NCCL, lambda status: loaded(status) == {"7": 2}, SOON, "7 serves")
    assert (status["updated"], status["pods"]["outdated"], status["phase"]) == (
        "2/2",
        0,
        "Complete",
    )
    assert reason(status) == "True/TrainerDrives"
    assert "incompatible" not in status["message"]


async def test_joiners_load_the_durable_version_and_the_fleet_changes_hands(
    cluster: Cluster, world: World, machine: VirtualNode, token: Path, written: dict[str, Any]
) -> None:
    durable = {"version": "durable-a", "uri": written["a"].uri}
    await change(world, OURS, driver="Trainer", weights=durable, swap={"drainSeconds": 0})
    await world.until(OURS, lambda status: hold(status) == "NoPods", SOON, "it is seen")
    await world.deploy(fleet_of(OURS, written["c"].folder, "weightrollout", token, machine))
    await world.until(OURS, lambda status: loaded(status) == {"durable-a": 2}, SOON, "both joined")
    await world.until_ready(OURS, 2, SOON)
    pods = await world.pods(OURS)
    async with sdk.connect(
        OURS, run="exp", namespace=world.namespace, kubeconfig=cluster.kubeconfig
    ) as fleet:
        await one_step(trainer_of(pods[0]), written["b"].folder, "8")
        state = await fleet.wait_reported("8", pods=1, timeout_s=SOON)
        assert dict(state.versions) == {"8": 1, "durable-a": 1}
        await one_step(trainer_of(pods[1]), written["b"].folder, "8")
        state = await fleet.wait_reported("8", timeout_s=SOON)
        assert (state.driver, state.in_hand, state.complete) == ("Trainer", True, False)
        with pytest.raises(sdk.TimedOut):
            await fleet.wait(8, timeout_s=1)  # no pod reports exp.8, whatever Ready says
    status = await world.until(
        OURS, lambda status: loaded(status) == {"8": 2}, SOON, "the trainer's version"
    )
    assert status["trainer"]["serving"] == 2
    await world.until_ready(OURS, 2, SOON)
    for pod in pods:
        engine = await state_of(pod)
        assert (engine["version"], engine["fingerprint"]) == ("8", written["b"].fingerprint)

    gone = pods[0]["metadata"]
    api = f"/api/v1/namespaces/{world.namespace}/pods/{gone['name']}"
    await world.api.delete(api, gracePeriodSeconds="0")
    status = await world.until(
        OURS, lambda status: loaded(status) == {"8": 1, "durable-a": 1}, SOON, "one joined"
    )
    assert status["pods"]["outdated"] == 0
    await world.until_ready(OURS, 2, SOON)

    joined, kept = (trainer_of(pod) for pod in await world.pods(OURS))
    assert (await kept.control("pause_generation", mode="keep")).status == 200
    newer = {"version": "newer-b", "uri": written["b"].uri}
    await change(world, OURS, driver="Operator", weights=newer, swap={"drainSeconds": 0})
    held = await world.until(OURS, lambda status: hold(status) == "HeldByTrainer", SOON, "it waits")
    assert loaded(held)["8"] == 1

    async def begins_nothing() -> bool:
        begins = await joined.control("pause_generation", mode="keep")
        if begins.status == 200:  # its agent does not know yet
            await joined.control("resume_generation")
        return (begins.status, begins.body.get("error")) == (409, "operator_drives")

    await eventually(begins_nothing, SOON, "nothing new of a trainer's begins")
    assert (await kept.control("resume_generation")).status == 200
    status = await world.until_phase(OURS, "Complete", SOON)
    assert (loaded(status), status["stable"]["version"]) == ({"newer-b": 2}, "newer-b")
    await world.until_ready(OURS, 2, SOON)
