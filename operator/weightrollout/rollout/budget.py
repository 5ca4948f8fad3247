"""How many serving pods may be away at once, and who uses that up.

    limit = maxUnavailable of the base, rounded down, at least 1
    used  = pods out of service (ours or not) + pods that soak
    a serving pod may be taken out only while used + 1 <= limit

Pods that are not in service swap first and cost nothing: they are counted already. PodDisruptionBudgets, which may
allow less, are asked by disruption.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from weightrollout.api.quantity import limit
from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.rollout.classify import Pod
from weightrollout.rollout.disruption import NONE_KNOWN, Disruptions
from weightrollout.rollout.refusal import Refusal, listed


@dataclass(frozen=True, slots=True)
class Budget:
    limit: int
    setting: int | str  # spec.strategy.maxUnavailable as written
    engaged: tuple[str, ...]  # names of pods that are out because of us
    unready: tuple[str, ...]  # names of pods that are out for any other reason
    soaking: tuple[str, ...]
    disruptions: Disruptions = NONE_KNOWN

    @property
    def used(self) -> int:
        return len(self.engaged) + len(self.unready) + len(self.soaking)

    def with_taken(self, name: str) -> "Budget":
        """After one more serving pod was promised to a swap in this pass."""
        taken = (*self.engaged, name)
        return replace(self, engaged=taken, disruptions=self.disruptions.with_taken(name))


def budget_of(
    pods: Iterable[Pod],
    max_unavailable: int | str,
    disruptions: Disruptions = NONE_KNOWN,
    evicted: tuple[str, ...] = (),
) -> Budget:
    """`evicted`: names of pods that end because of us. No part of the base any more, and missed all the same."""
    base = tuple(pods)
    return Budget(
        limit=limit(max_unavailable, len(base) + len(evicted), at_least=1),
        setting=max_unavailable,
        engaged=tuple(pod.name for pod in base if pod.out and pod.engaged),
        unready=(*(pod.name for pod in base if pod.out and not pod.engaged), *evicted),
        soaking=tuple(pod.name for pod in base if pod.soak_until is not None),
        disruptions=disruptions,
    )


def refuse_over_budget(budget: Budget) -> Refusal | None:
    """Why no serving pod may be taken out now; None when one may."""
    if budget.used + 1 <= budget.limit:
        return None
    allowed = f"strategy.maxUnavailable {budget.setting} allows {budget.limit}"
    if budget.engaged:
        message = f"{allowed}, in use by {listed(budget.engaged)}"
        return Refusal(HoldGate.BUDGET, HoldReason.BUDGET_IN_USE, message, budget.engaged)
    if budget.soaking:
        names = listed(budget.soaking)
        message = f"{names} must serve strategy.soakSeconds before the next pod goes ({allowed})"
        return Refusal(HoldGate.SOAK, HoldReason.SOAKING, message, budget.soaking)
    names = listed(budget.unready)
    message = (
        f"{allowed}, and {names} {'is' if len(budget.unready) == 1 else 'are'} not ready:"
        " bring these pods back or raise strategy.maxUnavailable"
    )
    return Refusal(HoldGate.BUDGET, HoldReason.BUDGET_USED_BY_UNREADY_PODS, message, budget.unready)
