"""May this pod answer requests? The truth table of the readiness probe. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from weightrollout.agent.reasons import NotReadyReason
from weightrollout.swap.records import Content


class Swapping(StrEnum):
    """Whether a swap may hold the engine now."""

    NO = "No"
    RESERVED_OUT = "ReservedOut"  # reserved with takeOut Endpoint
    OUT = "Out"  # a transaction with takeOut Endpoint is open
    IN_SERVICE = "InService"  # a transaction with takeOut None is open


@dataclass(frozen=True, slots=True)
class Facts:
    answering: bool  # GetServerInfo was answered within the last probe period
    same_instance: bool  # by the engine process that the open transaction belongs to
    swapping: Swapping
    poisoned: bool
    paused: bool
    loaded: Content | None  # proven for the process that answers; None: nobody knows
    wanted: Content | None  # what it is meant to serve; None: nobody knows
    leaving: bool = False  # its end was announced
    held: str = ""  # by a trainer, in words; "": by none
    driven: bool = False  # by a trainer: base weights may not serve


@dataclass(frozen=True, slots=True)
class NotReady:
    reason: NotReadyReason
    message: str


def not_ready(facts: Facts) -> NotReady | None:
    """None: ready. The order is that of gravity, so the reason names the worst of several."""
    if not facts.answering:
        return NotReady(
            NotReadyReason.ENGINE_UNREACHABLE, "the engine does not answer, or says that it is dead"
        )
    if facts.poisoned:
        return NotReady(
            NotReadyReason.POISONED, "the engine is half-loaded and paused: it must be restarted"
        )
    if facts.leaving:
        return NotReady(NotReadyReason.LEAVING, "the engine is about to be ended")
    if facts.held:
        return NotReady(NotReadyReason.HELD_BY_TRAINER, f"a trainer holds the engine: {facts.held}")
    if facts.swapping is Swapping.OUT:
        return NotReady(NotReadyReason.SWAPPING, "a swap is open")
    if facts.swapping is Swapping.RESERVED_OUT:
        return NotReady(NotReadyReason.RESERVED, "reserved for a swap")
    if facts.swapping is Swapping.IN_SERVICE and facts.same_instance:
        return None  # its requests wait through the pause; what is loaded is between two answers
    if facts.paused:
        return NotReady(
            NotReadyReason.ENGINE_PAUSED, "someone else paused the engine; resume it by hand"
        )
    return _not_loaded(facts.loaded, facts.wanted, driven=facts.driven)


def _not_loaded(loaded: Content | None, wanted: Content | None, *, driven: bool) -> NotReady | None:
    if loaded is None:
        return NotReady(
            NotReadyReason.SERVING_UNKNOWN, "it is not proven what the engine holds: swap it"
        )
    if driven and loaded.is_baseline:
        return NotReady(
            NotReadyReason.AWAITS_TRAINER,
            "it holds base weights, and a trainer drives (spec.driver, or the agent's --trainer-drives): its"
            " trainer must update it, or its durable version in spec.weights be loaded first",
        )
    if wanted is None:
        return NotReady(
            NotReadyReason.STABLE_UNREADABLE, "stable.json says what to serve and cannot be read"
        )
    if not loaded.same_weights(wanted):
        return NotReady(
            NotReadyReason.NOT_SERVING_TOLD,
            f"serves {loaded.version}, is meant to serve {wanted.version}",
        )
    return None
