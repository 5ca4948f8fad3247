"""A trainer's client drives our own backend: it names a checkpoint, and the agent stages it and hands it over."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from checkpoints import mtp_shapes
from localcluster.waiting import eventually
from onepod import OnePod, Refusal
from simulator.control import MUTATING
from toytrainer import NOBODYS, Reply, Trainer, named
from twohands import drive
from unit.agent.rl.conftest import OpenPod
from weightrollout.agent.rl.images import Images
from weightrollout.engine.vllm_grpc import VllmGrpc

HELD = (503, "HeldByTrainer")
SERVES = (200, "")
OURS: dict[str, Any] = {"backend": "weightrollout"}


async def sent(pod: OnePod, trainer: Trainer, name: str) -> Reply:
    return await trainer.update("update_weights", update_info=named(pod.checkpoints[name]))


async def calls(pod: OnePod) -> dict[str, int]:
    """Of those that change something how often, in the order of the first of each."""
    said: dict[str, int] = (await pod.engine.state())["calls"]
    return {call: count for call, count in said.items() if call in MUTATING}


def before(said: dict[str, int], one: str, other: str) -> bool:
    return list(said).index(one) < list(said).index(other)


async def test_checkpoint_that_init_named_is_staged_before_the_pause_and_proven_in_it(
    open_pod: OpenPod,
) -> None:
    async with open_pod(**OURS) as (pod, trainer):
        staged = await trainer.update(
            "init_weight_transfer_engine", init_info=named(pod.checkpoints["b"])
        )
        assert staged.body == {"message": "Weight transfer initialized"}
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("a")
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        assert (await sent(pod, trainer, "b")).body == {"message": "Weights updated"}
        assert (await trainer.update("finish_weight_update", weight_version="7")).status == 200
        assert await pod.readyz() == HELD
        await trainer.control("resume_generation")
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("b")
        assert (await pod.state()).serving.version == "7"
        said = await calls(pod)
        assert said["InitWeightTransferEngine"] == 1
        assert before(said, "InitWeightTransferEngine", "PauseGeneration")


@pytest.mark.parametrize("pinned", [True, False])
async def test_guard_brings_its_pause_when_the_weights_are_ready_and_not_before(
    open_pod: OpenPod, pinned: bool
) -> None:
    """For a client that has no pause, and names the checkpoint in the update alone."""
    async with open_pod("auto-pause", **OURS) as (pod, trainer):
        await trainer.update("init_weight_transfer_engine", init_info={})
        await trainer.update("start_weight_update")
        assert await pod.readyz() == SERVES
        info = named(pod.checkpoints["b"], pinned=pinned)
        assert (await trainer.update("update_weights", update_info=info)).status == 200
        assert await pod.readyz() == HELD
        assert (await trainer.update("finish_weight_update", weight_version="7")).status == 200
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("b")
        assert (await pod.state()).serving.version == "7"
        assert (await pod.engine.state())["unguardedUpdates"] == 0
        assert before(await calls(pod), "InitWeightTransferEngine", "PauseGeneration")


async def test_what_is_wrong_with_a_checkpoint_is_said_and_the_old_weights_serve_on(
    open_pod: OpenPod,
) -> None:
    async with open_pod("auto-pause", **OURS) as (pod, trainer):
        await trainer.update("start_weight_update")
        wrong = {**named(pod.checkpoints["b"]), "digest": NOBODYS}
        gone = {"uri": "file:///nowhere/"}
        for info, status, code in (
            (wrong, 400, "DigestMismatch"),
            (gone, 503, "SourceNotFound"),
        ):
            for call, field in (
                ("update_weights", "update_info"),
                ("init_weight_transfer_engine", "init_info"),
            ):
                refused = await trainer.update(call, **{field: info})
                if call == "init_weight_transfer_engine":
                    assert refused.body["error"] == "session_open"
                else:
                    assert (refused.status, refused.body["error"]) == (status, code)
        assert await pod.readyz() == SERVES
        assert (await trainer.update("finish_weight_update")).status == 200
        refused = await trainer.update("init_weight_transfer_engine", init_info=wrong)
        assert (refused.status, refused.body["error"]) == (400, "DigestMismatch")
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("a")
        assert await calls(pod) == {}
        await pod.hello()
        await pod.stage("c")
        await pod.reserve("c")  # nothing of it holds the engine


async def test_trainers_mistakes_touch_nothing(open_pod: OpenPod) -> None:
    async with open_pod(**OURS) as (pod, trainer):
        for call, field in (
            ("update_weights", "update_info"),
            ("init_weight_transfer_engine", "init_info"),
        ):
            for info in (
                {"names": ["model.norm.weight"]},
                {"txn": "t", "digest": NOBODYS, "region": "images/x"},
                {"uri": ""},
                {"uri": 1},
                {"uri": "file:///x/", "digest": "md5:1"},
            ):
                refused = await trainer.update(call, **{field: info})
                assert (refused.status, refused.body["error"]) == (400, "invalid"), (call, info)
        refused = await sent(pod, trainer, "b")
        assert (refused.status, refused.body["error"]) == (409, "no_session")
        refused = await trainer.update("start_weight_update")
        assert (refused.status, refused.body["error"]) == (409, "not_paused")
        assert await calls(pod) == {}
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("a")


async def test_pause_that_ended_while_it_staged_is_seen_before_a_byte_changes(
    open_pod: OpenPod, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = Images.ready

    async def slow(self: Images, *arguments: Any) -> Any:
        loading = await ready(self, *arguments)
        await behind.resume(deadline_s=10.0)
        return loading

    async with open_pod(**OURS) as (pod, trainer):
        behind = VllmGrpc(pod.engine.grpc_target)
        try:
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            monkeypatch.setattr(Images, "ready", slow)
            refused = await sent(pod, trainer, "b")
        finally:
            await behind.close()
        assert (refused.status, refused.body["error"]) == (409, "not_paused")
        assert await pod.answers_with("a")
        assert (await pod.engine.state())["unguardedUpdates"] == 0


@pytest.mark.parametrize("fault", ["lie_receipt", "error", "refuse"])
async def test_update_that_is_not_proven_is_never_resumed_until_it_is_sent_again(
    open_pod: OpenPod, fault: str
) -> None:
    async with open_pod(**OURS) as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        await pod.engine.set_faults({"call": "UpdateWeights", "at": 1, "do": fault})
        assert (await sent(pod, trainer, "b")).status == 502
        refused = await trainer.control("resume_generation")
        assert (refused.status, refused.body["error"]) == (409, "weights_incomplete")
        assert await pod.readyz() == HELD
        await trainer.update("start_weight_update")
        assert (await sent(pod, trainer, "b")).status == 200
        assert (await trainer.update("finish_weight_update", weight_version="8")).status == 200
        assert (await trainer.control("resume_generation")).status == 200
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("b")


async def test_swap_in_between_leaves_nothing_prepared_of_what_was(open_pod: OpenPod) -> None:
    """Its Init is the plugin's newest, so what init had prepared must be prepared again."""
    async with open_pod(**OURS) as (pod, trainer):
        await trainer.update("init_weight_transfer_engine", init_info=named(pod.checkpoints["b"]))
        await pod.hello()
        assert (await pod.bring("c", "txn-1")).outcome == "Committed"
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        assert (await sent(pod, trainer, "b")).status == 200
        await trainer.update("finish_weight_update", weight_version="9")
        await trainer.control("resume_generation")
        assert await pod.answers_with("b")


async def test_swap_waits_for_a_trainer_whose_checkpoint_is_prepared_now(
    open_pod: OpenPod,
) -> None:
    """It would take the image out of the plugin's hands."""
    async with open_pod(**OURS) as (pod, trainer):
        await pod.hello()
        await pod.stage("c")
        await pod.engine.set_faults(
            {"call": "InitWeightTransferEngine", "do": "slow", "seconds": 1.0}
        )
        info = {"init_info": named(pod.checkpoints["b"])}
        staging = asyncio.create_task(trainer.update("init_weight_transfer_engine", **info))
        await eventually(
            lambda: is_called(pod, "InitWeightTransferEngine"), 10, "it is in the engine"
        )
        with pytest.raises(Refusal) as refused:
            await pod.reserve("c")
        assert refused.value.reason == "HeldByTrainer"
        assert (await staging).status == 200
        await pod.stage("c")
        await pod.reserve("c")


async def is_called(pod: OnePod, call: str) -> bool:
    return call in await calls(pod)


async def test_second_update_of_a_session_counts(open_pod: OpenPod) -> None:
    async with open_pod(**OURS) as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        for name in ("b", "c", "c"):
            assert (await sent(pod, trainer, name)).status == 200
        await trainer.update("finish_weight_update", weight_version="7")
        await trainer.control("resume_generation")
        assert await pod.answers_with("c")


async def test_update_that_did_nothing_is_not_proven_by_the_receipt_of_one_before(
    open_pod: OpenPod,
) -> None:
    async with open_pod(**OURS) as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        assert (await sent(pod, trainer, "b")).status == 200
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "ok_nothing"})
        refused = await sent(pod, trainer, "b")
        assert (refused.status, refused.body["error"]) == (502, "ReceiptsDiffer")


async def agent_killed_in(call: str, pod: OnePod, trainer: Trainer) -> None:
    """While the engine is at this call of an update; and the next agent is there."""
    await pod.engine.set_faults({"call": call, "at": 1, "do": "slow", "seconds": 2.0})
    sending = asyncio.create_task(sent(pod, trainer, "b"))
    await eventually(lambda: is_called(pod, call), 10, "it is in the engine")
    await pod.agent.end()
    await asyncio.gather(sending, return_exceptions=True)
    await pod.agent.start()
    await pod.until(lambda state: state.not_ready_reason == "HeldByTrainer")


async def test_agent_killed_while_it_makes_weights_ready_has_lost_nothing(
    open_pod: OpenPod,
) -> None:
    """No Start was sent, so what the engine holds is whole."""
    async with open_pod(killable=True, **OURS) as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        await agent_killed_in("InitWeightTransferEngine", pod, trainer)
        assert (await trainer.update("finish_weight_update")).status == 200
        assert (await trainer.control("resume_generation")).status == 200
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("a")


async def test_agent_killed_in_the_update_leaves_the_weights_incomplete(open_pod: OpenPod) -> None:
    async with open_pod(killable=True, **OURS) as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await trainer.update("start_weight_update")
        await agent_killed_in("UpdateWeights", pod, trainer)
        refused = await trainer.control("resume_generation")
        assert (refused.status, refused.body["error"]) == (409, "weights_incomplete")
        await trainer.update("start_weight_update")
        assert (await sent(pod, trainer, "b")).status == 200
        await trainer.update("finish_weight_update", weight_version="7")
        assert (await trainer.control("resume_generation")).status == 200
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("b")


async def test_draft_follows_in_a_session_of_its_own(open_pod: OpenPod) -> None:
    async with open_pod(**OURS, speculative="mtp", tensors=mtp_shapes()) as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        for start in ("start_weight_update", "start_draft_weight_update"):
            assert (await trainer.update(start)).status == 200
            assert (await sent(pod, trainer, "b")).status == 200, start
            await trainer.update("finish_weight_update", weight_version="7")
        await trainer.control("resume_generation")
        assert await pod.answers_with("b")
        assert (await pod.engine.state())["draftUpdates"] == 1


async def test_trainer_and_orchestrator_are_two_processes_and_each_version_is_staged(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    """prime-rl's calls in their order; what an update says is ours to give."""
    async with open_pod(**OURS) as (pod, trainer):
        steps = [
            {"version": version, "update_info": named(pod.checkpoints[name]), "checkpoint": None}
            for version, name in (("1", "b"), ("2", "c"))
        ]
        marks = tmp_path / "marks"
        marks.mkdir()
        heard = await drive(trainer.url, marks, steps)
        assert set(heard["1"]) <= {"default", "1"}
        assert set(heard["2"]) <= {"1", "2"}
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("c")
        assert (await pod.state()).serving.version == "2"
