"""pauseMode GiveUp beside a real engine: a client's stream that is longer than the drain notices nothing."""

from collections.abc import AsyncIterator
from typing import Any, Final

import pytest

from misbehaving import Misbehaving, fault, misbehaving
from onepod import Refusal
from weightrollout.wire.agent import agent_pb2 as pb

pytestmark = [pytest.mark.slow, pytest.mark.faults]

GIVE_UP: Final = pb.PAUSE_MODE_GIVE_UP
PROMPT: Final = "once upon a time there was an engine"


@pytest.fixture
async def ground(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Misbehaving]:
    async with misbehaving(tmp_path_factory.mktemp("pod")) as ground:
        yield ground


async def calls(ground: Misbehaving) -> dict[str, Any]:
    found: dict[str, Any] = (await ground.pod.engine.state())["calls"]
    return found


async def test_stream_goes_on_and_its_pod_serves_again_and_is_swapped_when_it_has_ended(
    ground: Misbehaving,
) -> None:
    before = await calls(ground)
    async with ground.stream(PROMPT) as words:
        for _ in range(2):
            end = await ground.swap_under(pause_mode=GIVE_UP, drain_seconds=0.3)
            assert (end.outcome, end.reason, end.pause_millis) == ("GaveUp", "RequestsRunning", 0)
            assert end.message == "1 running and 0 waiting requests after 0.3 s"
            state = await ground.pod.until(lambda state: state.ready)
            assert not state.HasField("reservation")
            assert all(each.attempts == 0 for each in state.attempts)
            await ground.heard(words, len(words) + 20)
        assert await ground.in_service_with("b")
        after = await calls(ground)
        for call in ("PauseGeneration", "StartWeightUpdate"):
            assert after[call] == before[call], "nothing was paused"
        assert ground.explains(PROMPT, words, parts=1) == ("b",)
    end = await ground.swap_under(pause_mode=GIVE_UP)
    assert (end.outcome, end.reason) == ("Committed", "")
    assert await ground.in_service_with("c")
    assert ground.traffic.tally.unexplained == 0, ground.traffic.tally.complaints


@pytest.mark.parametrize("do", ["ok_nothing", "error"])
async def test_engine_whose_metrics_cannot_be_read_is_not_paused(
    ground: Misbehaving, do: str
) -> None:
    before = await calls(ground)
    end = await ground.swap_under(fault("metrics", do), pause_mode=GIVE_UP)
    assert (end.outcome, end.failure_class, end.reason) == ("Untouched", "Pod", "DrainFailed")
    assert (await calls(ground)).get("PauseGeneration") == before.get("PauseGeneration")


async def test_mode_of_a_newer_operator_is_refused_and_never_taken_for_keep(
    ground: Misbehaving,
) -> None:
    txn = await ground.reserved("c")
    with pytest.raises(Refusal, match="BadRequest: pause_mode 9 is not known"):
        await ground.pod.swap("c", txn, pause_mode=9)
