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
from realvllm.halting import FOREIGN, PREPARE, UPDATE
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
from weightrollout.api.swap import Outcome
from weightrollout.handover import files
from weightrollout.swap.records import Step

#: What the plugin prints when it obeys.
ENDS: Final = "weightrollout: this engine ends"
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

    def other(self) -> str:
        return "b" if self.serves == "a" else "a"

    def log(self) -> str:
        """What the engine printed since its first start."""
        return self.pod.running.log.read_text(errors="replace")

    def kill(self, victim: str) -> None:
        running = self.pod.running
        if victim == SERVER:
            running.kill()
        else:
            running.kill_one(victim)

    async def strike(self, victim: str, place: str) -> None:
        """Swap to the other version, kill at the place, and see what becomes of it."""
        pod, to = self.pod, self.other()
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
        await pod.converge(to)
        self.serves = to
        await self.holds(pod.weights(to).version)
        assert pod.litter((await pod.settled()).transaction.txn) == []

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
async def ground(folder: Path, family: str) -> AsyncIterator[Ground]:
    pair = tiny.pair(FAMILIES[family])
    async with engine(folder / "b", pair.b.launch("")) as running:
        of_b, first_of_b = await first_answers(Client(running.http_url, str(pair.b.target)))
    launch = pair.a.launch()
    launch = replace(launch, environment={**launch.environment, **halts_in(folder)})
    checkpoints = {"a": pair.a.target, "b": pair.b.target}
    async with (
        engine(folder / "a", launch) as running,
        kept(running),
        real_pod(folder, running, checkpoints) as pod,
    ):
        of_a, first_of_a = await first_answers(Client(running.http_url, str(pair.a.target)))
        first = {"a": first_of_a, "b": first_of_b}
        assert difference([first_of_a], [first_of_b]) > 10 * NEAR
        await pod.hello()
        yield Ground(pod, {"a": of_a, "b": of_b}, first)


@pytest.fixture(scope="module")
async def here(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ground]:
    """One pod for all: a start takes half a minute."""
    async with ground(tmp_path_factory.mktemp("pod"), "qwen3_tied") as made:
        yield made


@pytest.mark.parametrize("place", AGENT_DIES)
async def test_agent_that_is_killed_finds_the_way_to_right_weights(
    here: Ground, place: str
) -> None:
    """The engine lives on: no swap needs a restart."""
    instance = (await here.pod.settled()).engine.instance
    await here.strike(AGENT, place)
    assert (await here.pod.settled()).engine.instance == instance


@pytest.mark.parametrize("moment", ["at Init", "when it is prepared"])
async def test_reload_that_somebody_else_lost_halfway_does_not_spoil_the_swap(
    here: Ground, moment: str
) -> None:
    pod, to = here.pod, here.other()
    if moment == "at Init":
        pod.halts.arm(FOREIGN)
        ended = await pod.attempt(to)
    else:
        pod.halts.arm(after(Step.PREPARED))
        swapping = asyncio.create_task(pod.attempt(to))
        await eventually(pod.halts.is_reached, SETTLES_S, "it is prepared")
        pod.halts.arm(FOREIGN)
        ended = await swapping
    assert not pod.halts.is_armed(), "nobody reloaded"
    assert ended is not None
    assert ended.outcome == Outcome.COMMITTED, ended
    here.serves = to
    await here.holds(pod.weights(to).version)


async def test_engine_that_is_asked_to_end_ends_whole_and_is_brought_back(here: Ground) -> None:
    """By the request in the handover volume: the plugin hears it before the agent would call Shutdown."""
    pod = here.pod
    instance = (await pod.settled()).engine.instance
    processes, told = set(pod.running.processes()), here.log().count(ENDS)
    assert await pod.restart_engine(here.serves) == instance
    await pod.until(lambda it: it.engine.instance not in ("", instance))
    assert here.log().count(ENDS) == told + 1
    assert processes.isdisjoint(pod.running.processes())
    assert not files.exit_request(pod.handover).exists()
    await pod.converge(here.serves)
    await here.holds(pod.weights(here.serves).version)


@pytest.mark.parametrize(("victim", "place"), CHOSEN)
async def test_engine_that_is_killed_starts_again_and_is_brought_to_right_weights(
    here: Ground, victim: str, place: str
) -> None:
    await here.strike(victim, place)
