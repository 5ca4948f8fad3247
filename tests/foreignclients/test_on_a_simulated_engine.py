"""vLLM's and TRL's own clients on an agent before a simulated engine that joins a fabric and takes real tensors."""

from pathlib import Path

import pytest

from foreignclients import trlwheel
from foreignclients.theirs import TheyFailed, theirs
from simulator.model import Model
from toytrainer import NOBODYS, fabric, named, update_info
from unit.agent.rl.conftest import OpenPod


async def test_vllms_client_updates_where_the_guard_brings_the_pause(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    """It has no pause of its own."""
    async with (
        open_pod("auto-pause") as (pod, trainer),
        theirs(tmp_path, "vllm", trainer.url) as client,
    ):
        with fabric() as wire:
            model = Model.load(pod.checkpoints["b"])
            await client.call("init_weight_transfer_engine", wire.init_info)
            await client.call("start_weight_update")
            assert (await pod.readyz())[1] == "HeldByTrainer"
            wire.send(model)
            await client.call("update_weights", update_info(model))
            await client.call("finish_weight_update", "7")
        assert await pod.readyz() == (200, "")
        assert await pod.answers_with("b")
        assert (await pod.state()).serving.version == "7"
        assert (await pod.engine.state())["unguardedUpdates"] == 0
        with pytest.raises(TheyFailed, match="404"):  # it is not in vllm.Control
            await client.call("shutdown_weight_transfer_engine")


async def test_vllms_client_brings_a_checkpoint_through_our_own_backend(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    """The engine serves until the weights are ready, and what is wrong with them touches nothing."""
    async with (
        open_pod("auto-pause", backend="weightrollout") as (pod, trainer),
        theirs(tmp_path, "vllm", trainer.url) as client,
    ):
        await client.call("init_weight_transfer_engine", {})
        with pytest.raises(TheyFailed, match="409"):
            await client.call("update_weights", named(pod.checkpoints["b"]))
        await client.call("start_weight_update")
        for wrong in ({"folder": "b"}, {**named(pod.checkpoints["b"]), "digest": NOBODYS}):
            with pytest.raises(TheyFailed, match="400"):
                await client.call("update_weights", wrong)
        assert await pod.readyz() == (200, "")
        assert await pod.answers_with("a")
        await client.call("update_weights", named(pod.checkpoints["b"]))
        await client.call("finish_weight_update", "7")
        assert await pod.readyz() == (200, "")
        assert await pod.answers_with("b")
        assert (await pod.state()).serving.version == "7"
        assert (await pod.engine.state())["unguardedUpdates"] == 0


async def test_vllms_client_is_told_by_the_strict_guard_that_it_must_pause(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    async with open_pod() as (pod, trainer), theirs(tmp_path, "vllm", trainer.url) as client:
        with fabric() as wire:
            model = Model.load(pod.checkpoints["b"])
            await client.call("init_weight_transfer_engine", wire.init_info)
            with pytest.raises(TheyFailed, match="409"):
                await client.call("start_weight_update")
            await trainer.call("pause?mode=keep")
            await client.call("start_weight_update")
            wire.send(model)
            await client.call("update_weights", update_info(model))
            await client.call("finish_weight_update")
            await trainer.call("resume")
        assert await pod.answers_with("b")


async def test_trls_client_pauses_updates_and_resumes_under_the_strict_guard(
    open_pod: OpenPod, tmp_path: Path
) -> None:
    wheel = str(trlwheel.require())
    async with open_pod() as (pod, trainer):
        checkpoint = str(pod.checkpoints["b"])
        async with theirs(tmp_path, "trl", trainer.url, wheel, checkpoint) as client:
            await client.call("init_weight_transfer")
            assert await pod.readyz() == (200, "")
            with pytest.raises(TheyFailed, match="409"):  # at once: it hangs in no fabric
                await client.call("send_weights")
            await client.call("pause")
            await client.call("send_weights")
            await client.call("resume")
            assert await pod.readyz() == (200, "")
            assert await pod.answers_with("b")
            assert (await pod.state()).serving.version == "trainer.1"
            await client.call("pause")
            await pod.engine.set_faults({"call": "UpdateWeights", "do": "error"})
            with pytest.raises(TheyFailed, match="Weight sync"):
                await client.call("send_weights")
            with pytest.raises(TheyFailed, match="weights_incomplete"):
                await client.call("resume")
            assert (await pod.readyz())[1] == "HeldByTrainer"
