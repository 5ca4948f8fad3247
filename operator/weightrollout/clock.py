"""The only place that reads time. Everything else is given a `Clock`."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never jumps. For every decision."""
        ...

    def wall(self) -> datetime:
        """Time of day in UTC. For people, and for how long a token holds; for no other decision."""
        ...


class SystemClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> datetime:
        return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """As Kubernetes writes it: whole seconds, a Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
