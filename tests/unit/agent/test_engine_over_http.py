"""An agent beside an engine with vLLM's Python frontend: swaps, a trainer's calls, and who else gets to the routes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from onepod import OnePod, Refusal, one_pod
from statuses import http_port, saying
from toytrainer import TOKEN, Trainer
from weightrollout.agent.engine_flags import EngineAccess
from weightrollout.agent.exposure_flags import PodAddress, http_door
from weightrollout.agent.exposure_http import PROBES
from weightrollout.agent.settings import BadFlag, check, parse
from weightrollout.api.names import DEFAULT_TRAINER_PORT, GUARD_MIDDLEWARE
from weightrollout.handover.files import GUARD_TOKEN_VARIABLE

HOST = "127.0.0.1"
FLAGS = ("--engine-protocol=http",)


@asynccontextmanager
async def pod_over_http(tmp_path: Path, *flags: str, **engine: Any) -> AsyncIterator[OnePod]:
    wanted: dict[str, Any] = {"frontend": "python", "vllm": "0.32", **engine}
    async with one_pod(tmp_path, agent_flags=(*FLAGS, *flags), **wanted) as pod:
        yield pod


async def test_weights_are_swapped_and_proven_over_the_rl_routes(tmp_path: Path) -> None:
    async with pod_over_http(tmp_path) as pod:
        await pod.hello()
        ended = await pod.bring("b", "txn-1")
        assert ended.outcome == "Committed", ended
        assert await pod.answers_with("b")
        assert (await pod.state()).serving.version == "v-b"
        assert (await pod.engine.state())["unguardedUpdates"] == 0
        await pod.bring("c", "txn-2")
        assert await pod.answers_with("c")


@pytest.mark.parametrize("fault", ["error", "error_after"])
async def test_update_that_fails_is_sent_again_and_never_resumed_half_loaded(
    tmp_path: Path, fault: str
) -> None:
    async with pod_over_http(tmp_path) as pod:
        await pod.hello()
        await pod.engine.set_faults({"call": "UpdateWeights", "at": 1, "do": fault})
        await pod.bring("b", "txn-1")
        state = await pod.until(lambda it: it.ready)
        assert await pod.answers_with({"v-b": "b"}.get(state.serving.version, "a"))


async def test_label_that_could_not_be_set_does_not_hide_final_weights(tmp_path: Path) -> None:
    async with pod_over_http(tmp_path) as pod:
        await pod.hello()
        await pod.engine.set_faults({"call": "FinishWeightUpdate", "at": 1, "do": "label_fails"})
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"
        assert await pod.answers_with("b")


async def test_engine_that_restarts_is_seen_as_another_one(tmp_path: Path) -> None:
    async with pod_over_http(tmp_path) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.engine.restart()
        state = await pod.until(lambda it: it.engine.instance == pod.engine.instance)
        assert not state.ready


async def test_trainer_empties_the_prefix_cache_where_the_engine_can(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    async with pod_over_http(tmp_path, f"--trainer-token-file={token}") as pod:
        await pod.until(lambda state: state.ready)
        trainer = Trainer(f"http://{pod.agent.host}:{DEFAULT_TRAINER_PORT}")
        said = await trainer.call("reset_prefix_cache")
        assert (said.status, said.body) == (200, {"success": True})
        wrong = await trainer.call("reset_prefix_cache?reset_external=perhaps")
        assert wrong.status == 400
        assert (await trainer.update("start_draft_weight_update")).status == 404


async def test_guard_lets_the_agent_swap_and_a_neighbour_infer_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")
    monkeypatch.setenv(GUARD_TOKEN_VARIABLE, str(token))
    flags = (f"--engine-token-file={token}", f"--pod-ip={HOST}")
    async with pod_over_http(tmp_path, *flags, middleware=GUARD_MIDDLEWARE) as pod:
        await pod.hello()
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"
        assert (await pod.state()).incompatible_reason == ""
        assert await pod.answers_with("b")
        async with aiohttp.ClientSession(pod.engine.http_url) as neighbour:
            for method, path, _, _ in PROBES:
                async with neighbour.request(method, path) as reply:
                    assert reply.status == 401, path
            body = {"prompt": "tell me", "max_tokens": 1}
            async with neighbour.post("/v1/completions", json=body) as reply:
                assert reply.headers["x-weightrollout-version"] == "v-b"


# Who else gets to the routes.


async def found(port: int) -> tuple[str | None, bool]:
    door = http_door(PodAddress(HOST), f"http://{HOST}:{port}", EngineAccess())
    refusal, certain = await door.ask_at(HOST)
    return (refusal.message if refusal is not None else None), certain


@pytest.mark.parametrize("status", [401, 403, 404])
async def test_routes_that_refuse_a_neighbour_are_closed(status: int) -> None:
    async with http_port(saying(status)) as port:
        assert await found(port) == (None, True)


@pytest.mark.parametrize("path", sorted({path for _, path, _, _ in PROBES}))
@pytest.mark.parametrize("status", [200, 400, 422])
async def test_one_route_that_lets_a_neighbour_through_is_enough(path: str, status: int) -> None:
    async with http_port(saying(401, but={path: status})) as port:
        why, certain = await found(port)
        assert certain
        assert why is not None
        for word in (
            path,
            f"{HOST}:{port}",
            "weightrollout.plugin.guard.Guard",
            "--host=127.0.0.1",
        ):
            assert word in why


@pytest.mark.parametrize("status", [302, 500, 503])
async def test_answer_that_is_neither_counts_as_open_until_it_is_known(status: int) -> None:
    async with http_port(saying(status)) as port:
        why, certain = await found(port)
        assert not certain
        assert "not known yet" in (why or "")


async def test_port_on_another_address_is_closed() -> None:
    door = http_door(PodAddress("127.0.0.2"), f"http://{HOST}:1", EngineAccess())
    assert await door.ask_at("127.0.0.2") == (None, True)


async def test_question_of_a_neighbour_touches_nothing_in_an_open_engine(tmp_path: Path) -> None:
    async with pod_over_http(tmp_path, f"--pod-ip={HOST}") as pod:
        await pod.hello()
        state = await pod.until(lambda it: it.incompatible_reason != "")
        assert state.incompatible_reason == "ControlPortExposed"
        assert state.ready
        with pytest.raises(Refusal, match="ControlPortExposed"):
            await pod.stage("b")
        told = await pod.engine.state()
        assert (told["paused"], told["session"], told["version"]) == (None, "", "default")


def test_token_goes_with_the_protocol_that_asks_for_one(tmp_path: Path) -> None:
    volumes = (f"--staging={tmp_path}", f"--handover={tmp_path}")
    with pytest.raises(BadFlag, match="--engine-protocol=http"):
        check(parse([*volumes, "--engine-token-file=token"]))
    check(parse([*volumes, "--engine-token-file=token", *FLAGS]))
