"""What an answer's status says about a source, in the same words for every kind of source. Pure."""

from weightrollout.weights.errors import Reason, WeightsError
from weightrollout.weights.sources.retry import Again


def changed(what: str) -> WeightsError:
    return WeightsError(
        Reason.SOURCE_CHANGED, f"{what}: changed while it was read; publish to a new folder instead"
    )


def too_few(what: str, came: int, wanted: int) -> Again:
    return Again(WeightsError(Reason.SOURCE_UNREADABLE, f"{what}: {came} of {wanted} bytes came"))


def refused(what: str, status: int, retry_after_s: float | None, *, pinned: bool) -> Exception:
    """WeightsError, or Again. `pinned`: the file was seen before."""
    if status in (401, 403, 407):
        return WeightsError(
            Reason.SOURCE_DENIED,
            f"{what}: status {status}: the agent's credentials are missing, expired, or not enough",
        )
    if status in (404, 410, 412, 416):
        if pinned:
            return changed(f"{what}: status {status}")
        return WeightsError(Reason.SOURCE_NOT_FOUND, f"{what}: status {status}: nothing lies there")
    if status in (429, 503):
        busy = WeightsError(Reason.SOURCE_BUSY, f"{what}: status {status}: asks for fewer requests")
        return Again(busy, retry_after_s)
    error = WeightsError(Reason.SOURCE_UNREADABLE, f"{what}: status {status}")
    return Again(error) if status >= 500 or status == 408 else error
