"""agent.proto: every call is let in by the fence, then done by the part that owns it."""

# ruff: noqa: N802 - the methods' names are the proto's

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Final

import grpc
import grpc.aio

from weightrollout.agent import fence, wire_form
from weightrollout.agent.departure import Departure
from weightrollout.agent.engine_watch import EngineWatch
from weightrollout.agent.fitness import refuse_unfit
from weightrollout.agent.liveness import Pulse
from weightrollout.agent.orders import orders_of
from weightrollout.agent.presence import Presence
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.restart import Restarter
from weightrollout.agent.rl import shown
from weightrollout.agent.stage import Stager
from weightrollout.agent.state import Board, undo_content
from weightrollout.agent.swaps import Swaps, write
from weightrollout.clock import Clock
from weightrollout.metrics import Metrics
from weightrollout.swap.book import Book, Reservation
from weightrollout.swap.journal import Journal
from weightrollout.swap.records import BASELINE, Content
from weightrollout.wire.agent import agent_pb2 as pb
from weightrollout.wire.agent import agent_pb2_grpc as grpc_stubs

REFUSAL_KEY: Final = "weightrollout-refusal-bin"
DEFAULT_HEARTBEAT_S: Final = 5.0
LEAST_HEARTBEAT_S: Final = 0.05
MAX_TTL_S: Final = 3600.0

Context = grpc.aio.ServicerContext[Any, Any]


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts that do the work."""

    journal: Journal
    board: Board
    watch: EngineWatch
    stager: Stager
    swaps: Swaps
    restarter: Restarter
    presence: Presence
    pulse: Pulse
    departure: Departure
    clock: Clock
    metrics: Metrics


class AgentService(grpc_stubs.AgentServicer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def Hello(self, request: pb.HelloRequest, context: Context) -> pb.AgentState:
        orders = orders_of(request.driver, request.guard)
        try:
            said = wire_form.fence(request.fence)
            book = self._desk.journal.book
            new = fence.hello(book, said, takeover=request.takeover)
            await self._adopt(replace(new, driver=orders.driver or ""))
        except Refused as refused:
            await refuse(context, refused)
        self._desk.board.orders = orders
        self._desk.board.bell.ring()
        self._desk.presence.heard()
        return self._state()

    async def Watch(
        self, request: pb.WatchRequest, context: Context
    ) -> AsyncIterator[pb.AgentState]:
        beat_s = wire_form.heartbeat(
            request.heartbeat_seconds, DEFAULT_HEARTBEAT_S, LEAST_HEARTBEAT_S
        )
        said = fence.Fence(request.fence.owner_uid, request.fence.epoch)  # lets nobody in
        with self._desk.presence.watched(said):
            while True:
                rung = self._desk.board.bell.next()
                yield self._state()
                await _wait(rung, beat_s)

    async def Stage(
        self, request: pb.StageRequest, context: Context
    ) -> AsyncIterator[pb.StageProgress]:
        try:
            await self._admit(request.fence)
            want = wire_form.content(request.weights)
            if not want.uri:
                raise Refused(RefusalReason.BAD_REQUEST, "weights need a uri")
            sight = await self._desk.watch.fresh(1.0)
            if not self._desk.watch.reachable():
                raise Refused(RefusalReason.ENGINE_UNREACHABLE, "the engine does not answer")
            refuse_unfit(self._desk.board, sight)
            keep = self._keep(request)
            self._desk.stager.hold_to(request.max_bytes_per_second)
            job = await self._desk.stager.stage(want, sight, keep)
        except Refused as refused:
            await refuse(context, refused)
            return
        sent: pb.StageProgress | None = None
        while True:
            rung = self._desk.board.bell.next()
            ended = job.task.done()
            progress = wire_form.staging(job.progress)
            if progress != sent:
                sent = progress
                yield progress
            if ended:
                return
            await _wait(rung, DEFAULT_HEARTBEAT_S)

    async def Reserve(self, request: pb.ReserveRequest, context: Context) -> pb.ReserveResponse:
        try:
            await self._admit(request.fence)
            if not request.txn or not 0 < request.ttl_seconds <= MAX_TTL_S:
                raise Refused(
                    RefusalReason.BAD_REQUEST, f"txn and a ttl up to {MAX_TTL_S:g} s are needed"
                )
            await self._desk.swaps.reserve(
                Reservation(
                    txn=wire_form.txn(request.txn),
                    take_out=wire_form.take_out(request.take_out),
                    ttl_s=request.ttl_seconds,
                    weights=wire_form.swappable(request.weights),
                )
            )
        except Refused as refused:
            await refuse(context, refused)
        return pb.ReserveResponse()

    async def Swap(
        self, request: pb.SwapRequest, context: Context
    ) -> AsyncIterator[pb.SwapProgress]:
        swaps = self._desk.swaps
        try:
            await self._admit(request.fence)
            undo = undo_content(self._desk.journal.book, self._desk.board)
            await swaps.start(wire_form.swap_request(request, undo))
        except Refused as refused:
            await refuse(context, refused)
            return
        while True:
            rung = self._desk.board.bell.next()
            transaction = swaps.find(request.txn)
            if transaction is None:  # ended, and pushed out of memory by later ones
                return
            yield pb.SwapProgress(transaction=wire_form.transaction(transaction))
            if transaction.outcome is not None and self._desk.board.live is None:
                return
            await _wait(rung, DEFAULT_HEARTBEAT_S)

    async def Release(self, request: pb.ReleaseRequest, context: Context) -> pb.ReleaseResponse:
        try:
            await self._admit(request.fence)
            await self._desk.swaps.release(wire_form.txn(request.txn))
        except Refused as refused:
            await refuse(context, refused)
        return pb.ReleaseResponse()

    async def RestartEngine(
        self, request: pb.RestartEngineRequest, context: Context
    ) -> pb.RestartEngineResponse:
        try:
            await self._admit(request.fence)
            serve = wire_form.swappable(request.serve) if request.serve.digest else BASELINE
            reason = wire_form.words(request.reason, wire_form.MAX_REFUSAL)
            instance = await self._desk.restarter.restart(serve, reason)
        except Refused as refused:
            await refuse(context, refused)
        return pb.RestartEngineResponse(instance=instance)

    # -- shared ---------------------------------------------------------------------------

    async def _admit(self, message: pb.Fence) -> None:
        await self._adopt(fence.admit(self._desk.journal.book, wire_form.fence(message)))
        self._desk.presence.heard()

    async def _adopt(self, new: Book) -> None:
        if new != self._desk.journal.book:
            await write(self._desk.journal, new)
            self._desk.board.bell.ring()

    def _state(self) -> pb.AgentState:
        desk = self._desk
        state = wire_form.agent_state(
            desk.journal.book,
            desk.board,
            desk.watch.sight,
            reachable=desk.watch.reachable() and not desk.pulse.dead,
            now=desk.clock.monotonic(),
        )
        trainer = shown.door(desk.journal.book, desk.board, desk.watch.sight)
        if trainer is not None:
            state.trainer.CopyFrom(trainer)
        return state

    def _keep(self, request: pb.StageRequest) -> set[str]:
        """Digests whose images may still be asked for."""
        now = self._desk.journal.book
        held: list[Content | None] = []
        if now.running is not None:
            asked = now.running.state.request
            held = [asked.target, asked.last_good]
        if now.reservation is not None:
            held.append(now.reservation.weights)
        if request.keep_last_good:
            held += [now.last_good, now.told]
        return set(request.keep).union(*(each.digests for each in held if each is not None))


async def refuse(
    context: Context,
    refused: Refused,
    code: grpc.StatusCode = grpc.StatusCode.FAILED_PRECONDITION,
) -> None:
    """Ends the call."""
    await context.abort(
        code,
        # Headers are ASCII, and every other character would take nine bytes of them.
        ascii(f"{refused.reason}: {refused.message}"[: wire_form.MAX_REFUSAL])[1:-1],
        ((REFUSAL_KEY, wire_form.refusal(refused).SerializeToString()),),
    )


async def _wait(rung: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await rung.wait()
    except TimeoutError:
        pass
