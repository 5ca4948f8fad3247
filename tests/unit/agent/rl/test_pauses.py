"""Pauses that wait, fail, or come from two at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from localcluster.waiting import eventually
from onepod import OnePod
from toytrainer import Trainer, fabric
from unit.agent.rl.conftest import OpenPod

HELD = (503, "HeldByTrainer")
SERVES = (200, "")


@asynccontextmanager
async def long_request(pod: OnePod) -> AsyncIterator[None]:
    """Runs in the engine for as long as the block does."""
    body = {"prompt": "tell me", "max_tokens": 1_000_000}

    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            await (await session.post(f"{pod.engine.http_url}/v1/completions", json=body)).read()

    task = asyncio.create_task(ask())
    try:
        await eventually(lambda: running(pod), 10, "it runs")
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def running(pod: OnePod) -> int:
    return int((await pod.engine.state())["running"])


async def test_pause_that_waits_for_requests_is_taken_back_when_they_do_not_end(
    open_pod: OpenPod,
) -> None:
    """The engine would let no other call through, and call itself paused while it generates."""
    async with open_pod(drain_s=0.5) as (pod, trainer):
        async with long_request(pod):
            late = await trainer.control("pause_generation", mode="wait")
            assert (late.status, late.body["error"]) == (504, "not_drained")
            assert (await trainer.control("is_paused")).body == {"is_paused": False}
            assert await pod.readyz() == SERVES
            assert await running(pod), "it aborted nobody"
            asleep = await trainer.control("sleep", level=1, mode="wait")
            assert (asleep.status, asleep.body["error"]) == (504, "not_drained")
            assert (await trainer.control("is_sleeping")).body == {"is_sleeping": False}
            assert (await trainer.control("pause_generation", mode="keep")).status == 200
            assert (await trainer.control("resume_generation")).status == 200
        await eventually(lambda: idle(pod), 10, "its client has gone")
        assert (await trainer.control("pause_generation", mode="wait")).status == 200
        assert (await trainer.control("is_paused")).body == {"is_paused": True}
        assert (await trainer.control("sleep", level=1, mode="wait")).status == 200
        refused = await trainer.control("resume_generation")
        assert (refused.status, refused.body["error"]) == (409, "asleep")
        assert (await trainer.control("wake_up")).body == {"status": "awake"}
        assert await pod.readyz() == SERVES


async def idle(pod: OnePod) -> bool:
    return not await running(pod)


async def draining(pod: OnePod) -> bool:
    return bool((await pod.engine.state())["paused"] == "WAIT")


async def test_pause_that_still_waits_is_no_pause_for_readers_nor_after_a_restart_of_the_agent(
    open_pod: OpenPod,
) -> None:
    async with open_pod(killable=True) as (pod, trainer), long_request(pod):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            waiting = asyncio.create_task(trainer.control("pause_generation", mode="wait"))
            await pod.until(lambda state: state.not_ready_reason == "HeldByTrainer")
            await eventually(lambda: draining(pod), 10, "the engine waits")
            assert (await trainer.control("is_paused")).body == {"is_paused": False}
            await pod.agent.end()
            await asyncio.gather(waiting, return_exceptions=True)
            await pod.agent.start()
            await pod.until(lambda state: state.not_ready_reason == "HeldByTrainer")
            assert (await trainer.control("is_paused")).body == {"is_paused": False}
            refused = await trainer.update("start_weight_update")
            assert (refused.status, refused.body["error"]) == (409, "draining")
            assert (await trainer.control("pause_generation", mode="keep")).status == 200
            assert (await trainer.update("start_weight_update")).status == 200


async def test_pause_that_the_engine_fails_keeps_the_pod_out_and_may_be_tried_again(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (pod, trainer):
        await pod.engine.set_faults({"call": "PauseGeneration", "do": "error"})
        failed = await trainer.control("pause_generation", mode="keep")
        assert (failed.status, failed.body["status"]) == (502, "error")
        assert await pod.readyz() == HELD
        assert (await trainer.control("is_paused")).body == {"is_paused": False}, (
            "as the engine says"
        )
        refused = await trainer.update("start_weight_update")
        assert (refused.status, refused.body["error"]) == (409, "not_paused")
        await pod.engine.set_faults()
        assert (await trainer.control("pause_generation", mode="keep")).status == 200
        assert (await trainer.control("resume_generation")).status == 200
        assert await pod.readyz() == SERVES
        await pod.engine.set_faults({"call": "PauseGeneration", "do": "refuse"})
        refused = await trainer.control("pause_generation", mode="keep")
        assert (refused.status, refused.body["error"]) == (409, "FailedPrecondition")
        assert await pod.readyz() == SERVES, "nothing has changed"


async def test_resume_that_the_engine_fails_keeps_the_pod_out_and_may_be_tried_again(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await pod.engine.set_faults({"call": "ResumeGeneration", "do": "error"})
        assert (await trainer.control("resume_generation")).status == 502
        assert await pod.readyz() == HELD
        await pod.engine.set_faults()
        assert (await trainer.control("resume_generation")).status == 200
        assert await pod.readyz() == SERVES


async def test_two_that_pause_at_the_same_time_are_both_answered(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        other = Trainer(trainer.url)
        said = await asyncio.gather(
            *(each.control("pause_generation", mode="keep") for each in (trainer, other) * 2)
        )
        assert [each.status for each in said] == [200] * 4
        assert (await other.control("resume_generation")).status == 200
        assert (await trainer.control("is_paused")).body == {"is_paused": False}
        assert await pod.readyz() == SERVES
