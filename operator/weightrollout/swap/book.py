"""What the agent must not forget, and how each event changes it. Pure; `journal` keeps it on disk."""

from dataclasses import dataclass, replace
from typing import Final, assert_never

from pydantic import FiniteFloat

from weightrollout.api.reasons import DegradedReason
from weightrollout.api.spec import TakeOut
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.swap.hold import Hold, from_trainer
from weightrollout.swap.phases import phase
from weightrollout.swap.records import Content, Failure, SwapState

SCHEMA: Final = 1
#: Digests whose attempts are remembered, newest first: far more than a fleet tries at a time.
MAX_ATTEMPTS: Final = 32
#: Ended transactions whose outcome can still be asked for.
MAX_FINISHED: Final = 8


@dataclass(frozen=True, slots=True)
class Serving:
    """Proven to be loaded in this one engine process."""

    content: Content
    instance: str
    degraded: Failure | None = None  # the weights are right, and their draft is not


@dataclass(frozen=True, slots=True)
class Reservation:
    txn: str
    take_out: TakeOut
    ttl_s: FiniteFloat  # as it was asked; a restarted agent grants it anew
    weights: Content


@dataclass(frozen=True, slots=True)
class Timing:
    phase: SwapPhase
    millis: FiniteFloat


@dataclass(frozen=True, slots=True)
class Transaction:
    """A running or ended swap, as the wire tells it."""

    txn: str
    attempt: int
    weights: Content
    phase: SwapPhase
    outcome: Outcome | None = None
    failure: Failure | None = None
    pause_millis: FiniteFloat = 0.0
    timings: tuple[Timing, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempts:
    """Attempts with one digest that reached the pause, since its last success."""

    digest: str
    attempts: int
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class Running:
    state: SwapState
    take_out: TakeOut


@dataclass(frozen=True, slots=True)
class Book:
    schema: int = SCHEMA
    owner_uid: str = ""
    epoch: int = 0
    told: Content | None = None  # None: nobody has said what to serve
    serving: Serving | None = None
    last_good: Content | None = None
    touched: str = ""  # the engine process that an ended swap gave other weights
    poisoned: str = ""  # the engine process that holds nothing one can name
    running: Running | None = None
    finished: tuple[Transaction, ...] = ()  # newest first
    attempts: tuple[Attempts, ...] = ()  # newest first
    reservation: Reservation | None = None
    lost: bool = False  # an older journal could not be read: `touched` proves nothing
    driver: str = ""  # spec.driver as an operator said it last; "": none ever did
    hold: Hold | None = None  # a trainer's, on the engine process that it names


def held(book: Book, instance: str) -> Hold | None:
    """By a trainer; None also where the process that it held is gone."""
    return book.hold if book.hold is not None and book.hold.instance == instance else None


def named(book: Book, instance: str, version: str) -> Book:
    """A trainer's weights are whole in this process, and this is what they are called."""
    content = from_trainer(version)
    return replace(
        book, told=content, serving=Serving(content, instance), last_good=None, touched=instance
    )


def begun(book: Book, state: SwapState, take_out: TakeOut) -> Book:
    """The reservation becomes a transaction."""
    return replace(book, running=Running(state, take_out), reservation=None)


def noted(book: Book, state: SwapState) -> Book:
    """The intent before a call."""
    assert book.running is not None
    return replace(book, running=replace(book.running, state=state))


def ended(book: Book, state: SwapState, transaction: Transaction) -> Book:
    """Record the outcome and what it says about the engine, in one write."""
    book = replace(
        book,
        running=None,
        finished=(transaction, *book.finished)[:MAX_FINISHED],
        attempts=_attempted(book.attempts, state),
    )
    match state.outcome:
        case Outcome.COMMITTED:
            return _proven(book, state, state.request.target)
        case Outcome.UNDONE:
            assert state.request.last_good is not None, "undone without last good"
            return _proven(book, state, state.request.last_good)
        case Outcome.POISONED:
            return replace(book, poisoned=state.instance, touched=state.instance, serving=None)
        case Outcome.RESTARTED:
            # An engine that only said so, and answers as itself again, must not pass for untouched.
            mine = state.instance if state.maybe_touched else book.touched
            return replace(book, serving=None, touched=mine)
        case Outcome.UNTOUCHED | Outcome.GAVE_UP:
            return book
        case None:
            raise AssertionError("a transaction ends with an outcome")
        case _:
            assert_never(state.outcome)


def touched(book: Book) -> str:
    """The engine process that may hold other weights than those it started with; "" for none."""
    if book.running is not None and book.running.state.maybe_touched:
        return book.running.state.instance
    return book.touched


def _proven(book: Book, state: SwapState, content: Content) -> Book:
    return replace(
        book,
        told=content,
        serving=Serving(content, state.instance, degraded(state)),
        last_good=content,
        touched=state.instance,
        poisoned="",
    )


def degraded(state: SwapState) -> Failure | None:
    """What became of the draft beside weights that are whole; None: all is well."""
    if state.draft_failure is not None:
        why = f"{state.draft_failure.reason}: {state.draft_failure.message}"
        return Failure(
            FailureClass.POD,
            DegradedReason.DRAFT_FAILED,
            f"{why}; speculation is slower, answers are right; tried again with the next revision",
        )
    if state.draft is None or state.draft.digest:
        return None
    return Failure(
        FailureClass.POD,
        DegradedReason.DRAFT_STALE,
        f"the draft ({state.draft.method}) was left as it was: it is not in this checkpoint, or the"
        " plugin cannot load it; speculation is slower, answers are right; name its weights in"
        " spec.weights.draft",
    )


def _attempted(before: tuple[Attempts, ...], state: SwapState) -> tuple[Attempts, ...]:
    digest = state.request.target.digest
    mine = next((each for each in before if each.digest == digest), None)
    others = tuple(each for each in before if each.digest != digest)
    if state.outcome is Outcome.COMMITTED:
        return (Attempts(digest, 0, None), *others)[:MAX_ATTEMPTS]
    if not state.pause_sent:
        return before
    count = (mine.attempts if mine else 0) + 1
    return (Attempts(digest, count, state.failure), *others)[:MAX_ATTEMPTS]


def view(state: SwapState, pause_millis: float, timings: tuple[Timing, ...]) -> Transaction:
    return Transaction(
        txn=state.txn,
        attempt=state.request.attempt,
        weights=state.request.target,
        phase=phase(state),
        outcome=state.outcome,
        failure=state.failure if state.outcome is not None else None,
        pause_millis=pause_millis,
        timings=timings,
    )


def find(book: Book, txn: str) -> Transaction | None:
    """An ended transaction that is still remembered."""
    return next((each for each in book.finished if each.txn == txn), None)
