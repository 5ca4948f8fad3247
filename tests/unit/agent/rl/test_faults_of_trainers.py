"""What trainers, networks and volumes do wrong, and where that leaves a pod."""

import asyncio
import base64

import aiohttp
import pytest

from localcluster.waiting import eventually
from onepod import OnePod
from toytrainer import TOKEN, Trainer, fabric
from unit.agent.rl.conftest import OpenPod
from weightrollout.agent.rl import lifecycle
from weightrollout.agent.rl.routes import ROUTES, Needs

PATHS = [
    f"engine/{each.name}" for each in ROUTES if each.name and each.needs is not Needs.DRAFT
] + ["pause", "update_weights"]
BODIES: list[object] = [[], [{}], "x", 1, True]
HELD = (503, "HeldByTrainer")
SERVES = (200, "")


async def test_second_trainer_is_told_that_an_update_is_open_and_may_end_that_of_one_that_died(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            second = Trainer(trainer.url)
            for name, body in (
                ("start_weight_update", {}),
                ("init_weight_transfer_engine", {"init_info": wire.init_info}),
            ):
                refused = await second.update(name, **body)
                assert (refused.status, refused.body["error"]) == (409, "session_open"), name
            for call in (second.control("resume_generation"), second.control("sleep")):
                refused = await call
                assert (refused.status, refused.body["error"]) == (409, "session_open")
            assert await pod.readyz() == HELD
            assert (await second.update("finish_weight_update")).status == 200
            assert (await second.control("resume_generation")).status == 200
        assert await pod.readyz() == SERVES
        assert await pod.answers_with("a")


async def test_client_that_goes_away_in_an_update_has_updated(open_pod: OpenPod) -> None:
    """The engine goes on, so the agent does."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            await pod.engine.set_faults({"call": "UpdateWeights", "do": "slow", "seconds": 0.5})
            sending = asyncio.create_task(trainer.send(wire, pod.checkpoints["b"]))
            await eventually(lambda: updates(pod), 10, "it is in the engine")
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            assert (await trainer.update("finish_weight_update", weight_version="5")).status == 200
            assert (await trainer.control("resume_generation")).status == 200
        assert await pod.answers_with("b")


async def updates(pod: OnePod) -> bool:
    return "UpdateWeights" in (await pod.engine.state())["calls"]


async def test_session_goes_on_after_a_restart_of_the_agent(open_pod: OpenPod) -> None:
    async with open_pod(killable=True) as (pod, trainer):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            await pod.agent.end()
            await pod.agent.start()
            await pod.until(lambda state: state.not_ready_reason == "HeldByTrainer")
            refused = await trainer.control("resume_generation")
            assert (refused.status, refused.body["error"]) == (409, "session_open")
            assert (await trainer.send(wire, pod.checkpoints["b"])).status == 200
            await trainer.update("finish_weight_update", weight_version="6")
            assert (await trainer.control("resume_generation")).status == 200
        await pod.until(lambda state: state.ready)
        assert await pod.answers_with("b")


async def test_reads_answer_and_a_pause_is_refused_while_the_engine_waits_for_its_trainer_to_join(
    open_pod: OpenPod,
) -> None:
    """NCCL has no timeout: a pause behind it would never be answered."""
    async with open_pod() as (pod, trainer):
        await pod.engine.set_faults({"call": "InitWeightTransferEngine", "do": "hang"})
        joining = asyncio.create_task(trainer.update("init_weight_transfer_engine", init_info={}))
        await eventually(lambda: inits(pod), 10, "it is in the engine")
        for name in ("is_paused", "is_sleeping", "get_weight_version"):
            assert (await trainer.control(name)).status == 200, name
        for name in ("pause_generation", "sleep"):
            refused = await trainer.control(name)
            assert (refused.status, refused.body["error"]) == (409, "update_running"), name
        assert await pod.readyz() == SERVES
        await pod.agent.end()
        reply = await joining
        assert (reply.status, reply.body["error"]) == (503, "stopping"), "it keeps no agent alive"


async def inits(pod: OnePod) -> bool:
    return "InitWeightTransferEngine" in (await pod.engine.state())["calls"]


async def test_engine_that_is_gone_and_a_volume_that_is_full_are_503_and_touch_nothing(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (pod, trainer):
        blocked = pod.staging / ".journal.json.tmp"
        blocked.mkdir()
        full = await trainer.control("pause_generation", mode="keep")
        assert (full.status, full.body["error"]) == (503, "JournalUnwritable")
        assert "PauseGeneration" not in (await pod.engine.state())["calls"]
        assert await pod.readyz() == SERVES
        blocked.rmdir()
        await pod.engine.stop()
        for call in ("control/pause_generation", "control/is_paused", "update/start_weight_update"):
            gone = await trainer.call(f"engine/{call}", {})
            assert (gone.status, gone.body.get("error")) == (503, "EngineUnreachable"), (call, gone)


async def test_body_that_comes_slowly_or_never_holds_up_nobody(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        host, _, port = trainer.url.removeprefix("http://").rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        head = (
            "POST /engine/control/pause_generation HTTP/1.1\r\nHost: agent\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Length: 1000\r\n\r\n"
        )
        writer.write(head.encode() + b'{"mode": "keep", ')
        await writer.drain()
        assert (await trainer.control("is_paused")).body == {"is_paused": False}
        assert (await trainer.control("pause_generation", mode="keep")).status == 200
        assert (await trainer.control("resume_generation")).status == 200
        writer.close()
        assert await pod.readyz() == SERVES
        assert (await pod.engine.state())["calls"]["PauseGeneration"] == 1


async def test_method_that_reads_changes_nothing_under_vllms_names(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        for path in ("pause", "resume", "sleep", "update_weights"):
            for method in ("GET", "PUT", "DELETE"):
                reply = await trainer.call(path, method=method)
                assert (reply.status, reply.body["error"]) == (405, "method_not_allowed"), path
                assert reply.length
        assert await pod.readyz() == SERVES
        for path in ("engine/pause_generation", "engine/update_weights_from_distributed"):
            assert (await trainer.call(path, {})).status == 404, "older Dynamo's"
        for path in ("is_paused", "weight_info", "get_world_size", "engine/control/is_paused"):
            assert (await trainer.call(path, method="GET")).status == 200, path
            assert (await trainer.call(path, method="GET")).length, path


async def test_token_may_be_the_password_of_a_url(open_pod: OpenPod) -> None:
    """The clients of vLLM and TRL take a URL, and no header."""
    async with open_pod() as (_, trainer):
        for password, status in ((TOKEN, 200), ("wrong", 401), ("", 401)):
            headers = {"Authorization": f"Basic {encoded(f'trainer:{password}')}"}
            async with (
                aiohttp.ClientSession(headers=headers) as session,
                session.post(f"{trainer.url}/is_paused") as reply,
            ):
                assert reply.status == status, await reply.text()
        host, _, port = trainer.url.removeprefix("http://").rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            b"GET /is_paused HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \xff\xfe\r\n\r\n"
        )
        assert (await reader.readline()).startswith(b"HTTP/1.1 401"), "no text at all"
        writer.close()
        for header in ("Basic", "Basic !", "Basic é", f"Basic {encoded(TOKEN)}", "Digest x"):
            headers = {"Authorization": header}
            async with (
                aiohttp.ClientSession(headers=headers) as session,
                session.post(f"{trainer.url}/is_paused") as reply,
            ):
                assert (reply.status, (await reply.json())["error"]) == (401, "unauthorized")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def test_body_that_is_no_object_is_refused_by_every_call(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        for path in PATHS:
            for body in BODIES:
                reply = await trainer.call(path, body)
                assert (reply.status, reply.body["error"]) == (400, "invalid"), (path, body)
        assert await pod.readyz() == SERVES


async def test_call_that_comes_just_before_an_update_begins_does_not_wait_for_its_end(
    open_pod: OpenPod,
) -> None:
    """The update has its turn, and still asks whether the engine is paused."""
    async with open_pod() as (pod, trainer):
        with fabric() as wire:
            await trainer.update("init_weight_transfer_engine", init_info=wire.init_info)
            await trainer.control("pause_generation", mode="keep")
            await trainer.update("start_weight_update")
            await pod.engine.set_faults({"call": "IsPaused", "do": "slow", "seconds": 1.0})
            names = {"names": ["model.norm.weight"]}
            update = asyncio.create_task(trainer.update("update_weights", update_info=names))
            several = [trainer.control("resume_generation") for _ in range(3)]
            assert [each.status for each in await asyncio.gather(*several)] == [409] * 3
            assert not update.done()
            wire.hang_up()
            assert (await update).status == 502


async def test_agent_whose_engine_has_not_answered_yet_says_that_it_starts(
    open_pod: OpenPod,
) -> None:
    """404 would be for ever: clients give up."""
    async with open_pod(killable=True) as (pod, trainer):
        await pod.agent.end()
        await pod.engine.stop()
        await pod.agent.start()
        await pod.until(lambda state: state.not_ready_reason == "EngineUnreachable")
        for path in ("control/pause_generation", "control/is_paused", "update/update_weights"):
            early = await trainer.call(f"engine/{path}", {})
            assert (early.status, early.body["error"]) == (503, "starting"), path
        assert (await trainer.call("health", method="GET")).status == 200


async def test_update_waits_for_no_engine_that_does_not_say_whether_it_is_paused(
    open_pod: OpenPod, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "CONFIRM_S", 0.3)
    async with open_pod() as (pod, trainer):
        await trainer.control("pause_generation", mode="keep")
        await pod.engine.set_faults({"call": "IsPaused", "do": "hang"})
        unknown = await trainer.update("start_weight_update")
        assert (unknown.status, unknown.body["error"]) == (504, "PauseUnknown")
        assert "StartWeightUpdate" not in (await pod.engine.state())["calls"]
        assert await pod.readyz() == HELD
