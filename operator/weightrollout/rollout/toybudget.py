"""A PodDisruptionBudget of the toy world, and its controller, which counts a little later than pods change."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from weightrollout.api.disruption import DisruptionBudget, Requirement
from weightrollout.rollout.toypod import ToyPod


@dataclass
class ToyBudget:
    name: str
    min_available: int | None = None  # None: `max_unavailable` counts
    max_unavailable: int = 1
    selector: tuple[Requirement, ...] | None = ()
    observed: bool = False

    def __post_init__(self) -> None:
        self.view = DisruptionBudget(self.name, self.selector, self.observed)

    @staticmethod
    def seen(budget: DisruptionBudget, pods: Iterable[ToyPod]) -> "ToyBudget":
        """As a real one stands now: pods of others that it selects stay as they are."""
        mine = sum(budget.selects(pod.labels) for pod in pods)
        others = max(0, budget.expected - mine)
        return ToyBudget(budget.name, max(0, budget.desired - others), selector=budget.selector)

    def change(self, *, min_available: int | None = None, max_unavailable: int = 1) -> None:
        self.min_available, self.max_unavailable = min_available, max_unavailable
        self.view = replace(self.view, observed=False)

    def desired(self, expected: int) -> int:
        if self.min_available is not None:
            return self.min_available
        return max(0, expected - self.max_unavailable)

    def counted(self, pods: Iterable[ToyPod]) -> DisruptionBudget:
        """What its controller would write now."""
        selected = [pod for pod in pods if self.view.selects(pod.labels)]
        healthy = sum(pod.ready and not pod.terminating for pod in selected)
        desired = self.desired(len(selected))
        return replace(
            self.view,
            observed=True,
            allowed=max(0, healthy - desired),
            healthy=healthy,
            desired=desired,
            expected=len(selected),
        )
