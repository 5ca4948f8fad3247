"""How long each phase and the pause took."""

from dataclasses import dataclass, field

from weightrollout.api.swap import SwapPhase
from weightrollout.clock import Clock
from weightrollout.swap.book import Timing


@dataclass
class Stopwatch:
    """Phases and the pause. A swap continued after a crash counts from then on."""

    clock: Clock
    spent: dict[SwapPhase, float] = field(default_factory=dict)  # seconds, in order of entry
    _phase: SwapPhase | None = None
    _since: float = 0.0
    _paused_at: float | None = None
    _paused_s: float = 0.0

    def enter(self, phase: SwapPhase) -> None:
        now = self.clock.monotonic()
        if self._phase is not None:
            self.spent[self._phase] = self.spent.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def pause_begins(self) -> None:
        if self._paused_at is None:
            self._paused_at = self.clock.monotonic()

    def pause_ends(self) -> None:
        if self._paused_at is not None:
            self._paused_s += self.clock.monotonic() - self._paused_at
            self._paused_at = None

    @property
    def pause_millis(self) -> float:
        open_s = 0.0 if self._paused_at is None else self.clock.monotonic() - self._paused_at
        return (self._paused_s + open_s) * 1000

    def timings(self) -> tuple[Timing, ...]:
        return tuple(Timing(phase, spent * 1000) for phase, spent in self.spent.items())
