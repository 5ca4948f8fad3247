"""What may not happen now, and why. Pure.

strict       weights change only in a pause that the engine confirmed
auto-pause   an update of an engine that runs pauses it, and resumes what it paused
off          as vLLM: updates while it generates. Old caches meet new weights; for those who know why

Whatever the guard: half-loaded weights are never resumed, weights that sleep are never written (vLLM
dies of it, issue 57853), and an operator's swap is never disturbed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weightrollout.agent.rl.routes import Call
from weightrollout.agent.rl.wishes import Wish
from weightrollout.api.guard import Guard
from weightrollout.swap.book import Book
from weightrollout.swap.hold import Hold

WEIGHTS: Final = "weights"
#: Their engine call may take minutes; the engine's mutex would let nothing else through.
UPDATING: Final = (Call.START, Call.START_DRAFT, Call.UPDATE, Call.FINISH)
#: So may that of this one, which waits for its trainer to join.
LONG: Final = (*UPDATING, Call.INIT)

#: How a trainer's work on an engine that it does not hold yet begins.
BEGINS: Final = (
    *(Call.INIT, Call.PAUSE, Call.SLEEP),
    *(Call.START, Call.START_DRAFT, Call.SET_VERSION),
)


@dataclass(frozen=True, slots=True)
class Scene:
    hold: Hold  # of the engine process that answers
    paused: bool  # the engine, whoever paused it
    running: Call | None  # a trainer's call that the engine has not answered yet
    swap: str  # transaction that runs or is reserved; "" for none
    poisoned: bool
    leaving: bool
    operator_drives: bool = False
    images: bool = False  # it takes weights from us: an update stages before it needs a pause


@dataclass(frozen=True, slots=True)
class Conflict:
    code: str
    message: str


def conflict(wish: Wish, scene: Scene, guard: Guard) -> Conflict | None:
    """None: it may go ahead."""
    return next(_conflicts(wish, scene, guard), None)


def _conflicts(wish: Wish, scene: Scene, guard: Guard) -> Iterator[Conflict]:
    call, hold = wish.call, scene.hold
    if against := swap_conflict(scene.swap):
        yield against
    if scene.poisoned:
        yield Conflict("poisoned", "the engine is half-loaded by a swap and must be restarted")
    if scene.leaving:
        yield Conflict("leaving", "the pod is about to be ended")
    if scene.operator_drives and hold.is_over and call in BEGINS:
        yield Conflict(
            "operator_drives", "spec.driver is Operator: a trainer may only end what it has begun"
        )
    if scene.running in LONG and call not in LONG:
        yield Conflict("update_running", f"{scene.running} runs: wait for its answer")
    match call:
        case Call.RESUME:
            yield from _before_serving(hold)
            if hold.asleep:
                yield Conflict("asleep", f"{' and '.join(hold.asleep)} sleeps: wake_up first")
        case Call.WAKE_UP if wakes_all(hold, wish.tags):
            yield from _before_serving(hold)
        case Call.SLEEP:
            yield from _before_serving(hold)
        case Call.INIT if hold.session:
            yield _open(hold)
        case Call.START | Call.START_DRAFT:
            if hold.session:
                yield _open(hold)
            if WEIGHTS in hold.asleep:
                yield Conflict("asleep", 'the weights sleep: wake_up {"tags": ["weights"]} first')
            if not scene.paused and guard is Guard.STRICT:
                yield not_paused(call)
            if hold.draining and guard is not Guard.OFF:
                yield _draining()
        case Call.UPDATE | Call.FINISH:
            if not hold.session:
                again = f" ({hold.words})" if hold.incomplete else ""
                yield Conflict("no_session", f"no update is open{again}: start_weight_update first")
            if not scene.paused and guard is not Guard.OFF and not _pauses_later(scene, guard):
                yield not_paused(call)
            if hold.draining and guard is not Guard.OFF:
                yield _draining()
        case _:
            pass


def _pauses_later(scene: Scene, guard: Guard) -> bool:
    """The guard's own pause comes when the weights are ready; until then nothing of this session needs one."""
    return scene.images and guard is Guard.AUTO_PAUSE and not scene.hold.paused


def swap_of(book: Book) -> str:
    """Transaction of the operator's that has the engine, or was promised it; "" for none."""
    if book.running is not None:
        return book.running.state.txn
    return book.reservation.txn if book.reservation is not None else ""


def swap_conflict(swap: str) -> Conflict | None:
    """`swap`: as `swap_of` says it."""
    if not swap:
        return None
    return Conflict("swap_running", f"the operator's swap {swap} holds the engine: wait")


def _before_serving(hold: Hold) -> Iterator[Conflict]:
    if hold.session:
        yield _open(hold)
    if hold.incomplete:
        yield Conflict("weights_incomplete", hold.words)


def _open(hold: Hold) -> Conflict:
    return Conflict(
        "session_open", f"an update of the {hold.session} is open: finish_weight_update first"
    )


def not_paused(call: Call) -> Conflict:
    return Conflict("not_paused", f"{call} needs a pause: pause_generation first")


def _draining() -> Conflict:
    """The engine calls itself paused from the begin of such a pause on (vLLM 0.32)."""
    return Conflict(
        "draining",
        "a pause by wait has not ended, requests may run: pause_generation again, by keep or abort",
    )


def wakes_all(hold: Hold, tags: tuple[str, ...]) -> bool:
    """The engine resumes by itself when nothing sleeps any more; a mere pause is ended by it, too."""
    return not tags or set(hold.asleep) <= set(tags)
