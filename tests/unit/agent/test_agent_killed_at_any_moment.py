"""Kill -9 of the agent at random moments of swaps: each ends, and the engine answers as it should."""

import asyncio
import random
import signal
from pathlib import Path

import grpc.aio
import pytest

from onepod import OnePod, one_pod
from weightrollout.wire.agent import agent_pb2 as pb

SWAPS = 6
#: A swap takes about 100 ms here: the kill falls into any part of it.
LONGEST_S = 0.15

pytestmark = [pytest.mark.slow, pytest.mark.faults]


async def swap_and_kill(pod: OnePod, name: str, txn: str, after_s: float) -> pb.Transaction | None:
    """The end of the swap as the next agent tells it; None: it had not begun."""
    await pod.reserve(name, txn)
    call = pod.stub.Swap(pod.swap_request(name, txn), timeout=30)
    reading = asyncio.create_task(_read(call))
    await asyncio.wait({reading}, timeout=after_s)
    await pod.agent.end(signal.SIGKILL)
    await reading
    await pod.agent.start()
    state = await pod.until(
        lambda it: (
            it.HasField("reservation")
            or (it.transaction.txn == txn and it.transaction.outcome != "")
        )
    )
    if not state.HasField("reservation"):
        return state.transaction
    await pod.release(txn)
    return None


async def _read(call: grpc.aio.UnaryStreamCall[pb.SwapRequest, pb.SwapProgress]) -> None:
    try:
        async for _ in call:
            pass
    except grpc.aio.AioRpcError:
        pass  # it was killed


async def test_every_swap_ends_and_the_engine_answers_as_its_end_says(tmp_path: Path) -> None:
    moments = random.Random(7)
    async with one_pod(tmp_path, killable=True, update_seconds=0.03) as pod:
        await pod.hello()
        for name in ("b", "c", "wrong"):
            await pod.stage(name, keep=tuple(pod.digests.values()))
        await pod.reserve("b", "txn-b")
        assert (await pod.swap("b", "txn-b")).outcome == "Committed"
        serves = "b"
        for number in range(SWAPS):
            name = moments.choice([each for each in ("b", "c", "wrong") if each != serves])
            end = await swap_and_kill(pod, name, f"txn-{number}", moments.uniform(0.005, LONGEST_S))
            if end is not None:
                assert end.outcome in ("Committed", "Undone", "Untouched"), end
                assert not (end.outcome == "Committed" and name == "wrong")
                serves = name if end.outcome == "Committed" else serves
            state = await pod.until(lambda it: it.ready)
            assert state.serving == pod.weights(serves)
            assert await pod.answers_with(serves)
        assert (await pod.engine.state())["unguardedUpdates"] == 0
