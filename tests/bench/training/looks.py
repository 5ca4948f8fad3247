"""What was seen of the pods while versions came: how far behind, ever back, ever at their first weights. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from weightrollout.sdk.versions import step_of

Json = dict[str, Any]
MOST_LAG: Final = 2
MOST_TOLD: Final = 100
FIRST_WEIGHTS: Final = "default"


@dataclass
class Looks:
    """Lags are in versions: the newest published, less the oldest that a pod in service had at that moment."""

    run: str
    lags: Counter[int] = field(default_factory=Counter)  # looks by lag
    outage_lags: Counter[int] = field(default_factory=Counter)  # the same, while no operator worked
    recoveries_s: list[float] = field(default_factory=list)  # from a kill until lags were as before
    went_back: set[str] = field(default_factory=set)  # an older version after a newer one
    at_first_weights: set[str] = field(
        default_factory=set
    )  # in service with what the engine was born with
    served: set[int] = field(default_factory=set)
    far: list[Json] = field(
        default_factory=list
    )  # the first looks at too great a lag, for whoever asks why
    _highest: dict[str, int] = field(default_factory=dict)
    _killed: tuple[float, int] | None = None  # when, and the epoch by then

    def killed(self, now: float, epoch: int) -> None:
        self._killed = (now, epoch)

    def look(self, now: float, newest: int, epoch: int, serving: Mapping[str, str]) -> None:
        """`serving`: the version of each pod in service, by the process of its engine: one that restarted may load what is
        stable, and that is older. `epoch`: the highest that an agent was told."""
        lag = 0
        for pod, version in serving.items():
            step = step_of(self.run, version)
            if step is None:
                self.at_first_weights.add(pod)
                continue
            lag = max(lag, newest - step)
            self.served.add(step)
            if step < self._highest.get(pod, step):
                self.went_back.add(pod)
            self._highest[pod] = max(step, self._highest.get(pod, step))
        if self._killed is not None and epoch > self._killed[1] and lag <= MOST_LAG:
            self.recoveries_s.append(now - self._killed[0])
            self._killed = None
        if self._killed is None and lag > MOST_LAG and len(self.far) < MOST_TOLD:
            behind = [
                pod
                for pod, version in serving.items()
                if step_of(self.run, version) == newest - lag
            ]
            self.far.append(
                {"at": now, "newest": newest, "lag": lag, "pods": len(behind), "one": behind[0]}
            )
        (self.lags if self._killed is None else self.outage_lags)[lag] += 1

    def told(self) -> Json:
        return {
            "lags": _by_lag(self.lags),
            "outage_lags": _by_lag(self.outage_lags),
            "recoveries_s": self.recoveries_s,
            "unrecovered": self._killed is not None,
            "went_back": sorted(self.went_back),
            "at_first_weights": sorted(self.at_first_weights),
            "served": len(self.served),
            "far": self.far,
        }


def _by_lag(lags: Counter[int]) -> dict[str, int]:
    return {str(lag): lags[lag] for lag in sorted(lags)}
