"""One pod for many misbehaviours, one after the other, under live traffic that is checked word by word.

Every test begins with a pod that serves `b`, proven and in service; the swap that goes wrong is to `c`.

end = await ground.swap_under(fault("UpdateWeights", "hang"), deadline_s=1.0)
await ground.recovers()
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from checkpoints import fingerprint
from fleet.traffic import Traffic
from localcluster.router import Backend
from localcluster.waiting import eventually
from onepod import ENDS_S, OnePod, one_pod
from simulator.answers import explain, split
from weightrollout.api.swap import SwapPhase
from weightrollout.swap.patience import CALL_S, Patience
from weightrollout.wire.agent import agent_pb2 as pb

#: A hung call is given up after this; a good one takes milliseconds, on a busy machine tens of them.
CALL: Final = 0.5
#: A client gives a hung request up after this, so that it can see the engine recover.
HUNG_S: Final = 10.0
SHORT: Final = Patience(
    call_s=dict.fromkeys(CALL_S, CALL), info_s=CALL, read_back_s=CALL, grace_s=0.3, least_s=CALL
)
#: Longer than all calls of one cycle that may hang.
DEADLINE_S: Final = 6.0


def fault(call: str, do: str, **more: Any) -> dict[str, Any]:
    return {"call": call, "do": do, **more}


class ReadyPod:
    """The engine while its agent says ready; asks often, as no kubelet could."""

    def __init__(self, pod: OnePod) -> None:
        self._pod = pod
        self.ready = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._follow())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def pick(self) -> Backend:
        if not self.ready:
            raise LookupError("not ready")
        engine = self._pod.engine
        return Backend("pod", engine.address, engine.http_port)

    async def _follow(self) -> None:
        while True:
            try:
                self.ready = (await self._pod.readyz())[0] == 200
            except (aiohttp.ClientError, OSError, TimeoutError):
                self.ready = False
            await asyncio.sleep(0.05)


@dataclass
class Misbehaving:
    pod: OnePod
    router: ReadyPod
    traffic: Traffic
    ended: asyncio.Event = field(default_factory=asyncio.Event)  # the newest stream
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def txn(self) -> str:
        return f"txn-{next(self.numbers)}"

    async def reserved(self, name: str) -> str:
        """Staged, reserved, and out of the clients' sight."""
        txn = self.txn()
        progress = await self.pod.stage(name, keep=tuple(self.pod.digests.values()))
        assert not progress.reason, progress
        await self.pod.reserve(name, txn)
        await eventually(lambda: not self.router.ready, ENDS_S, "clients have noticed")
        return txn

    async def swap_under(
        self, *faults: dict[str, Any], deadline_s: float = DEADLINE_S, **fields: Any
    ) -> pb.Transaction:
        """To `c`, while the faults are there; `fields` are those of the request."""
        txn = await self.reserved("c")
        await self.pod.engine.set_faults(*faults)
        fields = {"drain_seconds": 0.5, **fields}
        return await self.pod.swap("c", txn, deadline_s=deadline_s, **fields)

    async def swap_under_from(
        self, phase: SwapPhase, *faults: dict[str, Any], deadline_s: float = DEADLINE_S
    ) -> pb.Transaction:
        """The faults come when the swap to `c` has reached the phase; Start is slow enough for that."""
        txn = await self.reserved("c")
        await self.pod.engine.set_faults(fault("StartWeightUpdate", "slow", at=1, seconds=0.4))
        request = self.pod.swap_request("c", txn, deadline_s=deadline_s, drain_seconds=0.5)
        last = pb.SwapProgress()
        async for last in self.pod.stub.Swap(request, timeout=ENDS_S):
            if last.transaction.phase == phase:
                await self.pod.engine.set_faults(*faults)
        return last.transaction

    async def in_service_with(self, name: str) -> bool:
        return await self.pod.readyz() == (200, "") and await self.pod.answers_with(name)

    # -- clients of the test's own --------------------------------------------------------

    async def ask(self, prompt: str) -> list[str]:
        """The words of one whole answer."""
        body = {"prompt": prompt, "max_tokens": 5}
        async with (
            aiohttp.ClientSession(self.pod.engine.http_url) as session,
            session.post("/v1/completions", json=body) as response,
        ):
            return split((await response.json())["choices"][0]["text"])

    @asynccontextmanager
    async def stream(self, prompt: str) -> AsyncIterator[list[str]]:
        """Held open until the context ends; its words so far. It has begun when this is entered."""
        words: list[str] = []
        self.ended.clear()
        held = asyncio.create_task(self._hold(prompt, words))
        try:
            await self.heard(words, 3)
            yield words
        finally:
            held.cancel()
            await asyncio.gather(held, return_exceptions=True)

    async def heard(self, words: list[str], count: int) -> None:
        await eventually(lambda: len(words) >= count, ENDS_S, f"{count} words")

    async def stream_ended(self) -> None:
        await asyncio.wait_for(self.ended.wait(), ENDS_S)

    async def _hold(self, prompt: str, words: list[str]) -> None:
        body = {"prompt": prompt, "max_tokens": 1_000_000, "stream": True}
        async with (
            aiohttp.ClientSession(self.pod.engine.http_url) as session,
            session.post("/v1/completions", json=body) as response,
        ):
            async for line in response.content:
                data = line.decode().strip().removeprefix("data: ")
                if data and data != "[DONE]":
                    text = json.loads(data)["choices"][0]["text"]
                    words.extend([text] if text else [])
        self.ended.set()

    def explains(self, prompt: str, words: list[str], *, parts: int = 2) -> tuple[str, ...] | None:
        known = {name: fingerprint(self.pod.checkpoints[name]) for name in ("a", "b", "c")}
        return explain(words, prompt, known, parts=parts)

    # -- the way back -----------------------------------------------------------------------

    async def restart(self, serve: str | None = "b") -> None:
        """As the operator and the kubelet do with an engine that is poisoned."""
        await self.pod.engine.set_faults()
        await self.pod.restart_engine(serve)
        await self.pod.engine.exit_code()
        await self.come_back()

    async def come_back(self) -> None:
        await self.pod.engine.restart()
        await self.known()

    async def known(self) -> pb.AgentState:
        """What the agent says once it knows the process that really runs."""
        instance = self.pod.engine.instance
        return await self.pod.until(lambda state: state.engine.instance == instance)

    async def settle(self) -> None:
        """What every test begins with."""
        await self.pod.engine.set_faults()
        if (await self.pod.state()).serving.version != "v-b" or not self.router.ready:
            await self.recovers()

    async def recovers(self, name: str = "b") -> None:
        """The next swap, with an engine that behaves, is a good one; no answer went unexplained."""
        await self.pod.engine.set_faults()
        if (await self.known()).poisoned:
            await self.restart(name)
        txn = await self.reserved(name)
        end = await self.pod.swap(name, txn)
        assert (end.outcome, end.reason) == ("Committed", ""), end
        await eventually(lambda: self.router.ready, ENDS_S, "clients are let in again")
        await self.traffic.more(2)
        assert await self.in_service_with(name)
        assert self.traffic.tally.unexplained == 0, self.traffic.tally.complaints


@asynccontextmanager
async def misbehaving(
    folder: Path, *, baseline: bool = False, **flags: Any
) -> AsyncIterator[Misbehaving]:
    """Two ranks, so that one of them can lie. Clients run from the first swap to `b` on.

    `baseline`: without that swap, so that base weights may answer clients too. `flags`: of `one_pod`.
    """
    async with one_pod(folder, patience=SHORT, ranks=2, token_seconds=0.004, **flags) as pod:
        names = ("a", "b", "c") if baseline else ("b", "c")
        known = {name: fingerprint(pod.checkpoints[name]) for name in names}
        await pod.hello()
        if not baseline:
            end = await pod.bring("b", "txn-0")
            assert end.outcome == "Committed", end
        router = ReadyPod(pod)
        clients = Traffic(router, known=known, clients=2, deadline_s=HUNG_S)
        async with router, clients as traffic:
            yield Misbehaving(pod, router, traffic)
