"""When the kubelet is told to start an engine anew, and when never."""

from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from localcluster.waiting import eventually
from onepod import ENDS_S, OnePod, one_pod
from weightrollout.agent import liveness
from weightrollout.agent.liveness import ENDS_S as TO_END_S
from weightrollout.agent.liveness import SILENT_S, Life, not_live
from weightrollout.agent.reasons import NotLiveReason
from weightrollout.api import names

WELL = Life(swapping=False, asked_to_end_s=None, dead=False, silent_s=0.0)
HOPELESS = Life(swapping=False, asked_to_end_s=TO_END_S + 1, dead=True, silent_s=SILENT_S + 1)


async def ask(pod: OnePod, path: str) -> tuple[int, str]:
    """Status and reason."""
    url = f"http://{pod.agent.host}:{names.DEFAULT_HTTP_PORT}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, (await response.json()).get("reason", "")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"silent_s": SILENT_S}, None),
        ({"silent_s": SILENT_S + 1}, NotLiveReason.SILENT),
        ({"dead": True}, NotLiveReason.DEAD),
        ({"asked_to_end_s": TO_END_S}, None),
        ({"asked_to_end_s": TO_END_S + 1}, NotLiveReason.DOES_NOT_END),
    ],
)
def test_engine_is_ended_for_these_reasons_alone(
    change: dict[str, float], reason: NotLiveReason | None
) -> None:
    why = not_live(replace(WELL, **change))  # type: ignore[arg-type]
    assert (why.reason if why else None) is reason
    assert why is None or why.message


def test_engine_is_never_ended_in_a_swap_that_has_its_own_deadlines() -> None:
    assert not_live(HOPELESS) is not None
    assert not_live(replace(HOPELESS, swapping=True)) is None


@pytest.mark.slow
async def test_pause_update_staging_and_a_missing_operator_are_no_reason_to_end_an_engine(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path, update_seconds=0.5) as pod:
        await pod.state()
        assert await ask(pod, "/livez") == (200, "")  # no operator has spoken
        await pod.hello()
        await pod.stage("b")
        await pod.reserve("b")
        assert await ask(pod, "/livez") == (200, "")
        seen = set()
        call = pod.stub.Swap(pod.swap_request("b"), timeout=ENDS_S)
        async for each in call:
            seen.add((each.transaction.phase, *await ask(pod, "/livez")))
        assert {"Pausing", "Transferring", "Finishing"} <= {phase for phase, *_ in seen}
        assert {(status, reason) for _, status, reason in seen} == {(200, "")}


@pytest.mark.slow
async def test_engine_whose_core_says_that_it_is_dead_is_ended(tmp_path: Path) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.state()
        await pod.engine.set_faults({"call": "health", "do": "refuse"})

        async def ended() -> bool:
            return await ask(pod, "/livez") == (503, "EngineDead")

        await eventually(ended, ENDS_S, "the kubelet is told")
        await pod.engine.set_faults()

        async def lives() -> bool:
            return await ask(pod, "/livez") == (200, "")

        await eventually(lives, ENDS_S, "the kubelet is told the contrary")


@pytest.mark.slow
async def test_engine_that_answers_nothing_any_more_is_ended_and_one_slow_question_is_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.until(lambda state: state.ready)
        hangs = [{"call": each, "do": "hang"} for each in ("GetServerInfo", "health")]
        await pod.engine.set_faults(hangs[0])
        await pod.until(lambda state: not state.engine.reachable)
        assert await ask(pod, "/livez") == (200, "")
        await pod.engine.set_faults(*hangs)
        assert await ask(pod, "/livez") == (200, "")
        monkeypatch.setattr(liveness, "SILENT_S", 0.5)

        async def ended() -> bool:
            return await ask(pod, "/livez") == (503, "EngineSilent")

        await eventually(ended, ENDS_S, "the kubelet is told")


@pytest.mark.slow
async def test_engine_that_hung_in_its_update_and_hears_no_request_to_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "ENDS_S", 0.5)
    # No plugin that reads the request, and no Shutdown.
    async with one_pod(tmp_path, backend="", unmanaged=True) as pod:
        await pod.until(lambda state: state.ready)
        await pod.hello()
        await pod.restart_engine()

        async def ended() -> bool:
            return await ask(pod, "/livez") == (503, "EngineDoesNotEnd")

        await eventually(ended, ENDS_S, "the kubelet is told")
        await pod.engine.restart()

        async def lives() -> bool:
            return await ask(pod, "/livez") == (200, "")

        await eventually(lives, ENDS_S, "the agent sees another process, and tells the contrary")


@pytest.mark.slow
async def test_engine_has_started_once_it_answers_and_not_by_the_word_of_an_earlier_one(
    tmp_path: Path,
) -> None:
    async with one_pod(tmp_path) as pod:
        await pod.state()
        assert (await ask(pod, "/startupz"))[0] == 200
        pod.engine.kill()
        await pod.engine.exit_code()
        assert (await ask(pod, "/startupz"))[0] == 503
        assert (await ask(pod, "/livez"))[
            0
        ] == 200  # its container is not there, and the kubelet knows
        await pod.engine.restart()

        async def started() -> bool:
            return (await ask(pod, "/startupz"))[0] == 200

        await eventually(started, ENDS_S, "it answers")
