"""Reserve, run and finish transactions: one at a time, each step journaled before it is answered."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from weightrollout.agent.drafts import holds, load_of
from weightrollout.agent.engine_watch import EngineSight, EngineWatch
from weightrollout.agent.fitness import refuse_unfit
from weightrollout.agent.handover_volume import read_reports
from weightrollout.agent.outcomes import crashed, told
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.state import Board
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.clock import Clock
from weightrollout.engine.protocol import Engine, Inference
from weightrollout.handover.records import EngineReport
from weightrollout.metrics import AGENT_PAUSE, AGENT_PHASE_SECONDS, AGENT_SWAPS, Metrics
from weightrollout.swap import book, machine
from weightrollout.swap.backends.protocol import Backend
from weightrollout.swap.backends.shared_memory import SharedMemory, forget_others
from weightrollout.swap.book import Reservation, Transaction
from weightrollout.swap.journal import Journal, JournalUnwritable
from weightrollout.swap.patience import Patience
from weightrollout.swap.records import Content, Failure, SwapRequest, SwapState
from weightrollout.swap.run import Hands, SwapRun
from weightrollout.weights.errors import WeightsError
from weightrollout.weights.staging import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a swap needs of the agent."""

    journal: Journal
    board: Board
    watch: EngineWatch
    store: Store
    engine: Engine
    inference: Inference
    handover: Path
    clock: Clock
    metrics: Metrics
    patience: Patience = field(default_factory=Patience)


class Swaps:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._task: asyncio.Task[None] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._running: SwapRun | None = None

    # -- reservation ----------------------------------------------------------------------

    async def reserve(self, wish: Reservation) -> None:
        """Raises Refused. The same transaction again renews the ttl."""
        journal = self._parts.journal
        if journal.book.running is not None and journal.book.running.state.txn == wish.txn:
            return
        self._refuse_other(wish.txn)
        if book.find(journal.book, wish.txn) is not None:
            raise Refused(RefusalReason.TRANSACTION_ENDED, f"{wish.txn} has ended already")
        sight = await self._refuse_unfit(wish.weights)
        self._refuse_other(wish.txn)  # what was awaited may have let another one in
        refuse_unfit(self._parts.board, sight)
        try:
            await write(journal, replace(journal.book, reservation=wish))
        except Refused:
            # Put, perhaps, and not synced: what was not promised must not keep the pod out.
            if journal.book.reservation == wish:
                journal.learn(replace(journal.book, reservation=None))
            raise
        self._arm(wish)
        self._parts.board.bell.ring()

    async def release(self, txn: str) -> None:
        """Give a reservation back; what is not reserved is released already."""
        journal = self._parts.journal
        reservation = journal.book.reservation
        if reservation is None or (txn and reservation.txn != txn):
            return
        self._disarm()
        await write(journal, replace(journal.book, reservation=None))
        self._parts.board.bell.ring()

    def _arm(self, reservation: Reservation) -> None:
        self._disarm()
        self._parts.board.reserved_until = self._parts.clock.monotonic() + reservation.ttl_s
        loop = asyncio.get_running_loop()
        self._expiry = loop.call_later(reservation.ttl_s, self._expire, reservation.txn)

    def _disarm(self) -> None:
        self._parts.board.reserved_until = None
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def _expire(self, txn: str) -> None:
        journal = self._parts.journal
        if journal.book.reservation is None or journal.book.reservation.txn != txn:
            return
        log.warning("reservation of %s ended by its ttl", txn)
        # Out of service for ever would be worse than a reservation that a restart finds again.
        journal.learn(replace(journal.book, reservation=None))
        self._disarm()
        self._parts.board.bell.ring()

    # -- transaction ----------------------------------------------------------------------

    async def start(self, request: SwapRequest) -> None:
        """Begin, or find begun or ended. Raises Refused."""
        journal = self._parts.journal
        if self._is_known(request.txn):
            return
        self._refuse_unreserved(request)
        sight = await self._refuse_unfit(request.target)
        if self._is_known(request.txn):  # the same call, sent twice, has come first
            return
        self._refuse_unreserved(request)
        refuse_unfit(self._parts.board, sight)
        reservation = journal.book.reservation
        assert reservation is not None
        board = self._parts.board
        request = replace(
            request,
            target_draft=load_of(board, request.target, sight),
            last_good_draft=load_of(board, request.last_good, sight),
        )
        state = machine.begin(request, sight.instance)
        try:
            journal.put(book.begun(journal.book, state, reservation.take_out))
        except JournalUnwritable as error:
            raise Refused(RefusalReason.JOURNAL_UNWRITABLE, str(error)) from error
        self._disarm()
        self._spawn(state, sight.reports)

    def _is_known(self, txn: str) -> bool:
        """Running or ended. Raises Refused where another one is in the way."""
        now = self._parts.journal.book
        if book.find(now, txn) is not None:
            return True
        self._refuse_other(txn)
        return now.running is not None

    def find(self, txn: str) -> Transaction | None:
        live = self._parts.board.live
        return live if live and live.txn == txn else book.find(self._parts.journal.book, txn)

    async def recover(self) -> None:
        """After a start of this agent: finish or undo what was under way, with nobody asking."""
        journal = self._parts.journal
        if journal.book.reservation is not None:
            self._arm(journal.book.reservation)
        if journal.book.running is None:
            return
        state = machine.recover(journal.book.running.state)
        log.warning("continuing swap %s, found at %s", state.txn, state.step)
        # From the volume, not from the engine: it may be too busy to answer now.
        reports = await asyncio.to_thread(read_reports, self._parts.handover)
        self._spawn(state, [each for each in reports if each.instance == state.instance])

    def leave(self) -> None:
        """The engine is about to be ended: what runs is given up before its Start, or goes on after it."""
        if self._running is not None:
            self._running.leave()

    async def stop(self, grace_s: float) -> None:
        """Let a running swap end within the grace; what is left is in the journal."""
        self._disarm()
        if self._task is None or self._task.done():
            return
        await asyncio.wait({self._task}, timeout=grace_s)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def backend(self, txn: str, reports: Sequence[EngineReport]) -> Backend:
        """For one transaction with the engine that wrote these; answers to earlier ones are removed."""
        parts = self._parts
        forget_others(parts.handover, txn)
        return SharedMemory(parts.store, parts.handover, reports, parts.clock)

    def _spawn(self, state: SwapState, reports: Sequence[EngineReport]) -> None:
        parts = self._parts
        parts.watch.forget_reading()
        backend = self.backend(state.txn, reports)
        run = SwapRun(
            Hands(parts.engine, parts.inference, backend, parts.clock, parts.patience),
            state,
            record=lambda now: parts.journal.put(book.noted(parts.journal.book, now)),
            changed=self._show,
        )
        self._running = run
        self._show(run.transaction())
        self._task = asyncio.create_task(self._run(run), name=f"swap {state.txn}")

    async def _run(self, run: SwapRun) -> None:
        try:
            state = await run.run()
        except Exception as error:  # the door of the task: a bug must end in an outcome
            log.exception("swap %s", run.state.txn)
            state = crashed(run.state, error)
        await self._finish(state, replace(run.transaction(), outcome=state.outcome))

    async def _finish(self, state: SwapState, transaction: Transaction) -> None:
        journal, board = self._parts.journal, self._parts.board
        transaction = replace(transaction, failure=state.failure)
        # Before the end is anywhere to be seen: whoever hears of it must find the engine as it is now,
        # not as it was a second ago. Until then the pod counts as swapping.
        await self._parts.watch.ask()
        await self._parts.watch.read_back()
        journal.learn(book.ended(journal.book, state, transaction))
        note = book.degraded(state) if state.outcome is Outcome.COMMITTED else None
        self._count(transaction, note)
        log.info("swap %s: %s", state.txn, told(transaction, note))
        board.live = None
        board.bell.ring()

    def _show(self, transaction: Transaction) -> None:
        self._parts.board.live = transaction
        self._parts.board.bell.ring()

    def _count(self, ended: Transaction, note: Failure | None) -> None:
        metrics, failure = self._parts.metrics, ended.failure or note
        labels = (failure.failure_class, failure.reason) if failure else ("", "")
        metrics.counter(AGENT_SWAPS).labels(ended.outcome, *labels).inc()
        if ended.pause_millis:
            metrics.histogram(AGENT_PAUSE).observe(ended.pause_millis / 1000)
        for each in ended.timings:
            metrics.histogram(AGENT_PHASE_SECONDS).labels(each.phase).observe(each.millis / 1000)

    # -- gates ----------------------------------------------------------------------------

    def _refuse_other(self, txn: str) -> None:
        now = self._parts.journal.book
        if now.running is not None and now.running.state.txn != txn:
            raise Refused(RefusalReason.BUSY, f"transaction {now.running.state.txn} is running")
        if now.reservation is not None and now.reservation.txn != txn:
            raise Refused(RefusalReason.BUSY, f"reserved for {now.reservation.txn}")
        hold = book.held(now, self._parts.watch.sight.instance)
        if hold is not None and now.running is None:
            raise Refused(
                RefusalReason.HELD_BY_TRAINER,
                f"a trainer holds the engine: {hold.words}",
                failure_class=FailureClass.ENVIRONMENT,
            )

    def _refuse_unreserved(self, request: SwapRequest) -> None:
        reservation = self._parts.journal.book.reservation
        if reservation is None or reservation.txn != request.txn:
            raise Refused(RefusalReason.NOT_RESERVED, f"{request.txn} holds no reservation")
        if not reservation.weights.same_weights(request.target):
            raise Refused(
                RefusalReason.NOT_RESERVED,
                f"reserved for {reservation.weights.version}, not for {request.target.version}",
            )

    async def _refuse_unfit(self, weights: Content) -> EngineSight:
        """The engine can take these weights now."""
        sight = await self._parts.watch.fresh(1.0)
        if not self._parts.watch.reachable():
            raise Refused(
                RefusalReason.ENGINE_UNREACHABLE,
                "the engine does not answer",
                failure_class=FailureClass.POD,
            )
        if self._parts.journal.book.poisoned == sight.instance:
            raise Refused(RefusalReason.POISONED, "the engine must be restarted first")
        refuse_unfit(self._parts.board, sight)
        await asyncio.to_thread(self._refuse_unstaged, weights, sight)
        return sight

    def _refuse_unstaged(self, weights: Content, sight: EngineSight) -> None:
        store = self._parts.store
        index = store.index(weights.digest, sight.plan_id)
        if index is None:
            raise Refused(
                RefusalReason.NOT_STAGED, f"{weights.digest} has no image for this engine: stage it"
            )
        try:
            store.check(index, sight.reports, weights.metadata)
        except WeightsError as error:
            raise Refused(error.reason, error.message, failure_class=error.failure_class) from error
        if not holds(self._parts.board, weights, sight):
            raise Refused(
                RefusalReason.NOT_STAGED,
                f"{weights.draft_digest} has no image for this engine's draft: stage it",
            )


async def write(journal: Journal, new: book.Book) -> None:
    """Durable before it is answered. Raises Refused."""
    try:
        journal.put(new)
        await journal.sync()
    except JournalUnwritable as error:
        raise Refused(
            RefusalReason.JOURNAL_UNWRITABLE, str(error), failure_class=FailureClass.ENVIRONMENT
        ) from error
