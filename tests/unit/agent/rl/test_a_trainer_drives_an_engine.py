"""The calls of real trainers, in their order, against a real agent and a simulated engine with real tensors."""

import asyncio

import pytest

from localcluster.waiting import eventually
from onepod import OnePod, Refusal
from toytrainer import Fabric, Trainer, fabric
from unit.agent.rl.conftest import OpenPod


async def ready(pod: OnePod) -> tuple[int, str]:
    return await pod.readyz()


async def joined(trainer: Trainer, wire: Fabric) -> None:
    reply = await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
    assert reply.body == {"message": "Weight transfer initialized"}
    await eventually(lambda: wire.joined, 10, "the engine joins the trainer")


async def test_native_client_pauses_updates_names_and_resumes(open_pod: OpenPod) -> None:
    """The order of prime-rl's native Dynamo client: trainer and orchestrator are two processes."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            orchestrator = Trainer(trainer.url)
            await joined(trainer, wire)
            assert await ready(pod) == (200, ""), "init alone takes nothing out of service"
            said = await orchestrator.control("pause_generation", mode="keep", clear_cache=False)
            assert (said.status, said.body) == (200, {"status": "paused"})
            assert (await orchestrator.control("is_paused")).body == {"is_paused": True}
            assert await ready(pod) == (503, "HeldByTrainer")
            await trainer.update("start_weight_update")
            sent = await trainer.send(wire, pod.checkpoints["b"])
            assert (sent.status, sent.body) == (200, {"message": "Weights updated"})
            await trainer.update("finish_weight_update", weight_version=None)
            assert (await orchestrator.control("get_weight_version")).body == {
                "weight_version": "default"
            }, "the label flips exactly when it is set"
            named = await trainer.update("update_weight_version", new_version="7")
            assert named.body == {"success": True, "new_version": "7"}
            said = await orchestrator.control("get_weight_version")
            assert said.body == {"weight_version": "7"}
            assert (await orchestrator.control("resume_generation")).body == {"status": "resumed"}
            assert await ready(pod) == (200, "")
            assert await pod.answers_with("b")
            state = await pod.state()
            assert (state.serving.version, state.serving.digest) == ("7", "")


async def test_reads_answer_while_an_update_waits_for_its_sender(open_pod: OpenPod) -> None:
    """Orchestrators ask for the version every 0.1 s until it flips."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            names = {"update_info": {"names": ["model.norm.weight"]}}
            waiting = asyncio.create_task(trainer.update("update_weights", **names))
            await eventually(lambda: pod.engine.state(), 10, "the engine answers beside it")
            assert (await trainer.control("get_weight_version")).status == 200
            assert (await trainer.control("is_paused")).body == {"is_paused": True}
            assert (await trainer.control("is_sleeping")).body == {"is_sleeping": True}
            refused = await trainer.control("resume_generation")
            assert (refused.status, refused.body["error"]) in (
                (409, "update_running"),
                (409, "session_open"),
            )
            wire.hang_up()
            assert (await waiting).status == 502


async def test_weights_that_failed_are_never_resumed_until_all_are_sent(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            await pod.engine.set_faults({"call": "UpdateWeights", "do": "error"})
            failed = await trainer.send(wire, pod.checkpoints["b"])
            assert failed.status == 502
            refused = await trainer.control("resume_generation")
            assert (refused.status, refused.body["error"]) == (409, "weights_incomplete")
            woken = await trainer.control("wake_up")
            assert (woken.status, woken.body["error"]) == (409, "weights_incomplete")
            assert await ready(pod) == (503, "HeldByTrainer")
            empty = await trainer.update("start_weight_update")
            assert empty.status == 200
            await trainer.update("finish_weight_update", weight_version="8")
            refused = await trainer.control("resume_generation")
            assert refused.body["error"] == "weights_incomplete", "a session that took nothing"
            await pod.engine.set_faults()
            wire.hang_up()
        with fabric() as again:
            await joined(trainer, again)
            await trainer.update("start_weight_update")
            assert (await trainer.send(again, pod.checkpoints["c"])).status == 200
            await trainer.update("finish_weight_update", weight_version="9")
            assert (await trainer.control("resume_generation")).status == 200
            assert await ready(pod) == (200, "")
            assert await pod.answers_with("c")


async def test_weights_that_no_trainer_named_get_a_name_before_they_serve(
    open_pod: OpenPod,
) -> None:
    """TRL names no version. Nothing answers by weights that nobody can name."""
    async with open_pod() as (pod, trainer):
        for number, name in ((1, "b"), (2, "c")):
            with fabric() as wire:
                await joined(trainer, wire)
                await trainer.call("pause?mode=keep")
                await trainer.call("start_weight_update", {"is_checkpoint_format": True})
                await trainer.send(wire, pod.checkpoints[name])
                await trainer.call("finish_weight_update")
                assert (await trainer.call("resume")).status == 200
                said = await trainer.call("weight_info", method="GET")
                assert said.body == {"weight_version": f"trainer.{number}"}
                assert await ready(pod) == (200, "")
                assert (await pod.state()).serving.version == f"trainer.{number}"


async def test_update_without_a_pause_is_refused_unless_the_guard_brings_one(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            refused = await trainer.update("start_weight_update")
            assert (refused.status, refused.body["error"]) == (409, "not_paused")
            assert await ready(pod) == (200, "")
            assert (await pod.engine.state())["session"] == ""


async def test_guard_that_pauses_by_itself_resumes_what_it_paused_and_nothing_else(
    open_pod: OpenPod,
) -> None:
    async with open_pod("auto-pause") as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.update("start_weight_update")
            assert (await trainer.control("is_paused")).body == {"is_paused": True}
            await trainer.send(wire, pod.checkpoints["b"])
            await trainer.update("finish_weight_update", weight_version="1")
            assert (await trainer.control("is_paused")).body == {"is_paused": False}
            assert await ready(pod) == (200, "")
            assert (await pod.engine.state())["unguardedUpdates"] == 0
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.control("pause_generation")
            await trainer.update("start_weight_update")
            await trainer.send(wire, pod.checkpoints["c"])
            await trainer.update("finish_weight_update", weight_version="2")
            assert (await trainer.control("is_paused")).body == {"is_paused": True}


async def test_guard_that_is_off_keeps_serving_through_an_update(open_pod: OpenPod) -> None:
    async with open_pod("off") as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.update("start_weight_update")
            assert await ready(pod) == (200, "")
            await trainer.send(wire, pod.checkpoints["b"])
            await trainer.update("finish_weight_update")
            assert await ready(pod) == (200, "")
            assert (await pod.state()).serving.version == "trainer.1"


async def test_weights_asleep_are_never_written(open_pod: OpenPod) -> None:
    """vLLM dies of it (issue 57853)."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            assert (await trainer.control("sleep", level=2, mode="keep")).body == {
                "status": "sleeping"
            }
            assert await ready(pod) == (503, "HeldByTrainer")
            refused = await trainer.update("start_weight_update")
            assert (refused.status, refused.body["error"]) == (409, "asleep")
            refused = await trainer.control("wake_up")
            assert refused.body["error"] == "weights_incomplete", "level 2 threw them away"
            partly = await trainer.control("wake_up", tags=["weights"])
            assert partly.body == {"status": "partially_awake", "is_sleeping": True}
            assert await ready(pod) == (503, "HeldByTrainer")
            await trainer.update("start_weight_update")
            await trainer.send(wire, pod.checkpoints["b"])
            await trainer.update("finish_weight_update", weight_version="3")
            awake = await trainer.control("wake_up", tags=["kv_cache"])
            assert awake.body == {"status": "awake"}
            assert (await trainer.control("is_paused")).body == {"is_paused": False}
            assert await ready(pod) == (200, "")
            assert await pod.answers_with("b")


async def test_wake_up_after_a_part_was_woken_wakes_the_rest(open_pod: OpenPod) -> None:
    """An engine that is asked for all then wakes nothing, and says that all is well."""
    async with open_pod() as (pod, trainer):
        await trainer.call("sleep?level=1&mode=keep")
        await trainer.call("wake_up?tags=weights")
        assert (await trainer.call("wake_up")).body == {"status": "awake"}
        assert (await trainer.control("is_sleeping")).body == {"is_sleeping": False}
        assert await ready(pod) == (200, "")


async def test_sleep_of_level_0_is_a_pause(open_pod: OpenPod) -> None:
    """vime pauses so."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.call("sleep?level=0")
            assert (await trainer.update("start_weight_update")).status == 200
            await trainer.send(wire, pod.checkpoints["b"])
            await trainer.update("finish_weight_update", weight_version="4")
            assert (await trainer.control("resume_generation")).status == 200
            assert await ready(pod) == (200, "")


async def test_resume_that_nobody_paused_is_no_error(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        assert (await trainer.control("resume_generation")).body == {"status": "resumed"}
        assert await ready(pod) == (200, "")
        asked = (await pod.engine.state())["calls"]
        assert "ResumeGeneration" not in asked, "an engine that runs may fail at it"


async def test_swap_and_trainer_exclude_each_other(open_pod: OpenPod) -> None:
    async with open_pod(backend="weightrollout") as (pod, trainer):
        await pod.hello()
        await pod.stage("b")
        await trainer.control("pause_generation", mode="keep")
        with pytest.raises(Refusal) as refused:
            await pod.reserve("b")
        assert refused.value.reason == "HeldByTrainer"
        await trainer.control("resume_generation")
        await pod.reserve("b")
        said = await trainer.control("pause_generation")
        assert (said.status, said.body["error"]) == (409, "swap_running")
        await pod.release()
        assert (await trainer.control("pause_generation")).status == 200


async def test_engine_that_restarts_is_held_by_nobody(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        await trainer.control("pause_generation")
        await pod.engine.restart()
        await pod.until(lambda state: state.ready)
        assert await ready(pod) == (200, "")


async def test_agent_killed_in_an_update_leaves_the_weights_incomplete(open_pod: OpenPod) -> None:
    async with open_pod(killable=True) as (pod, trainer):
        with fabric() as wire:
            await joined(trainer, wire)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            names = {"update_info": {"names": ["model.norm.weight"]}}
            waiting = asyncio.create_task(trainer.update("update_weights", **names))
            await pod.until(lambda state: "under way" in state.not_ready_message or not state.ready)
            await eventually(lambda: b"update_weights" in journal(pod), 10, "it is in the journal")
            await pod.agent.end()
            await asyncio.gather(waiting, return_exceptions=True)
            await pod.agent.start()
            await pod.until(lambda state: state.not_ready_reason == "HeldByTrainer")
            refused = await trainer.control("resume_generation")
            assert (refused.status, refused.body["error"]) in (
                (409, "weights_incomplete"),
                (504, "PauseUnknown"),  # the engine is still in that update
            )


def journal(pod: OnePod) -> bytes:
    return b"".join(each.read_bytes() for each in pod.staging.glob("*journal*") if each.is_file())
