"""The operator is gone and the pod goes on: what is out comes back by itself, what serves is left alone."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from localcluster.waiting import eventually
from onepod import OnePod, Refusal, one_pod
from weightrollout.agent import alone_driver, main
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = [pytest.mark.slow, pytest.mark.faults]

SOON = ("--alone-after-seconds=0.5",)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no kubelet here that needs its time, and nobody wants to wait for a second try."""
    monkeypatch.setattr(main, "STABLE_S", 0.2)
    monkeypatch.setattr(alone_driver, "LEAVES_S", 0.5)
    monkeypatch.setattr(alone_driver, "BACK_OFF_S", (0.3, 1.0))
    monkeypatch.setattr(alone_driver, "LOOK_S", 0.1)


async def updates(pod: OnePod) -> int:
    return int((await pod.engine.state())["calls"].get("UpdateWeights", 0))


async def is_alone(pod: OnePod) -> bool:
    return "weightrollout_agent_alone 1.0" in await pod.metrics()


async def engine_dies(pod: OnePod) -> None:
    """And comes back, as under a kubelet."""
    pod.engine.kill()
    await pod.until(lambda it: not it.engine.reachable)
    await pod.engine.restart()


async def test_new_pod_loads_stable_by_itself(tmp_path: Path) -> None:
    async with one_pod(tmp_path, stable="b", agent_flags=SOON) as pod:
        state = await pod.until(lambda it: it.ready)
        assert state.serving == state.told == pod.weights("b")
        assert state.transaction.txn.startswith("alone/chat-b/")
        assert await pod.answers_with("b")
        assert await pod.readyz_body() == (200, {"ready": True})
        assert 'agent_alone_steps_total{reason="",step="Swap"} 1.0' in await pod.metrics()


@pytest.mark.parametrize("served", ["a", "b"])
async def test_pod_that_serves_never_moves_when_stable_changes(tmp_path: Path, served: str) -> None:
    async with one_pod(tmp_path, agent_flags=SOON) as pod:
        await pod.hello()
        if served == "b":
            await pod.bring("b", "txn-1")
        await pod.until(lambda it: it.ready)
        before = await updates(pod)
        pod.publish("c", epoch=9)
        await eventually(lambda: is_alone(pod), 10, "it knows that it is alone")
        await asyncio.sleep(1)  # the fact is that nothing happens in this time
        assert await pod.readyz() == (200, "")
        assert await updates(pod) == before
        assert await pod.answers_with(served)


@pytest.mark.parametrize(
    ("published_by", "loads"),
    [(4, "b"), (5, "c")],  # by an older leader than the one that gave the last order; by the same
)
async def test_restarted_engine_gets_stable_but_never_of_an_older_leader(
    tmp_path: Path, published_by: int, loads: str
) -> None:
    async with one_pod(tmp_path, agent_flags=SOON) as pod:
        pod.epoch = 5
        await pod.hello()
        await pod.bring("b", "txn-1")
        pod.publish("c", published_by)
        await engine_dies(pod)
        state = await pod.until(lambda it: it.ready)
        assert state.serving == pod.weights(loads)
        assert await pod.answers_with(loads)


async def test_operator_that_returns_in_mid_swap_waits_for_its_end_and_goes_on(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path, stable="b", agent_flags=SOON, update_seconds=1.0) as pod:
        await pod.until(lambda it: it.transaction.phase == "Transferring")
        pod.epoch = 3
        state = await pod.hello(takeover=True)
        assert state.transaction.outcome == ""
        await pod.stage("c")
        with pytest.raises(Refusal) as refused:
            await pod.reserve("c", "txn-1")
        assert refused.value.reason == "Busy"
        state = await pod.until(lambda it: it.ready)
        assert state.serving == pod.weights("b")
        assert state.transaction.attempt == 1
        pod.epoch = 2
        with pytest.raises(Refusal) as refused:
            await pod.reserve("c", "txn-1")
        assert refused.value.reason == "StaleEpoch"
        pod.epoch = 3
        assert (await pod.bring("c", "txn-1")).outcome == "Committed"
        assert await updates(pod) == 2


async def test_agent_acts_only_while_nobody_leads(tmp_path: Path) -> None:
    async with one_pod(tmp_path, agent_flags=SOON) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        request = pb.WatchRequest(heartbeat_seconds=0.2, fence=pod.fence())
        watch = pod.stub.Watch(request, timeout=30)
        await watch.read()
        await engine_dies(pod)
        await pod.until(lambda it: it.not_ready_reason == "NotServingTold")
        await asyncio.sleep(1)  # the fact is that nothing happens in this time
        assert await pod.readyz() == (503, "NotServingTold")
        assert "alone" not in (await pod.readyz_body())[1]
        watch.cancel()
        state = await pod.until(lambda it: it.ready)
        assert state.transaction.attempt == 2, "it counts on from the operator's attempts"


async def test_poisoned_engine_is_restarted_once_and_brought_back(tmp_path: Path) -> None:
    async with one_pod(tmp_path, agent_flags=SOON) as pod:
        await pod.hello()
        await pod.bring("b", "txn-1")
        await pod.engine.set_faults({"call": "UpdateWeights", "do": "error"})
        assert (await pod.bring("c", "txn-2")).outcome == "Poisoned"
        await pod.engine.exit_code()
        await pod.engine.restart()
        state = await pod.until(lambda it: it.ready)
        assert state.serving == pod.weights("b")
        assert await pod.answers_with("b")


async def test_source_that_is_away_is_tried_again_and_shown(tmp_path: Path) -> None:
    async with one_pod(tmp_path, agent_flags=SOON) as pod:
        await pod.hello()
        moved = pod.checkpoints["b"].rename(tmp_path / "elsewhere")
        note = await _note(pod, lambda: _start_anew_with_stable(pod, moved))
        assert (note["step"], note["version"]) == ("Nothing", "v-b")
        assert note["message"].startswith("Stage: ")
        moved.rename(pod.checkpoints["b"])
        state = await pod.until(lambda it: it.ready)
        assert state.serving == pod.weights("b")


async def _start_anew_with_stable(pod: OnePod, moved: Path) -> None:
    """A published version whose folder is gone, found by an engine that restarts."""
    folder = pod.checkpoints["b"]
    moved.rename(folder)
    pod.publish("b")
    folder.rename(moved)
    await engine_dies(pod)


async def _note(pod: OnePod, cause: Callable[[], Awaitable[None]]) -> dict[str, str]:
    """What the readiness port says of two failures in a row."""
    await cause()

    async def failed() -> dict[str, str]:
        _, body = await pod.readyz_body()
        alone = body.get("alone", {})
        assert alone.get("failures", 0) >= 2, body
        found: dict[str, str] = alone
        return found

    return await eventually(failed, 20, "two failures are shown")


async def test_engine_that_breaks_every_swap_is_left_for_the_operator(tmp_path: Path) -> None:
    fault = {"call": "PauseGeneration", "do": "error"}
    async with one_pod(tmp_path, stable="b", agent_flags=SOON) as pod:
        await pod.engine.set_faults(fault)
        await pod.until(lambda it: it.transaction.reason == "PauseFailed")

        async def gave_up() -> bool:
            _, body = await pod.readyz_body()
            assert body.get("alone", {}).get("reason") == "GaveUp", body
            return True

        await eventually(gave_up, 20, "it gave up")
        state = await pod.state()
        assert [each.attempts for each in state.attempts] == [2]
        await pod.engine.set_faults()
        await pod.hello()
        assert (await pod.bring("b", "txn-1")).outcome == "Committed"
