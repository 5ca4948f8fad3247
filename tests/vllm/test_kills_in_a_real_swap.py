"""Whoever is killed wherever in a swap of a real vLLM: the pod ends with the right weights, or with a restarted engine.

The product's agent, a real engine and its plugin; what is killed stops at the place first, so that it dies just there. Meanwhile
a client asks the engine without end: every answer must be one of the old or of the new weights.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import aiohttp
import pytest

from localcluster.waiting import eventually
from realvllm import tiny
from realvllm.client import Answer, Answers, Client, Refused, difference
from realvllm.control import CALL_S
from realvllm.engine import engine
from realvllm.families import FAMILIES
from realvllm.halting import PREPARE, UPDATE
from realvllm.halting.agent import after, before
from realvllm.pod import (
    CORE,
    FRONTEND,
    SETTLES_S,
    WORKER,
    RealPod,
    halts_in,
    kept,
    real_pod,
)
from realvllm.tiny import Pair
from weightrollout.swap.records import Step

AGENT: Final = "agent"
SERVER: Final = "server"
#: Where an agent can be killed without a restart of the engine, which would take half a minute.
AGENT_DIES: Final = (
    before(Step.INIT),
    PREPARE,
    after(Step.PREPARED),
    after(Step.PAUSE),
    after(Step.START),
    UPDATE,
    after(Step.UPDATE),
    after(Step.RECEIPTS),
    after(Step.FINISH),
    before(Step.RESUME),
    after(Step.RESUME),
    after(Step.PROMPTS),
)
#: (victim, place): the engine restarts after each.
ENGINE_DIES: Final = (
    (WORKER, PREPARE),
    (CORE, after(Step.PAUSE)),
    (SERVER, after(Step.START)),
    (WORKER, UPDATE),
    (CORE, UPDATE),
    (FRONTEND, UPDATE),
    (CORE, after(Step.RECEIPTS)),
    (CORE, after(Step.FINISH)),
    (WORKER, after(Step.RESUME)),
)
ALL_ENGINE_DIES: Final = tuple(
    (victim, place) for place in AGENT_DIES for victim in (CORE, WORKER, FRONTEND, SERVER)
)
CHOSEN: Final = ALL_ENGINE_DIES if os.environ.get("WEIGHTROLLOUT_KILLS") == "all" else ENGINE_DIES
#: Longer than a block of the prefix cache, so that keys and values of other weights would show.
LONG: Final = "The quick brown fox jumps over the lazy dog. " * 4
#: Of the same weights with and without that cache: other shapes, so other rounding. Others are at least 0.5 away.
NEAR: Final = 0.05


@dataclass
class Asking:
    """A client without end. Answers that are of neither version are kept."""

    client: Client
    known: dict[str, Answer]
    wrong: list[Answer] = field(default_factory=list)
    answered: int = 0

    async def ask(self) -> None:
        while True:
            try:
                [answer] = await self.client.answers((LONG,), max_tokens=1, deadline_s=CALL_S)
            except (aiohttp.ClientError, TimeoutError, OSError, Refused):
                await asyncio.sleep(0.05)  # it is killed, starts, or is paused
                continue
            self.answered += 1
            if all(difference([answer], [each]) > NEAR for each in self.known.values()):
                self.wrong.append(answer)


@dataclass
class Ground:
    pod: RealPod
    fresh: dict[str, Answers]
    first: dict[str, Answer]  # to the long prompt
    serves: str = "a"

    def kill(self, victim: str) -> None:
        running = self.pod.running
        if victim == SERVER:
            running.kill()
        else:
            running.kill_one(victim)

    async def strike(self, victim: str, place: str) -> None:
        """Swap to the other version, kill at the place, and see what becomes of it."""
        pod, to = self.pod, "b" if self.serves == "a" else "a"
        instance = (await pod.settled()).engine.instance
        async with self.asked():
            pod.halts.arm(place)
            swapping = asyncio.create_task(pod.attempt(to))
            await eventually(pod.halts.is_reached, SETTLES_S, f"somebody comes by {place}")
            if victim == AGENT:
                await pod.agent.end(signal.SIGKILL)
                await asyncio.gather(swapping, return_exceptions=True)  # its connection is cut
                await pod.agent.start()
                if place == UPDATE:  # the next agent finds the engine in the middle of it
                    await pod.until(lambda it: it.transaction.phase == "Transferring")
            else:
                self.kill(victim)
            pod.halts.go_on()
            if victim != AGENT:
                await swapping
                await pod.until(lambda it: it.engine.instance not in ("", instance))
            claimed = await pod.settled()
        await self.holds(claimed.serving.version)
        await pod.bring(to)
        self.serves = to
        await self.holds(pod.weights(to).version)
        assert pod.litter() == []

    async def holds(self, claimed: str) -> None:
        """What the pod says that it holds is what it answers with."""
        names = {"": "", "default": "a", "v-a": "a", "v-b": "b"}
        if name := names[claimed]:
            assert difference(await self.pod.answers(), self.fresh[name]) == 0.0

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[None]:
        running = self.pod.running
        asking = Asking(Client(running.http_url, str(running.launch.model)), self.first)
        task = asyncio.create_task(asking.ask())
        try:
            yield
            before_end = asking.answered
            await eventually(lambda: asking.answered > before_end, SETTLES_S, "it answers")
        finally:
            task.cancel()
            await asyncio.wait({task})
        assert asking.wrong == []


async def first_answers(client: Client) -> tuple[Answers, Answer]:
    [first] = await client.answers((LONG,), max_tokens=1, deadline_s=CALL_S)
    return await client.answers(deadline_s=CALL_S), first


@asynccontextmanager
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    pair: Pair = tiny.pair(FAMILIES["qwen3_tied"])
    async with engine(tmp_path / "b", pair.b.launch("")) as running:
        of_b, first_of_b = await first_answers(Client(running.http_url, str(pair.b.target)))
    launch = replace(pair.a.launch(), environment=halts_in(tmp_path))
    checkpoints = {"a": pair.a.target, "b": pair.b.target}
    async with (
        engine(tmp_path / "a", launch) as running,
        kept(running),
        real_pod(tmp_path, running, checkpoints) as pod,
    ):
        of_a, first_of_a = await first_answers(Client(running.http_url, str(pair.a.target)))
        first = {"a": first_of_a, "b": first_of_b}
        assert difference([first_of_a], [first_of_b]) > 10 * NEAR
        await pod.hello()
        yield Ground(pod, {"a": of_a, "b": of_b}, first)


async def test_agent_that_is_killed_finds_the_way_to_right_weights(tmp_path: Path) -> None:
    """The engine lives on: no swap needs a restart."""
    async with ground(tmp_path) as here:
        instance = (await here.pod.settled()).engine.instance
        for place in AGENT_DIES:
            print("killed: agent at", place, flush=True)
            await here.strike(AGENT, place)
        assert (await here.pod.settled()).engine.instance == instance


@pytest.mark.parametrize("half", [0, 1])
async def test_engine_that_is_killed_starts_again_and_is_brought_to_right_weights(
    tmp_path: Path, half: int
) -> None:
    async with ground(tmp_path) as here:
        for victim, place in CHOSEN[half::2]:
            print("killed:", victim, "at", place, flush=True)
            await here.strike(victim, place)
