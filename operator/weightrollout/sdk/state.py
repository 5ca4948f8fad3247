"""What a WeightRollout says, as a trainer asks for it."""

from dataclasses import dataclass

from weightrollout.api.status import Phase, WeightRolloutStatus
from weightrollout.kube.client import Json
from weightrollout.reading import read_status


@dataclass(frozen=True, slots=True)
class FleetState:
    """One look. Versions are "" where there is none."""

    name: str
    namespace: str
    asked: str  # spec.weights.version
    current: bool  # the operator has looked at this very spec
    phase: Phase
    message: str
    hold: str  # the one thing it waits for, in words; "" for nothing
    reason: str  # the hold's, stable; "" for nothing
    desired: str  # what the operator works on, or was asked to
    target: str  # what it converges on; another one after a rejection
    stable: str  # newest that the whole fleet verified
    pods: int  # that count
    updated: int  # of them, proven to serve the target
    versions: tuple[tuple[str, int], ...] = ()  # what is really loaded, and in how many pods

    @property
    def complete(self) -> bool:
        return self.current and self.phase is Phase.COMPLETE


def state_of(rollout: Json) -> FleetState:
    metadata, status = rollout["metadata"], read_status(rollout)
    weights = (rollout.get("spec") or {}).get("weights") or {}
    hold = status.hold
    return FleetState(
        name=metadata["name"],
        namespace=metadata["namespace"],
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
    )


def _is_current(status: WeightRolloutStatus, metadata: Json) -> bool:
    return status.observed_generation == metadata.get("generation")
