"""What a failed engine call means for the engine.

    EngineError
    |-- EngineRefused       it answered and nothing changed (not configured, bad argument)
    |-- EngineUnreachable   the call never arrived; nothing changed by it
    `-- EngineStateUnknown  deadline, INTERNAL, cut connection: it may have been executed

A caller that gets EngineStateUnknown reads back (IsPaused, GetServerInfo, GetWeightVersion,
receipts) before it acts. Foreign exceptions stop at the adapter and are chained as the cause.
"""

from typing import Final

#: Reason of an EngineStateUnknown of Finish: the weights were finalised, only the label was not set.
LABEL_NOT_SET: Final = "LabelNotSet"
#: Reason of EngineStateUnknown where the connection was cut under the call: whether anybody
#: listens is known only by asking again.
CONNECTION_CUT: Final = "Unavailable"


class EngineError(Exception):
    """Base. `reason` is CamelCase and stable, `message` is for people."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message


class EngineRefused(EngineError):
    """The engine answered and did nothing."""


class EngineUnreachable(EngineError):
    """The call did not arrive."""


class EngineStateUnknown(EngineError):
    """The call may have been executed, in part or whole, or still be running."""
