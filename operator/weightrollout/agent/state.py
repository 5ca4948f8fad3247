"""The one observable state of this agent: everything known, and a bell that rings on change.

What is loaded, what should be, and whether the pod is ready are derived here and nowhere else.
"""

import asyncio
from dataclasses import dataclass

from weightrollout.agent import stable
from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.orders import Orders, guard_in_force, trainer_drives
from weightrollout.agent.readiness import Facts, Swapping
from weightrollout.agent.stable import Stable
from weightrollout.api.guard import Guard
from weightrollout.api.spec import TakeOut
from weightrollout.api.swap import FailureClass
from weightrollout.swap.book import Book, Transaction, held, touched
from weightrollout.swap.records import BASELINE, Content, Failure
from weightrollout.weights.preflight import Refusal


@dataclass(frozen=True, slots=True)
class Staging:
    """The staging that runs, or the newest one when it failed."""

    uri: str
    digest: str = ""
    bytes: int = 0
    total: int = 0
    done: bool = False
    failure_class: FailureClass | None = None
    reason: str = ""
    message: str = ""
    bytes_per_second: int = 0  # read from the source, over the last seconds
    limit: int = 0  # bytes per second that it is held to; 0: none


@dataclass(frozen=True, slots=True)
class AloneNote:
    """What the agent does about an engine that is out while no operator is there."""

    step: str
    reason: str  # why this step, or why none
    version: str = ""  # where it leads
    failures: int = 0  # in a row
    message: str = ""  # of the newest failure


@dataclass(frozen=True, slots=True)
class Exposed:
    """What was found out about the control port of one engine process."""

    instance: str
    refusal: Refusal | None  # None: no stranger gets an answer there


@dataclass(frozen=True, slots=True)
class TrainerPort:
    """Where the RL routes are."""

    number: int
    tls: bool
    model: str  # as the engine serves it; "" until it has said so


class Bell:
    """Wakes everyone who waits for a change."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()

    def next(self) -> "asyncio.Event":
        """Take it before reading the state, wait for it after: no change is missed."""
        return self._rung


@dataclass
class Board:
    """Written by the parts that own each field; read by all."""

    bell: Bell
    stable: Stable = stable.ABSENT
    staged: frozenset[str] = frozenset()  # digests with an image for the engine
    drafts_staged: frozenset[str] = frozenset()  # and for its draft
    signed: frozenset[str] = frozenset()  # `Content.proofs` that were found on images
    staging: Staging | None = None
    live: Transaction | None = None  # of the running transaction
    reserved_until: float | None = None  # monotonic seconds
    exposed: Exposed | None = None  # None: nobody asks
    leaving: str = ""  # the engine process whose end was announced
    alone: AloneNote | None = None  # None: an operator is there, or the engine serves
    trainer: TrainerPort | None = None  # None: the RL routes are shut
    orders: Orders | None = None  # None: no operator has spoken since this agent started
    guard_flag: Guard = Guard.STRICT  # where the operator leaves it to the agent
    driven_flag: bool = False  # the pod is a trainer's, until an operator says who drives


def loaded(book: Book, sight: EngineSight) -> Content | None:
    """What the process that answers was proven to hold. None: nobody can name it."""
    if not sight.instance or book.poisoned == sight.instance:
        return None
    if book.running is not None and book.running.state.maybe_touched:
        return None
    hold = held(book, sight.instance)
    if hold is not None and hold.hides_weights:
        return None
    serving = book.serving
    if serving is not None and serving.instance == sight.instance:
        renamed = sight.weight_version not in ("", serving.content.version)
        return None if renamed else serving.content
    return BASELINE if is_baseline(book, sight) else None


def degraded(book: Book, sight: EngineSight) -> Failure | None:
    """What is wrong with the draft beside weights that are right."""
    serving = book.serving
    return serving.degraded if serving is not None and loaded(book, sight) is not None else None


def is_baseline(book: Book, sight: EngineSight) -> bool:
    """This process was never touched since its start.

    After a lost journal the plugin's own answers in the handover volume speak for it: it leaves
    some in every swap and removes them all when an engine starts.
    """
    if not sight.instance or touched(book) == sight.instance:
        return False
    return sight.weight_version == BASELINE.version and not (book.lost and sight.visited)


def wanted(book: Book, stable_: Stable) -> Content | None:
    """What it is meant to serve: told, else its own last verified, else stable. None: unknown."""
    if book.told is not None:
        return book.told
    if book.serving is not None:
        return book.serving.content
    return stable_.content


def undo_content(book: Book, board: Board) -> Content | None:
    """What can be gone back to in place: proven once, and its image is still here."""
    good = book.last_good
    return good if good is not None and good.digest in board.staged else None


def refusal(board: Board, sight: EngineSight) -> Refusal | None:
    """Why this engine cannot be swapped, whatever the weights; None when it can."""
    if sight.refusal is not None:
        return sight.refusal
    exposed = board.exposed
    return exposed.refusal if exposed is not None and exposed.instance == sight.instance else None


def leaving(board: Board, sight: EngineSight) -> bool:
    """An engine that was started since is another one, and stays."""
    return board.leaving != "" and board.leaving == sight.instance


def facts(book: Book, board: Board, sight: EngineSight, *, answering: bool) -> Facts:
    """`answering`: the engine was heard lately enough for the one who asks."""
    state = book.running.state if book.running else None
    return Facts(
        answering=answering,
        same_instance=state is None or state.instance == sight.instance,
        swapping=_swapping(book),
        poisoned=book.poisoned != "" and book.poisoned == sight.instance,
        paused=sight.paused,
        loaded=loaded(book, sight),
        wanted=wanted(book, board.stable),
        leaving=leaving(board, sight),
        held=_held(book, sight),
        driven=is_driven(book, board),
    )


def is_driven(book: Book, board: Board) -> bool:
    """By a trainer."""
    return trainer_drives(book, board.orders, board.stable, flag=board.driven_flag)


def guard(book: Book, board: Board) -> Guard:
    """What the RL routes ask of a trainer now."""
    return guard_in_force(book, board.orders, board.guard_flag)


def _held(book: Book, sight: EngineSight) -> str:
    hold = held(book, sight.instance)
    return hold.words if hold is not None and hold.takes_out else ""


def _swapping(book: Book) -> Swapping:
    if book.running is not None:
        out = book.running.take_out is TakeOut.ENDPOINT
        return Swapping.OUT if out else Swapping.IN_SERVICE
    if book.reservation is not None and book.reservation.take_out is TakeOut.ENDPOINT:
        return Swapping.RESERVED_OUT
    return Swapping.NO
