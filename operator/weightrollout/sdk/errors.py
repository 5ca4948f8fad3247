"""What went wrong, by what is known.

SdkError
|-- FleetNotFound   there is no such WeightRollout, or no operator's API
|-- NotPublished    the spec was not changed: `reason` says why
|-- NotStored       nor was it, because the tensors could not be written
|-- Rejected        the fleet tried it, and went back or stopped
|-- Superseded      another run, or a person, asked for something else meanwhile
|-- TimedOut        nobody knows yet; `state` is what was seen last
`-- ClusterFailed   the API server refused or did not answer: it may have been done, and every call may be repeated
"""

from collections.abc import Iterator
from contextlib import contextmanager

from weightrollout.kube.errors import KubeError, NotFound
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


class NotStored(SdkError):
    """The reason is that of the store, such as SourceDenied or SourceBusy. Safe to repeat."""


class Rejected(SdkError):
    """The reason is the operator's, such as DigestMismatch or AnalysisFailed."""


class Superseded(SdkError):
    pass


class TimedOut(SdkError):
    pass


class ClusterFailed(SdkError):
    """Reasons: ApiServerForbidden, ApiServerUnavailable and the like."""


@contextmanager
def typed(seen: list[FleetState]) -> Iterator[None]:
    """What the API server did to a call, as an SdkError; with the newest of `seen`, where there is one."""
    try:
        yield
    except NotFound as missing:
        raise FleetNotFound("FleetNotFound", str(missing), *seen[-1:]) from missing
    except KubeError as failed:
        raise ClusterFailed(failed.reason, str(failed), *seen[-1:]) from failed
