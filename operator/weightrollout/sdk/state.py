"""What a WeightRollout says, as a trainer asks for it."""

from collections.abc import Callable
from dataclasses import dataclass

from weightrollout.api.spec import Driver
from weightrollout.api.status import Phase, WeightRolloutStatus
from weightrollout.kube.client import Json
from weightrollout.reading import read_status


@dataclass(frozen=True, slots=True)
class FleetState:
    """One look. Versions are "" where there is none."""

    name: str
    namespace: str
    driver: Driver  # spec.driver: who starts swaps
    asked: str  # spec.weights.version; where a trainer drives: what it calls durable
    current: bool  # the operator has looked at this very spec
    phase: Phase
    message: str
    hold: str  # the one thing it waits for, in words; "" for nothing
    reason: str  # the hold's, stable; "" for nothing
    desired: str  # what the operator works on, or was asked to
    target: str  # what it converges on; another one after a rejection
    stable: str  # newest that the whole fleet verified
    pods: int  # that count
    updated: int  # of them, proven to serve the target; where a trainer drives: to hold what they were given
    #: What is really loaded, as agents read it back, and in how many pods.
    versions: tuple[tuple[str, int], ...] = ()
    held: int = 0  # pods that a trainer holds now: paused, asleep or in an update

    @property
    def complete(self) -> bool:
        """All pods serve what is asked for. Never where a trainer drives: see `in_hand`, and `reporting`."""
        return self._is_complete and self.driver is Driver.OPERATOR

    @property
    def in_hand(self) -> bool:
        """A trainer drives, and each pod holds what it gave it, or is held by it; which version, nobody says."""
        return self._is_complete and self.driver is Driver.TRAINER

    @property
    def _is_complete(self) -> bool:
        return self.current and self.phase is Phase.COMPLETE

    def reporting(self, fits: Callable[[str], bool]) -> int:
        """Pods whose agents say that they hold a version that `fits`. They may still be paused."""
        return sum(pods for version, pods in self.versions if fits(version))


def state_of(rollout: Json) -> FleetState:
    metadata, status, spec = rollout["metadata"], read_status(rollout), rollout.get("spec") or {}
    weights = spec.get("weights") or {}
    trainer = spec.get("driver") == Driver.TRAINER
    hold = status.hold
    return FleetState(
        name=metadata["name"],
        namespace=metadata["namespace"],
        driver=Driver.TRAINER if trainer else Driver.OPERATOR,
        asked=str(weights.get("version", "")),
        current=_is_current(status, metadata),
        phase=status.phase,
        message=status.message,
        hold=f"{hold.reason}: {hold.message}" if hold is not None else "",
        reason=hold.reason if hold is not None else "",
        desired=status.desired.version if status.desired is not None else "",
        target=status.target.version if status.target is not None else "",
        stable=status.stable.version if status.stable is not None else "",
        pods=status.pods.selected,
        updated=status.pods.updated,
        versions=tuple((each.version, each.pods) for each in status.versions),
        held=status.trainer.held if status.trainer is not None else 0,
    )


def _is_current(status: WeightRolloutStatus, metadata: Json) -> bool:
    return status.observed_generation == metadata.get("generation")
