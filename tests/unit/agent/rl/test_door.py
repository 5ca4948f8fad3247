"""The trainers' port: who is let in, and that whatever is wrong is told before anything is touched."""

import re
from pathlib import Path

import aiohttp
import pytest

from onepod import one_pod
from toytrainer import TOKEN, Trainer
from unit.agent.rl.conftest import OpenPod
from weightrollout.agent.rl.door import MAX_BODY
from weightrollout.agent.rl.routes import ROUTES, offered
from weightrollout.api.names import DEFAULT_TRAINER_PORT
from weightrollout.engine.protocol import Capabilities

BAD = [
    ("engine/control/pause_generation", {"mode": "sometimes"}),
    ("engine/control/pause_generation", {"clear_cache": "yes"}),
    ("engine/control/pause_generation", [1]),
    ("pause?mode=sometimes", None),
    ("pause?clear_cache=perhaps", None),
    ("engine/control/sleep", {"level": 3}),
    ("engine/control/sleep", {"level": True}),
    ("sleep?level=two", None),
    ("engine/control/wake_up", {"tags": ["engine"]}),
    ("engine/control/wake_up", {"tags": "weights"}),
    ("wake_up?tags=weights&tags=engine", None),
    ("engine/update/init_weight_transfer_engine", {}),
    ("engine/update/init_weight_transfer_engine", {"init_info": [1]}),
    ("engine/update/update_weights", {"update_info": None}),
    ("update_weights", {"update_info": [{}, {}]}),
    ("engine/update/finish_weight_update", {"weight_version": " "}),
    ("engine/update/finish_weight_update", {"weight_version": 7}),
    ("engine/update/update_weight_version", {}),
    ("engine/update/update_weight_version", {"new_version": ""}),
    ("engine/update/update_weight_version", {"new_version": "default"}),
]


async def test_bad_request_is_answered_with_its_reason_and_touches_nothing(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (pod, trainer):
        before = await pod.engine.state()
        for path, body in BAD:
            reply = await trainer.call(path, body)
            assert (reply.status, reply.body["status"], reply.body["error"]) == (
                *(400, "error", "invalid"),
            ), path
            assert reply.body["message"]
            assert reply.length, "some clients read only what says how long it is"
            assert (await pod.readyz())[0] == 200, path
        after = await pod.engine.state()
        questions = {"GetServerInfo", "GetModelInfo", "IsPaused", "GetWeightVersion", "health"}
        assert set(after["calls"]) <= questions
        assert {**after, "calls": 0} == {**before, "calls": 0}


async def test_absent_empty_and_null_mean_the_same(open_pod: OpenPod) -> None:
    async with open_pod() as (_, trainer):
        for body in (None, {}, {"mode": None, "clear_cache": None, "unknown": 1}):
            assert (await trainer.call("engine/control/pause_generation", body)).status == 200
            assert (await trainer.call("engine/control/resume_generation", body)).status == 200


async def test_nobody_comes_in_without_the_token(open_pod: OpenPod) -> None:
    async with open_pod() as (pod, trainer):
        for token in ("", "wrong", TOKEN[:-1], f"{TOKEN}x"):
            stranger = Trainer(trainer.url, token)
            for path in ("engine/control/pause_generation", "pause", "is_paused", "no/such/route"):
                assert (await stranger.call(path)).status == 401, path
        assert (await pod.readyz())[0] == 200
        assert (await Trainer(trainer.url, "").call("health", method="GET")).status == 200
        (pod.folder / "token").write_text("another token of this trainer\n")
        assert (await trainer.call("is_paused")).status == 401
        rotated = Trainer(trainer.url, "another token of this trainer")
        assert (await rotated.call("is_paused")).status == 200


async def test_routes_are_shut_where_no_token_is_named(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        with pytest.raises(aiohttp.ClientConnectorError):
            await Trainer(f"http://{pod.agent.host}:{DEFAULT_TRAINER_PORT}").call("is_paused")


async def test_what_the_engine_cannot_do_is_not_found(open_pod: OpenPod) -> None:
    """Not 501, which clients repeat."""
    async with open_pod(backend="", enable_sleep_mode=False) as (_, trainer):
        for path in ("engine/control/sleep", "wake_up", "engine/update/start_weight_update"):
            reply = await trainer.call(path)
            assert (reply.status, reply.body["error"]) == (404, "not_offered"), path
        assert (await trainer.call("engine/control/is_paused")).status == 200


async def test_unknown_route_and_broken_json_are_objects_too(open_pod: OpenPod) -> None:
    async with open_pod() as (_, trainer):
        unknown = await trainer.call("collective_rpc", {"method": "reload_weights"})
        assert (unknown.status, unknown.body["status"]) == (404, "error")
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session,
            session.post(f"{trainer.url}/pause", data=b"{not json") as response,
        ):
            assert (response.status, (await response.json())["error"]) == (400, "invalid")


async def test_body_as_big_as_the_engine_takes_goes_through_and_a_bigger_one_is_refused(
    open_pod: OpenPod,
) -> None:
    async with open_pod() as (_, trainer):
        handles = "x" * (16 * 1024 * 1024)
        big = await trainer.update("update_weights", update_info={"ipc_handles_pickled": handles})
        assert big.body["error"] == "no_session"
        huge = await trainer.update("update_weights", update_info={"handles": "x" * MAX_BODY})
        assert (huge.status, huge.body["error"]) == (413, "too_large")


def test_routes_that_are_listed_depend_on_what_the_engine_can_do_alone() -> None:
    assert offered(Capabilities()) == ()
    everything = offered(Capabilities(rl=True, transfer=True, sleep=True, draft=True))
    assert list(everything) == sorted(set(everything))
    assert len(everything) == len([each for each in ROUTES if each.name])
    assert all(re.fullmatch(r"(control|update)/[a-z_]+", each) for each in everything)
    plain = offered(Capabilities(rl=True))
    assert "control/sleep" not in plain
    assert "update/start_weight_update" not in plain
