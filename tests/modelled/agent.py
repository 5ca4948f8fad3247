"""A model agent: the real swap driver, book, fence and readiness rules; disk and calls are models.

It does what `weightrollout.agent` does, without files, threads and gRPC, so that thousands can be
killed in a second.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import TypeAdapter

from modelled.clockwork import StoryClock
from modelled.engine import Door, ModelBackend, ModelEngine
from modelled.strikes import Boundaries, Process, Victim
from weightrollout.agent import fence, readiness
from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.fence import Fence
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.stable import Stable
from weightrollout.agent.state import Bell, Board, facts, loaded
from weightrollout.swap import book as books
from weightrollout.swap import machine
from weightrollout.swap.book import Book, Reservation, Transaction
from weightrollout.swap.records import Content, DraftLoad, SwapRequest, SwapState
from weightrollout.swap.run import Hands, SwapRun

_BOOK: Final = TypeAdapter(Book)


@dataclass
class Disk:
    """The staging volume: a journal that was written whole, and images."""

    journal: bytes = b""
    book: Book = field(default_factory=Book)  # what those bytes say
    staged: set[str] = field(default_factory=set)

    def keep(self, book: Book) -> None:
        self.journal, self.book = _BOOK.dump_json(book), book


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What one agent process finds when it starts."""

    pod: str
    disk: Disk
    engine: ModelEngine
    boundaries: Boundaries
    clock: StoryClock
    stable: Callable[[], Stable]
    bad: frozenset[str]  # digests whose prompts are answered wrongly
    reserved: Callable[[Reservation], None]  # hears of each one that was granted


class ModelAgent(Process):
    def __init__(self, around: Surroundings) -> None:
        super().__init__(f"agent of {around.pod}")
        self.around = around
        self.sight = EngineSight()
        self.live: Transaction | None = None
        journal = around.disk.journal
        self.book = _BOOK.validate_json(journal) if journal else Book()
        self._door = Door(around.engine, self._cross, around.bad)

    def start(self) -> None:
        """Finish or undo what was under way, with nobody asking."""
        self.look()
        if self.book.reservation is not None:
            self._arm(self.book.reservation)
        if self.book.running is not None:
            self._spawn(machine.recover(self.book.running.state))

    def look(self) -> None:
        """What the engine watch does twice a second: who answers, and outside swaps how it is."""
        engine = self.around.engine
        if not engine.up:
            return
        known = self.sight
        if known.instance != engine.instance:
            self.sight = known = EngineSight(instance=engine.instance, plan_id="p")
        if self.book.running is not None or engine.busy:
            return
        if (known.paused, known.weight_version) != (engine.paused, engine.version):
            self.sight = replace(known, paused=engine.paused, weight_version=engine.version)

    @property
    def board(self) -> Board:
        around = self.around
        return Board(
            Bell(), stable=around.stable(), staged=frozenset(around.disk.staged), live=self.live
        )

    @property
    def serving(self) -> Content | None:
        return loaded(self.book, self.sight)

    @property
    def ready(self) -> bool:
        self.look()
        answering = self.around.engine.up
        return (
            readiness.not_ready(facts(self.book, self.board, self.sight, answering=answering))
            is None
        )

    # -- calls of the operator ------------------------------------------------------------

    async def hello(self, mark: Fence) -> None:
        self._adopt(fence.hello(self.book, mark, takeover=True))

    async def stage(self, mark: Fence, weights: Content) -> None:
        self._adopt(fence.admit(self.book, mark))
        self.around.disk.staged.add(weights.digest)

    async def reserve(self, mark: Fence, wish: Reservation) -> None:
        self._adopt(fence.admit(self.book, mark))
        running = self.book.running
        if running is not None and running.state.txn == wish.txn:
            return
        self._refuse_other(wish.txn)
        if books.find(self.book, wish.txn) is not None:
            raise Refused(RefusalReason.TRANSACTION_ENDED, wish.txn)
        self._refuse_unfit(wish.weights)
        self.around.reserved(wish)
        self._put(replace(self.book, reservation=wish), "a reservation")
        self._arm(wish)

    async def release(self, mark: Fence, txn: str) -> None:
        self._adopt(fence.admit(self.book, mark))
        if self.book.reservation is not None and self.book.reservation.txn == txn:
            self._put(replace(self.book, reservation=None), "a release")

    async def swap(self, mark: Fence, request: SwapRequest) -> None:
        """Begins; how it goes is seen in the state."""
        self._adopt(fence.admit(self.book, mark))
        if books.find(self.book, request.txn) is not None:
            return
        self._refuse_other(request.txn)
        if self.book.running is not None:
            return
        reservation = self.book.reservation
        if reservation is None or not reservation.weights.same_weights(request.target):
            raise Refused(RefusalReason.NOT_RESERVED, request.txn)
        self._refuse_unfit(request.target)
        good = self.book.last_good
        request = replace(request, last_good=good)
        if self.around.engine.drafts:
            mine, old = request.target.draft_digest, good.draft_digest if good else ""
            drafts = (DraftLoad("mtp", mine), DraftLoad("mtp", old) if good else None)
            request = replace(request, target_draft=drafts[0], last_good_draft=drafts[1])
        state = machine.begin(request, self.sight.instance)
        self._put(books.begun(self.book, state, reservation.take_out), "that the swap begins")
        self._spawn(state)

    async def restart_engine(self, mark: Fence, serve: Content) -> None:
        self._adopt(fence.admit(self.book, mark))
        if self.book.running is not None:
            raise Refused(RefusalReason.BUSY, "a transaction is running")
        self._put(replace(self.book, told=serve), "what to serve after a restart")
        self.around.boundaries.say(f"{self.around.pod} agent restarts the engine")
        self.around.engine.die()

    # -- within ---------------------------------------------------------------------------

    def _spawn(self, state: SwapState) -> None:
        self.sight = replace(self.sight, paused=False, weight_version="")
        run = SwapRun(
            Hands(self._door, self._door, ModelBackend(self.around.engine), self.around.clock),
            state,
            record=lambda now: self._put(books.noted(self.book, now), f"{now.step} ({now.source})"),
            changed=self._show,
        )
        self._show(run.transaction())
        self.spawn(self._run(run))

    async def _run(self, run: SwapRun) -> None:
        state = await run.run()
        transaction = replace(run.transaction(), outcome=state.outcome, failure=state.failure)
        self._put(books.ended(self.book, state, transaction), f"the end: {state.outcome}")
        self.live = None
        self.look()

    def _show(self, transaction: Transaction) -> None:
        self.live = transaction

    def _arm(self, reservation: Reservation) -> None:
        def expire() -> None:
            mine = self.book.reservation
            if mine is not None and mine.txn == reservation.txn:
                self._put(replace(self.book, reservation=None), "the end of the ttl")

        self.later(reservation.ttl_s, expire)

    def _adopt(self, new: Book) -> None:
        if new != self.book:
            self._put(new, f"epoch {new.epoch}")

    def _put(self, new: Book, what: str) -> None:
        self._cross(f"agent is about to journal {what}")
        self.around.disk.keep(new)
        self.book = new
        self._cross(f"agent has journaled {what}")

    def _cross(self, where: str) -> frozenset[Victim]:
        return self.around.boundaries.cross(where, self.around.pod, by=self)

    def _refuse_other(self, txn: str) -> None:
        running, reservation = self.book.running, self.book.reservation
        if running is not None and running.state.txn != txn:
            raise Refused(RefusalReason.BUSY, f"{running.state.txn} is running")
        if reservation is not None and reservation.txn != txn:
            raise Refused(RefusalReason.BUSY, f"reserved for {reservation.txn}")

    def _refuse_unfit(self, weights: Content) -> None:
        self.look()
        if not self.around.engine.up:
            raise Refused(RefusalReason.ENGINE_UNREACHABLE, "the engine does not answer")
        if self.book.poisoned == self.sight.instance:
            raise Refused(RefusalReason.POISONED, "the engine must be restarted first")
        if weights.digest not in self.around.disk.staged:
            raise Refused(RefusalReason.NOT_STAGED, weights.digest)
