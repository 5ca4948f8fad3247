"""A clock that is put forward, for what happens after minutes."""

from weightrollout.clock import SystemClock


class LaterClock(SystemClock):
    """Runs as fast as ours."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_s
