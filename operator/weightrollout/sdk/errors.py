"""What went wrong, by what is known.

SdkError
|-- FleetNotFound   there is no such WeightRollout, or no operator's API
|-- NotPublished    the spec was not changed: `reason` says why
|-- Rejected        the fleet tried it, and went back or stopped
|-- Superseded      another run, or a person, asked for something else meanwhile
`-- TimedOut        nobody knows yet; `state` is what was seen last
"""

from weightrollout.sdk.state import FleetState


class SdkError(Exception):
    """`state`: the fleet as it was seen last; None where it was not."""

    def __init__(self, reason: str, message: str, state: FleetState | None = None) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.state = state


class FleetNotFound(SdkError):
    pass


class NotPublished(SdkError):
    """Reasons: VersionReused, OlderStep, OwnedByAnother, Invalid, Forbidden."""


class Rejected(SdkError):
    """The reason is the operator's, such as DigestMismatch or AnalysisFailed."""


class Superseded(SdkError):
    pass


class TimedOut(SdkError):
    pass
