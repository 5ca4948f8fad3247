"""Whether PodDisruptionBudgets allow that one more serving pod is taken out.

Whoever leaves its endpoints is a pod less, as if it had been evicted, so it is asked what an eviction is asked: each
PodDisruptionBudget that selects the pod must have a disruption left.

    left = disruptionsAllowed
         - pods that are leaving and are Ready still                    its controller cannot know of them
         - pods that are not Ready and that it counts as healthy        its controller is behind our watch

So a swap of ours is counted once, before and after its controller has seen it. The last line is exact where
it selects nobody but our fleet; unready strangers can hide a pod there for as long as its controller is behind.
A pod that is not in service costs nothing, and neither does a swap that leaves it in its endpoints.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from weightrollout.api.disruption import DisruptionBudget
from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import TakeOut, WeightRolloutSpec
from weightrollout.rollout.classify import Pod, PodState, restart_pending
from weightrollout.rollout.fleet import Doing, Fleet, Ref
from weightrollout.rollout.refusal import Refusal

#: Its controller counts a pod that is Ready again within a moment; until then that is no hold.
FOLLOWS_WITHIN_S: Final = 5.0
_OR_IGNORE: Final = "or set strategy.ignorePDB: true"


@dataclass(frozen=True, slots=True)
class Share:
    """One PodDisruptionBudget that selects pods of this fleet, by their names."""

    budget: DisruptionBudget
    selected: frozenset[str]
    leaving: tuple[str, ...]  # and Ready still
    unready: tuple[str, ...]
    uncounted: int  # of the unready
    behind: bool  # more pods are Ready again than it counts, only just

    @property
    def left(self) -> int:
        return self.budget.allowed - len(self.leaving) - self.uncounted


@dataclass(frozen=True, slots=True)
class Disruptions:
    shares: tuple[Share, ...] = ()  # by name
    denied: str = ""  # why nobody knows; "": it is known

    def with_taken(self, name: str) -> "Disruptions":
        """After one more serving pod was promised to a swap in this pass."""
        return replace(self, shares=tuple(_with_taken(share, name) for share in self.shares))

    def short_of(self, pod: Pod) -> Share | None:
        """The first one by name that allows no more; one that is only behind comes last."""
        short = [
            share
            for share in self.shares
            if pod.name in share.selected and (share.left < 1 or not share.budget.observed)
        ]
        return min(short, key=lambda share: share.behind, default=None)


NONE_KNOWN: Final = Disruptions()


def _with_taken(share: Share, name: str) -> Share:
    return replace(share, leaving=(*share.leaving, name)) if name in share.selected else share


def disruptions_of(fleet: Fleet, pods: Iterable[Pod]) -> Disruptions:
    if fleet.spec.strategy.ignore_pdb:
        return NONE_KNOWN
    known = tuple(pods)
    asks = any(pod.in_service and pod.state is not PodState.UPDATED for pod in known)
    if not asks or fleet.disruption_budgets_denied or not fleet.disruption_budgets:
        return Disruptions(denied=fleet.disruption_budgets_denied)
    leaving = frozenset(pod.name for pod in known if _is_leaving(pod, fleet))
    ready_since = {pod.name: pod.memory.ready_since for pod in known}
    shares = (
        _share(budget, fleet, leaving, ready_since)
        for budget in sorted(fleet.disruption_budgets, key=lambda each: each.name)
    )
    return Disruptions(tuple(share for share in shares if share is not None))


def _share(
    budget: DisruptionBudget, fleet: Fleet, leaving: frozenset[str], ready_since: dict[str, float]
) -> Share | None:
    selected = [view for view in fleet.pods if budget.selects(view.labels)]
    if not selected:
        return None
    ready = [view.name for view in selected if view.ready and not view.terminating]
    unready = [view.name for view in selected if not view.ready or view.terminating]
    # Pods beyond what it expects, such as those of a scale-in, are not missed by it.
    surplus = max(0, len(selected) - budget.expected)
    uncounted = max(0, len(unready) - surplus - (budget.expected - budget.healthy))
    newest = max((ready_since.get(name, 0.0) for name in ready), default=0.0)
    return Share(
        budget=budget,
        selected=frozenset(view.name for view in selected),
        leaving=tuple(name for name in ready if name in leaving),
        unready=tuple(unready),
        uncounted=uncounted,
        behind=len(ready) > budget.healthy and fleet.now < newest + FOLLOWS_WITHIN_S,
    )


def _is_leaving(pod: Pod, fleet: Fleet) -> bool:
    if not pod.view.ready:
        return False
    if pod.agent is not None and not pod.agent.ready:
        return True  # its next probes fail, also where that is none of our doing
    if pod.work.keys() & {Doing.TAKE_OUT, Doing.RESTART_ENGINE}:
        return True
    silent_in_mid_swap = pod.agent is None and pod.memory.engaged_for != ""
    if (pod.engaged or silent_in_mid_swap) and fleet.spec.swap.take_out is TakeOut.ENDPOINT:
        return True
    return restart_pending(pod.memory, fleet.now)


def is_disruption(want: Ref, spec: WeightRolloutSpec) -> bool:
    """Of a serving pod: going back to the baseline restarts its engine, whatever takeOut says."""
    return want.is_baseline or spec.swap.take_out is TakeOut.ENDPOINT


def refuse_disruption(pod: Pod, disruptions: Disruptions) -> Refusal | None:
    """Why this serving pod may not be taken out now; None when it may."""
    if disruptions.denied:
        message = (
            f"nobody knows whether a PodDisruptionBudget selects {pod.name} ({disruptions.denied}):"
            f" give the operator the rights of its release's chart, {_OR_IGNORE}"
        )
        reason = HoldReason.DISRUPTION_BUDGETS_UNREADABLE
        return Refusal(HoldGate.DISRUPTION, reason, message, (pod.name,))
    share = disruptions.short_of(pod)
    if share is None:
        return None
    budget = share.budget
    if not budget.observed:
        why = f" ({budget.trouble})" if budget.trouble else ""
        message = (
            f"PodDisruptionBudget {budget.name} was not counted yet as it stands now{why}: wait for"
            f" its controller, {_OR_IGNORE}"
        )
        reason = HoldReason.DISRUPTION_BUDGET_UNKNOWN
        return Refusal(HoldGate.DISRUPTION, reason, message, (pod.name,))
    return Refusal(
        HoldGate.DISRUPTION, HoldReason.NO_DISRUPTION_LEFT, _no_room(share), share.unready
    )


def passes_soon(refusal: Refusal, pod: Pod, disruptions: Disruptions) -> bool:
    """Nothing holds: a pod has just come back, and its PodDisruptionBudget is about to say so."""
    if refusal.reason != HoldReason.NO_DISRUPTION_LEFT:
        return False
    share = disruptions.short_of(pod)
    return share is not None and share.behind


def _no_room(share: Share) -> str:
    budget = share.budget
    who = f"PodDisruptionBudget {budget.name}"
    if budget.trouble:
        return f"{who} allows no disruption: {budget.trouble}: correct it, {_OR_IGNORE}"
    healthy = f"{budget.healthy} of {budget.expected} pods are healthy and {budget.desired} must be"
    gone = (*share.leaving, *share.unready)
    without = f", without {', '.join(gone)}" if gone else ""
    way_on = "bring pods back, let it allow one more" if share.unready else "let it allow one more"
    return f"{who} allows no disruption ({healthy}{without}): {way_on}, {_OR_IGNORE}"
