"""How long each phase and the pause took."""

from dataclasses import dataclass, field

from weightrollout.api.swap import SwapPhase
from weightrollout.clock import Clock
from weightrollout.swap.book import Timing


@dataclass
class Stopwatch:
    """Phases and the pause. A swap continued after a crash counts from then on.

    A pause ends with the engine, too: what comes after its death is a restart, and no pause.
    """

    clock: Clock
    spent: dict[SwapPhase, float] = field(default_factory=dict)  # seconds, in order of entry
    _phase: SwapPhase | None = None
    _since: float = 0.0
    _paused_at: float | None = None
    _paused_s: float = 0.0
    _lost_at: float | None = None  # since when nobody answers for the engine

    def enter(self, phase: SwapPhase) -> None:
        now = self.clock.monotonic()
        if self._phase is not None:
            self.spent[self._phase] = self.spent.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def pause_begins(self) -> None:
        if self._paused_at is None:
            self._paused_at = self.clock.monotonic()

    def pause_ends(self) -> None:
        self._paused_s += self._open_s()
        self._paused_at = None

    def engine_lost(self) -> None:
        """Nobody listens, or the connection was cut. Whether it died is known by who answers next."""
        if self._lost_at is None:
            self._lost_at = self.clock.monotonic()

    def engine_found(self) -> None:
        """The same process answered: it was there all the time."""
        self._lost_at = None

    @property
    def pause_millis(self) -> float:
        return (self._paused_s + self._open_s()) * 1000

    def _open_s(self) -> float:
        if self._paused_at is None:
            return 0.0
        until = self._lost_at if self._lost_at is not None else self.clock.monotonic()
        return max(0.0, until - self._paused_at)

    def timings(self) -> tuple[Timing, ...]:
        return tuple(Timing(phase, spent * 1000) for phase, spent in self.spent.items())
