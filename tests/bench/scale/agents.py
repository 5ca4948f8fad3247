"""Agents of a large fleet in one process: the wire, the order of a swap and its time, and no engine.

Each listens on a port of its own with a certificate of its own, as the real one does. What a swap costs an
agent or an engine is measured elsewhere; here they only have to keep an operator as busy as they would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import grpc
import grpc.aio

from weightrollout.agent import certificate
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.service import refuse
from weightrollout.api.names import CAPABILITIES
from weightrollout.api.swap import Outcome, SwapPhase
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent import agent_pb2_grpc as wire

HOST: Final = "127.0.0.1"
PARTS: Final = 5  # of a staging: it is reported after each
BYTES: Final = 1_503_264_768
BEFORE: Final = (SwapPhase.DRAINING, SwapPhase.PAUSING)
#: After the transfer, which is what takes its time.
AFTER: Final = (SwapPhase.CHECKING, SwapPhase.FINISHING, SwapPhase.RESUMING)


@dataclass
class Times:
    """Of all agents of a fleet; may be changed between rollouts."""

    staging_s: float = 0.2
    swap_s: float = 0.2


class SimulatedAgent(wire.AgentServicer):
    """`on_ready` is called when its readiness port would begin to answer otherwise."""

    def __init__(self, name: str, times: Times, on_ready: Callable[[SimulatedAgent], None]) -> None:
        self.name = name
        self.port = 0
        self.ready = True
        self.unready_since = 0.0  # time.monotonic()
        self.paused_at = 0.0  # time.monotonic() of its newest pause
        self._restarts = 0
        self._whole = (
            True  # it holds what it is meant to: not after a restart, until it was swapped
        )
        self._times = times
        self._on_ready = on_ready
        self._server: grpc.aio.Server | None = None
        self._changed = asyncio.Event()
        self._works: dict[str, asyncio.Task[None]] = {}  # by digest or transaction
        self._state = pb.AgentState(
            agent_version="simulated",
            ready=True,
            capabilities=sorted(CAPABILITIES),
            engine=pb.EngineState(
                reachable=True, instance=f"{name}/1", engine_version="0.32.0", baseline=True
            ),
        )

    async def start(self) -> None:
        self._server = grpc.aio.server()
        wire.add_AgentServicer_to_server(self, self._server)
        self.port = self._server.add_secure_port(f"{HOST}:0", certificate.own())
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(0)

    async def Hello(self, request: pb.HelloRequest, context: Any) -> pb.AgentState:  # noqa: N802 - gRPC's name
        self._state.fence.CopyFrom(request.fence)
        return self._state

    async def Watch(self, request: pb.WatchRequest, context: Any) -> AsyncIterator[pb.AgentState]:  # noqa: N802 - gRPC's name
        while True:
            changed = self._changed
            yield self._state
            try:
                async with asyncio.timeout(request.heartbeat_seconds):
                    await changed.wait()
            except TimeoutError:
                pass  # a heartbeat

    async def Stage(  # noqa: N802 - gRPC's name
        self, request: pb.StageRequest, context: Any
    ) -> AsyncIterator[pb.StageProgress]:
        digest, uri = request.weights.digest, request.weights.uri
        self._begin(f"stage {digest}", lambda: self._stage(digest, uri))
        while digest not in self._state.staged:
            changed = self._changed
            yield self._state.staging
            await changed.wait()
        yield pb.StageProgress(digest=digest, uri=uri, bytes=BYTES, total=BYTES, done=True)

    async def Reserve(self, request: pb.ReserveRequest, context: Any) -> pb.ReserveResponse:  # noqa: N802 - gRPC's name
        await self._refuse_without_engine(context)
        self._state.reservation.CopyFrom(
            pb.Reservation(txn=request.txn, take_out=request.take_out, ttl_seconds=30)
        )
        self._say(ready=self._whole and request.take_out == pb.TAKE_OUT_NONE)
        return pb.ReserveResponse()

    async def Release(self, request: pb.ReleaseRequest, context: Any) -> pb.ReleaseResponse:  # noqa: N802 - gRPC's name
        self._state.ClearField("reservation")
        self._say(ready=self._whole)
        return pb.ReleaseResponse()

    async def Swap(self, request: pb.SwapRequest, context: Any) -> AsyncIterator[pb.SwapProgress]:  # noqa: N802 - gRPC's name
        if self._state.transaction.txn != request.txn:
            await self._refuse_without_engine(context)
            self._begin(request.txn, lambda: self._swap(request))
        while True:
            changed, said = self._changed, self._state.transaction
            if said.txn == request.txn:
                yield pb.SwapProgress(transaction=said)
                if said.outcome:
                    return
            await changed.wait()

    async def RestartEngine(  # noqa: N802 - gRPC's name
        self, request: pb.RestartEngineRequest, context: Any
    ) -> pb.RestartEngineResponse:
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "there is no engine")
        raise AssertionError("abort raises")

    async def _refuse_without_engine(self, context: Any) -> None:
        """As the real one: a call that crossed the end of the engine must not be answered by nothing."""
        if not self._state.engine.reachable:
            message = "the engine does not answer"
            await refuse(context, Refused(RefusalReason.ENGINE_UNREACHABLE, message))

    @property
    def loaded(self) -> str | None:
        """The version that its engine would report now; None: it answers nobody."""
        if not self._state.engine.reachable:
            return None
        return self._state.serving.version or "default"

    @property
    def instance(self) -> str:
        """Of its engine: another one after each restart."""
        return self._state.engine.instance

    @property
    def epoch(self) -> int:
        """Of the newest leader that it was told."""
        return self._state.fence.epoch

    async def restart_engine(self, away_s: float) -> None:
        """It ends between two swaps, and comes back with the weights that it was born with: not ready until it is swapped."""
        await asyncio.gather(*self._works.values(), return_exceptions=True)
        engine, self._restarts = self._state.engine, self._restarts + 1
        engine.reachable = self._whole = False
        self._state.ClearField("serving")
        self._state.ClearField("reservation")
        self._say(ready=False)
        self.unready_since = (
            0.0  # a container that ends is unready at once, its probe need not fail
        )
        self._on_ready(self)
        await asyncio.sleep(away_s)
        engine.instance, engine.weight_version = f"{self.name}/{1 + self._restarts}", "default"
        engine.baseline = engine.reachable = True
        self._say()

    def _begin(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """It goes on whatever becomes of the stream that asked for it."""
        if name not in self._works:
            task = asyncio.create_task(work())
            self._works[name] = task
            task.add_done_callback(lambda _: self._works.pop(name, None))

    async def _stage(self, digest: str, uri: str) -> None:
        for part in range(1, PARTS) if digest not in self._state.staged else ():
            await asyncio.sleep(self._times.staging_s / PARTS)
            done = BYTES * part // PARTS
            self._state.staging.CopyFrom(
                pb.StageProgress(digest=digest, uri=uri, bytes=done, total=BYTES)
            )
            self._say()
        self._state.ClearField("staging")
        if digest not in self._state.staged:
            self._state.staged.append(digest)
        self._say()

    async def _swap(self, request: pb.SwapRequest) -> None:
        said = pb.Transaction(txn=request.txn, attempt=request.attempt, weights=request.weights)
        begun = time.monotonic()
        self._state.ClearField("reservation")
        for phase in (*BEFORE, SwapPhase.TRANSFERRING, *AFTER):
            if phase is SwapPhase.PAUSING:
                self.paused_at = time.monotonic()
            said.phase = phase
            self._state.transaction.CopyFrom(said)
            self._say()
            await asyncio.sleep(self._times.swap_s if phase is SwapPhase.TRANSFERRING else 0)
        said.phase, said.outcome = SwapPhase.DONE, Outcome.COMMITTED
        said.pause_millis = 1000 * (time.monotonic() - begun)
        self._committed(said)
        self._say(ready=True)

    def _committed(self, said: pb.Transaction) -> None:
        state, self._whole = self._state, True
        if state.serving.version:
            state.last_good.CopyFrom(state.serving)
        state.serving.CopyFrom(said.weights)
        state.told.CopyFrom(said.weights)
        state.engine.baseline = False
        state.engine.weight_version = said.weights.version
        state.transaction.CopyFrom(said)
        if all(each.digest != said.weights.digest for each in state.attempts):
            state.attempts.append(pb.Attempts(digest=said.weights.digest, attempts=1))

    def _say(self, *, ready: bool | None = None) -> None:
        """To everybody who watches. `ready`: None leaves it as it is."""
        if ready is not None and ready != self.ready:
            self.ready = self._state.ready = ready
            self.unready_since = time.monotonic()
            self._on_ready(self)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
