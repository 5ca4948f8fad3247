"""A pod whose fleet a trainer drives: its base weights never serve, whoever has or has not spoken to it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from localcluster.waiting import eventually
from onepod import OnePod, one_pod
from onestep import one_step
from unit.agent.rl.conftest import OpenPod
from weightrollout.agent import alone_driver, main
from weightrollout.wire.agent import agent_pb2 as pb

TRAINERS = ("--trainer-drives",)
ALONE = (*TRAINERS, "--alone-after-seconds=0.5")
WAITS = (503, "AwaitsTrainer")
SERVES = (200, "")


def out_because_of(reason: str) -> Callable[[pb.AgentState], bool]:
    """And never in service until then."""

    def looks(state: pb.AgentState) -> bool:
        assert not state.ready
        return state.not_ready_reason == reason

    return looks


async def test_pod_of_a_trainer_is_out_from_its_first_second_on_until_an_operator_drives(
    tmp_path: Path,
) -> None:
    """It has no ConfigMap, and no operator has ever spoken to it."""
    async with one_pod(tmp_path, killable=True, agent_flags=TRAINERS) as pod:
        await pod.until(out_because_of("AwaitsTrainer"))
        assert await pod.readyz() == WAITS
        await pod.hello(driver="Operator")
        assert await pod.readyz() == SERVES
        await pod.agent.end()
        await pod.agent.start()
        await pod.until(lambda state: state.ready)
        assert await pod.readyz() == SERVES, "an operator's word outlives the agent, and the flag"


async def test_pod_that_nobody_called_a_trainers_serves_its_base_weights(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        assert await pod.readyz() == SERVES


async def test_what_is_verified_serves_on_when_the_fleet_changes_hands_and_base_weights_do_not(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello(driver="Operator")
        await pod.until(lambda state: state.ready)
        await pod.hello(driver="Trainer")
        assert await pod.readyz() == WAITS
        await pod.bring("b", "txn-1")
        await pod.until(lambda state: state.ready)
        for driver in ("Operator", "Trainer"):
            await pod.hello(driver=driver)
            assert await pod.readyz() == SERVES, driver
        assert await pod.answers_with("b")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no kubelet here that needs its time."""
    monkeypatch.setattr(main, "STABLE_S", 0.2)
    monkeypatch.setattr(alone_driver, "LEAVES_S", 0.5)
    monkeypatch.setattr(alone_driver, "LOOK_S", 0.1)


@pytest.mark.usefixtures("quick")
async def test_agent_alone_waits_for_a_version_that_a_pod_has_proven_and_says_so(
    tmp_path: Path,
) -> None:
    """What is published is proven; nothing published is nothing to try."""
    async with one_pod(tmp_path, agent_flags=ALONE) as pod:
        await pod.until(out_because_of("AwaitsTrainer"))

        async def says_why() -> bool:
            status, body = await pod.readyz_body()
            said = body.get("alone", {})
            assert (status, said.get("reason"), said.get("step")) == (
                *(503, "NothingProven", "Nothing"),
            )
            return True

        await eventually(says_why, 20, "it waits, and why is to be seen")
        pod.publish("b", driver="Trainer")
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("b")
        assert await calls(pod, "UpdateWeights") == 1


async def calls(pod: OnePod, name: str) -> int:
    return int((await pod.engine.state())["calls"].get(name, 0))


async def test_trainer_brings_base_weights_into_service_by_every_route_of_a_step(
    open_pod: OpenPod,
) -> None:
    """On an engine with our backend, whose fleet the operator says is the trainer's."""
    async with open_pod(backend="weightrollout") as (pod, trainer):
        await pod.hello(driver="Trainer")
        assert await pod.readyz() == WAITS
        await one_step(trainer, pod.checkpoints["b"], "8")
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("b")
        state = await pod.state()
        assert (state.serving.version, (await pod.engine.state())["version"]) == ("8", "8")
