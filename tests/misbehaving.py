"""One pod for many misbehaviours, one after the other, under live traffic that is checked word by word.

Every test begins with a pod that serves `b`, proven and in service; the swap that goes wrong is to `c`.

end = await ground.swap_under(fault("UpdateWeights", "hang"), deadline_s=1.0)
await ground.recovers()
"""

import asyncio
import itertools
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
from weightrollout.api.swap import SwapPhase
from weightrollout.swap.patience import CALL_S, Patience
from weightrollout.wire.agent import agent_pb2 as pb

#: A hung call is given up after this; a good one takes milliseconds, on a busy machine tens of them.
CALL: Final = 0.6
SHORT: Final = Patience(
    call_s=dict.fromkeys(CALL_S, CALL), info_s=CALL, read_back_s=CALL, grace_s=0.5, least_s=CALL
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

    async def restart(self, serve: str | None = "b") -> None:
        """As the operator and the kubelet do with an engine that is poisoned."""
        await self.pod.engine.set_faults()
        await self.pod.restart_engine(serve)
        await self.pod.engine.exit_code()
        await self.come_back()

    async def come_back(self) -> None:
        await self.pod.engine.restart()
        instance = self.pod.engine.instance
        await self.pod.until(lambda state: state.engine.instance == instance)

    async def recovers(self, name: str = "b") -> None:
        """The next swap, with an engine that behaves, is a good one; no answer went unexplained."""
        await self.pod.engine.set_faults()
        if (await self.pod.state()).poisoned:
            await self.restart(name)
        txn = await self.reserved(name)
        end = await self.pod.swap(name, txn)
        assert (end.outcome, end.reason) == ("Committed", ""), end
        await eventually(lambda: self.router.ready, ENDS_S, "clients are let in again")
        await self.traffic.more(2)
        assert await self.in_service_with(name)
        assert self.traffic.tally.unexplained == 0, self.traffic.tally.complaints


@asynccontextmanager
async def misbehaving(folder: Path) -> AsyncIterator[Misbehaving]:
    """Two ranks, so that one of them can lie. Clients run from the first swap to `b` on."""
    async with one_pod(folder, patience=SHORT, ranks=2, token_seconds=0.004) as pod:
        known = {name: fingerprint(pod.checkpoints[name]) for name in ("b", "c")}
        await pod.hello()
        end = await pod.bring("b", "txn-0")
        assert end.outcome == "Committed", end
        async with ReadyPod(pod) as router, Traffic(router, known=known, clients=2) as traffic:
            yield Misbehaving(pod, router, traffic)
