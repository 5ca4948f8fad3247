"""How a swap ended, in words: for the journal, and for the log."""

from dataclasses import replace

from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.swap.book import Transaction
from weightrollout.swap.records import Failure, SwapState


def crashed(state: SwapState, error: Exception) -> SwapState:
    """Out and reported: after a pause nobody can say what the engine holds."""
    outcome = Outcome.POISONED if state.pause_sent else Outcome.UNTOUCHED
    failure = Failure(FailureClass.POD, "AgentCrashed", f"around {state.step}: {error!r}")
    return replace(state, outcome=outcome, looking=None, failure=failure)


def told(ended: Transaction, note: Failure | None) -> str:
    failure = ended.failure or note
    why = f" ({failure.failure_class} {failure.reason}: {failure.message})" if failure else ""
    return f"{ended.outcome}{why}, paused {ended.pause_millis:.1f} ms"
