"""Two trainers, or a trainer and an operator, at the same moment: one of them has the engine, and the other is told."""

import asyncio

from localcluster.waiting import eventually
from onepod import OnePod, Refusal
from toytrainer import Trainer, fabric
from unit.agent.rl.conftest import OpenPod
from weightrollout.api.guard import Guard
from weightrollout.engine.vllm_grpc import VllmGrpc

SERVES = (200, "")


async def calls(pod: OnePod, name: str) -> int:
    return int((await pod.engine.state())["calls"].get(name, 0))


async def test_one_of_two_trainers_that_start_at_once_has_the_session(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            other = Trainer(trainer.url)
            said = await asyncio.gather(
                *(each.update("start_weight_update") for each in (trainer, other))
            )
            assert sorted(each.status for each in said) == [200, 409]
            (late,) = (each for each in said if each.status == 409)
            assert late.body["error"] == "session_open"
            assert await calls(pod, "StartWeightUpdate") == 1


async def test_either_the_operator_or_a_trainer_has_the_engine(open_pod: OpenPod) -> None:
    async with open_pod(backend="weightrollout") as (pod, trainer):
        await pod.hello()
        await pod.stage("b")
        for turn in range(5):
            reserved, paused = await asyncio.gather(
                pod.reserve("b", f"txn-{turn}"),
                trainer.control("pause_generation", mode="keep"),
                return_exceptions=True,
            )
            assert not isinstance(paused, BaseException)
            if isinstance(reserved, BaseException):
                assert isinstance(reserved, Refusal)
                assert (reserved.reason, paused.status) == ("HeldByTrainer", 200)
                assert (await trainer.control("resume_generation")).status == 200
            else:
                assert (paused.status, paused.body["error"]) == (409, "swap_running")
                await pod.release(f"txn-{turn}")


async def test_reservation_that_comes_while_a_call_is_looked_at_is_not_overrun(
    open_pod: OpenPod,
) -> None:
    """A trainer's call asks the engine before it is let through; meanwhile a swap may have been promised it."""
    async with open_pod(Guard.AUTO_PAUSE, backend="weightrollout") as (pod, trainer):
        await pod.hello()
        await pod.stage("b")
        asked = await calls(pod, "IsPaused")
        await pod.engine.set_faults({"call": "IsPaused", "do": "slow", "seconds": 1.0})
        starting = asyncio.create_task(trainer.update("start_weight_update"))

        async def looks() -> bool:
            return await calls(pod, "IsPaused") > asked

        await eventually(looks, 10, "the engine is asked")
        await pod.reserve("b")
        said = await starting
        assert (said.status, said.body.get("error")) == (409, "swap_running"), said
        assert await calls(pod, "PauseGeneration") == 0
        await pod.engine.set_faults()
        assert (await pod.swap("b")).outcome == "Committed"
        assert await pod.answers_with("b")


async def test_operator_that_takes_over_in_mid_session_lets_the_trainer_end_it(
    open_pod: OpenPod,
) -> None:
    """And begin nothing more: its weights are whole and named, and the next swap may replace them."""
    async with open_pod() as (pod, trainer):
        await pod.hello(driver="Trainer")
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            await pod.hello(driver="Operator")
            assert (await trainer.send(wire, pod.checkpoints["b"])).status == 200
            done = await trainer.update("finish_weight_update", weight_version="3")
            assert done.status == 200
            assert (await trainer.control("resume_generation")).status == 200
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("b")
        for begins in (trainer.control("pause_generation"), trainer.control("sleep")):
            refused = await begins
            assert (refused.status, refused.body["error"]) == (409, "operator_drives")
        assert await pod.readyz() == SERVES


async def test_engine_that_somebody_resumed_behind_the_trainers_back_takes_no_update(
    open_pod: OpenPod,
) -> None:
    """A pause counts by the engine's own word, not by what the trainer was answered."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            somebody = VllmGrpc(f"{pod.engine.address}:{pod.engine.grpc_port}")
            try:
                await somebody.resume(deadline_s=10)
            finally:
                await somebody.close()
            for refused in (
                await trainer.send(wire, pod.checkpoints["b"]),
                await trainer.update("finish_weight_update"),
            ):
                assert (refused.status, refused.body["error"]) == (409, "not_paused")
            assert await calls(pod, "UpdateWeights") == 0
            assert (await pod.readyz())[0] == 503, "an update is open: it stays out"
