"""The kubelet is about to end the engine (/prestop): no request is lost, no half-loaded engine answers, nothing new begins."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from localcluster.waiting import eventually
from onepod import ENDS_S, OnePod, Refusal, one_pod
from weightrollout.agent import departure
from weightrollout.api import names
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = pytest.mark.slow

#: Longer than any of these tests runs.
LONG_S: Final = 120


async def prestop(pod: OnePod, seconds: float | str = LONG_S) -> tuple[int, str]:
    """Status, and why it was answered."""
    url = f"http://{pod.agent.host}:{names.DEFAULT_HTTP_PORT}/prestop?seconds={seconds}"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, (await response.json()).get("left", "")


@asynccontextmanager
async def client(
    pod: OnePod, tokens: int, *, ends: bool = True
) -> AsyncIterator["asyncio.Task[str]"]:
    """A stream that has begun; its end is its finish reason."""
    begun = asyncio.Event()

    async def read() -> str:
        body = {"prompt": "tell me", "max_tokens": tokens, "stream": True}
        url = f"{pod.engine.http_url}/v1/completions"
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
            last = ""
            async for line in response.content:
                begun.set()
                last = line.decode().strip() or last
            return last

    stream = asyncio.create_task(read())
    await asyncio.wait_for(begun.wait(), ENDS_S)
    try:
        yield stream
        if ends:
            await asyncio.wait_for(stream, ENDS_S)
    finally:
        stream.cancel()
        await asyncio.gather(stream, return_exceptions=True)


async def until_calls(pod: OnePod, call: str, count: int = 1) -> None:
    async def called() -> bool:
        return bool((await pod.engine.state())["calls"].get(call, 0) >= count)

    await eventually(called, ENDS_S, f"{call} was sent")


async def ended(pod: OnePod, txn: str = "txn-1") -> pb.Transaction:
    state = await pod.until(lambda it: it.transaction.txn == txn and it.transaction.outcome != "")
    return state.transaction


async def begin(pod: OnePod, **fields: Any) -> "asyncio.Task[pb.Transaction]":
    await pod.hello()
    await pod.stage("b")
    await pod.reserve("b")
    return asyncio.create_task(pod.swap("b", **fields))


async def test_requests_that_run_may_end_and_the_pod_is_out_at_once(tmp_path: Path) -> None:
    async with one_pod(tmp_path, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        async with client(pod, tokens=80) as stream:
            leaving = asyncio.create_task(prestop(pod))
            await pod.until(lambda state: state.not_ready_reason == "PodLeaving")
            assert await pod.readyz() == (503, "PodLeaving")
            assert await leaving == (200, "Idle")
        assert stream.result() == "data: [DONE]"


async def test_it_can_be_told_again_and_each_call_waits_for_itself(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        calls = (prestop(pod), prestop(pod, 0), prestop(pod))
        answers = [why for _, why in await asyncio.gather(*calls)]
        assert answers == ["Idle", "GraceOver", "Idle"]
        assert await prestop(pod, 0) == (200, "GraceOver")


@pytest.mark.parametrize("seconds", ["-1", "soon", "nan", "1e9"])
async def test_a_grace_that_nobody_can_mean_is_refused_and_changes_nothing(
    tmp_path: Path, seconds: str
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        assert (await prestop(pod, seconds))[0] == 400
        assert await pod.readyz() == (200, "")


async def test_requests_that_do_not_end_hold_the_kubelet_no_longer_than_the_grace(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        async with client(pod, tokens=100_000, ends=False) as stream:
            assert await prestop(pod, 0.5) == (200, "GraceOver")
            assert not stream.done()


async def test_nothing_new_begins_on_a_pod_that_is_leaving(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await prestop(pod)
        for call in (pod.stage("c"), pod.reserve("b")):
            with pytest.raises(Refusal, match="PodLeaving"):
                await call
        assert (await pod.engine.state())["calls"].get("PauseGeneration", 0) == 0


async def test_reservation_is_given_back_and_its_swap_does_not_begin(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b")
        await prestop(pod)
        state = await pod.state()
        assert not state.HasField("reservation")
        with pytest.raises(Refusal, match="NotReserved"):
            await pod.swap("b")


async def test_swap_that_drains_is_given_up_and_its_requests_go_on(tmp_path: Path) -> None:
    async with one_pod(tmp_path, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        async with client(pod, tokens=100) as stream:
            swap = await begin(pod, drain_seconds=20.0)
            await pod.until(lambda state: state.transaction.phase == "Draining")
            await until_calls(pod, "metrics")
            assert await prestop(pod) == (200, "Idle")
            end = await swap
        assert stream.result() == "data: [DONE]"
        assert (end.outcome, end.failure_class, end.reason) == (
            "Untouched",
            "Environment",
            "PodLeaving",
        )
        assert (await pod.engine.state())["calls"].get("PauseGeneration", 0) == 0
        assert not (await pod.state()).attempts


async def test_swap_that_has_paused_and_not_started_resumes_at_once(tmp_path: Path) -> None:
    """What is frozen goes on with the weights that it began with."""
    async with one_pod(tmp_path, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        await pod.engine.set_faults({"call": "PauseGeneration", "do": "slow", "seconds": 1.0})
        async with client(pod, tokens=60) as stream:
            swap = await begin(pod, drain_seconds=0.0)
            await until_calls(pod, "PauseGeneration")
            assert await prestop(pod) == (200, "Idle")
            end = await swap
        assert stream.result() == "data: [DONE]"
        assert (end.outcome, end.reason) == ("Untouched", "PodLeaving")
        engine = await pod.engine.state()
        assert engine["paused"] is None
        assert engine["calls"].get("StartWeightUpdate", 0) == 0
        assert await pod.answers_with("a")


@pytest.mark.parametrize(
    "call", ["StartWeightUpdate", "UpdateWeights", "FinishWeightUpdate", "ResumeGeneration"]
)
async def test_swap_that_has_started_is_finished_before_the_engine_ends(
    tmp_path: Path, call: str
) -> None:
    async with one_pod(tmp_path, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        await pod.engine.set_faults({"call": call, "do": "slow", "seconds": 1.0, "at": 1})
        async with client(pod, tokens=60) as stream:
            swap = await begin(pod, drain_seconds=0.0)
            await until_calls(pod, call)
            assert await prestop(pod) == (200, "Idle")
            assert (await swap).outcome == "Committed"
        assert stream.result() == "data: [DONE]"
        assert await pod.answers_with("b")
        assert await pod.readyz() == (503, "PodLeaving")


async def test_call_of_start_that_failed_with_nobody_knowing_how_is_made_good_all_the_same(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        faults = {"call": "StartWeightUpdate", "do": "error_after", "at": 1}
        slow = {"call": "UpdateWeights", "do": "slow", "seconds": 0.5, "at": 1}
        await pod.engine.set_faults(faults, slow)
        swap = await begin(pod, drain_seconds=0.0)
        await until_calls(pod, "StartWeightUpdate")
        assert await prestop(pod) == (200, "Idle")
        assert (await swap).outcome == "Committed"


async def test_engine_that_cannot_be_made_whole_is_not_waited_for(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "error"})
        swap = await begin(pod, drain_seconds=0.0)
        await until_calls(pod, "UpdateWeights")
        assert await prestop(pod) == (200, "Poisoned")
        assert (await swap).outcome == "Poisoned"


async def test_engine_that_is_too_busy_to_say_who_it_is_finishes_its_swap_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "slow", "seconds": 6.0})
        swap = await begin(pod, drain_seconds=0.0)
        await until_calls(pod, "UpdateWeights")
        await pod.engine.set_faults({"call": "GetServerInfo", "do": "hang"})
        await pod.until(lambda state: not state.engine.reachable)
        leaving = asyncio.create_task(prestop(pod))
        await eventually(lambda: "ended: at most" in caplog.text, ENDS_S, "the hook was called")
        await pod.engine.set_faults()
        assert await leaving == (200, "Idle")
        assert (await swap).outcome == "Committed"


async def test_engine_that_is_gone_already_is_not_waited_for(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        pod.engine.kill()
        await pod.engine.exit_code()
        await pod.until(lambda state: not state.engine.reachable)
        assert await prestop(pod) == (200, "EngineGone")


async def test_engine_that_ends_by_itself_meanwhile_is_not_waited_for(tmp_path: Path) -> None:
    async with one_pod(tmp_path, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        leaving = asyncio.create_task(prestop(pod))
        await pod.until(lambda state: state.not_ready_reason == "PodLeaving")
        pod.engine.kill()
        assert await leaving == (200, "EngineGone")


async def test_engine_that_is_started_again_serves_and_is_swapped_as_any_other(
    tmp_path: Path,
) -> None:
    """The hook also runs where the kubelet ends the container alone, as for its liveness probe."""
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        await prestop(pod)
        await pod.engine.restart()
        await pod.until(lambda state: state.ready)
        assert await pod.readyz() == (200, "")
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"


async def test_engine_that_is_not_ended_after_all_serves_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reaches the port can announce an end; only the kubelet can bring it."""
    monkeypatch.setattr(departure, "STAYS_S", 0.3)
    async with one_pod(tmp_path) as pod:
        await pod.hello()
        assert (await prestop(pod, 0))[0] == 200
        await pod.until(lambda state: state.ready)
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"


async def test_agent_that_must_end_meanwhile_waits_until_the_engine_is_drained(
    tmp_path: Path,
) -> None:
    """As a container of its own it gets SIGTERM with the engine; a native sidecar gets it after."""
    async with one_pod(tmp_path, killable=True, token_seconds=0.05) as pod:
        await pod.until(lambda state: state.ready)
        async with client(pod, tokens=80) as stream:
            leaving = asyncio.create_task(prestop(pod))
            await pod.until(lambda state: state.not_ready_reason == "PodLeaving")
            over = asyncio.create_task(pod.agent.end(signal.SIGTERM))
            assert await leaving == (200, "Idle")
        assert stream.result() == "data: [DONE]"
        assert await over == 0
