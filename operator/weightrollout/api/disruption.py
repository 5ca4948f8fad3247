"""A PodDisruptionBudget (policy/v1) as Kubernetes shows it, and which pods it selects."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a selector; a label of `matchLabels` is an In with one value."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist
    values: frozenset[str] = frozenset()

    def is_met(self, labels: Mapping[str, str]) -> bool:
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values  # also of a pod without the label
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels
            case _:
                return True  # of a newer Kubernetes: rather a pod too many than one too few


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """Numbers are its controller's, of the moment at which it looked last."""

    name: str
    selector: tuple[Requirement, ...] | None  # (): every pod of the namespace; None: no pod
    observed: bool  # its controller has looked at this very spec
    allowed: int = 0  # status.disruptionsAllowed
    healthy: int = 0  # status.currentHealthy
    desired: int = 0  # status.desiredHealthy
    expected: int = 0  # status.expectedPods
    trouble: str = ""  # what its controller cannot make out; "": nothing

    def selects(self, labels: Mapping[str, str]) -> bool:
        return self.selector is not None and all(each.is_met(labels) for each in self.selector)
