"""States and outcomes of one pod's swap, as the wire, the journal and the status spell them."""

from enum import StrEnum
from typing import Final

#: How the transactions begin that an agent starts by itself, without an operator.
ALONE: Final = "alone/"


class SwapPhase(StrEnum):
    """Where a transaction is. The order is the order of a swap that goes well."""

    DRAINING = "Draining"  # the engine runs and takes no new traffic
    PAUSING = "Pausing"
    TRANSFERRING = "Transferring"  # from here on the old weights are gone
    CHECKING = "Checking"  # receipts against the plan
    FINISHING = "Finishing"  # the commit: Finish(version), version read back
    DRAFTING = "Drafting"  # the target is committed; the speculative draft follows
    RESUMING = "Resuming"
    VERIFYING = "Verifying"  # prompts
    UNDOING = "Undoing"  # last good is being loaded again
    DONE = "Done"


class Outcome(StrEnum):
    """How a transaction ended."""

    COMMITTED = "Committed"  # the target is loaded, proven and resumed
    UNTOUCHED = "Untouched"  # failed before any weight changed; the engine runs as before
    GAVE_UP = "GaveUp"  # requests were still running, and pauseMode is GiveUp: no failure
    UNDONE = "Undone"  # failed after; last good is loaded, proven and resumed
    RESTARTED = "Restarted"  # the engine restarted under us: it holds its base weights
    POISONED = "Poisoned"  # neither target nor last good: paused, out, needs RestartEngine


class FailureClass(StrEnum):
    """What a failure says, and therefore what the fleet does about it (docs/concepts.md)."""

    WEIGHTS = "Weights"  # a check of the weights themselves failed
    POD = "Pod"  # this pod or its engine failed
    ENVIRONMENT = "Environment"  # store, credentials, network: nothing was touched
