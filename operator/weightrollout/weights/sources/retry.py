"""When a request that failed is sent again. Pure."""

from dataclasses import dataclass
from typing import Final

from weightrollout.weights.errors import WeightsError


@dataclass(frozen=True, slots=True)
class Patience:
    attempts: int = 6  # of one range, the first one included
    first_s: float = 0.5  # doubled each time
    most_s: float = 30.0  # also of what a server asks for: the operator backs off beyond that
    deadline_s: float = 30.0  # for each connect and for each time a socket is silent

    def delay_s(self, failures: int, retry_after_s: float | None) -> float | None:
        """Before the next attempt, after `failures`; None: give up."""
        if failures >= self.attempts:
            return None
        own: float = self.first_s * 2 ** (failures - 1)
        return min(self.most_s, own if retry_after_s is None else max(own, retry_after_s))


PATIENCE: Final = Patience()


class Again(Exception):
    """A request failed in a way that may pass. `error` is what it is if it does not."""

    def __init__(self, error: WeightsError, retry_after_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.retry_after_s = retry_after_s


def retry_after_s(header: str | None) -> float | None:
    """Of the form in seconds; a date is taken for none."""
    text = (header or "").strip()
    return float(text) if text.isdecimal() and len(text) < 7 else None
