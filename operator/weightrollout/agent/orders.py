"""What an operator said in Hello about trainers, and what holds until one has spoken. Pure.

Nothing of it is taken for granted after a restart: an agent that has an owner is strict, and keeps base
weights out of service, until it is told. So does one that nobody has ever told anything, where its own flag
says that its pod is a trainer's.
"""

from dataclasses import dataclass
from typing import Final

from weightrollout.agent.stable import Stable
from weightrollout.api.guard import Guard
from weightrollout.api.spec import Driver, TrainerGuard
from weightrollout.swap.book import Book

_GUARDS: Final = {
    TrainerGuard.STRICT: Guard.STRICT,
    TrainerGuard.AUTO_PAUSE: Guard.AUTO_PAUSE,
    TrainerGuard.OFF: Guard.OFF,
}
_WORDS: Final = {guard: word for word, guard in _GUARDS.items()}


@dataclass(frozen=True, slots=True)
class Orders:
    driver: Driver | None = None  # None: nobody says, as an older operator
    guard: Guard | None = None  # None: the agent's own flag


def orders_of(driver: str, guard: str) -> Orders:
    """A word of a newer operator that is not known here: no driver, and the strict guard."""
    known = Driver(driver) if driver in set(Driver) else None
    if not guard:
        return Orders(known)
    word = TrainerGuard(guard) if guard in set(TrainerGuard) else TrainerGuard.STRICT
    return Orders(known, _GUARDS[word])


def guard_in_force(book: Book, orders: Orders | None, flag: Guard) -> Guard:
    """`orders` None: no operator has spoken since this agent started."""
    if orders is None:
        return Guard.STRICT if book.owner_uid else flag
    return orders.guard if orders.guard is not None else flag


def guard_word(guard: Guard) -> str:
    """As spec.guard has it."""
    return str(_WORDS[guard])


def trainer_drives(book: Book, orders: Orders | None, stable: Stable, *, flag: bool) -> bool:
    """Base weights may not serve. Before an operator has spoken: as it said last, or as it has published; the
    pod's own word (`flag`) counts where no operator has ever said who drives."""
    if orders is not None:
        return flag if orders.driver is None else orders.driver is Driver.TRAINER
    said = book.driver
    return stable.trainer or (said == Driver.TRAINER if said else flag)


def operator_drives(orders: Orders | None) -> bool:
    """It starts swaps by itself, so that a trainer may only end what it has begun."""
    return orders is not None and orders.driver is Driver.OPERATOR
