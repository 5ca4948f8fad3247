"""Which digests have proven themselves, and which pod goes first where one has not.

A digest is proven once a whole swap of it was committed on some pod, prompts included, or once the
whole fleet verified it. Proof is about the digest, never about a number or a label.
"""

from collections.abc import Iterable

from weightrollout.api.swap import Outcome
from weightrollout.rollout.backoff import swap_again_at
from weightrollout.rollout.classify import Pod, PodState, loaded_by
from weightrollout.rollout.fleet import AgentView, Doing, Fleet, PodView, Verdict
from weightrollout.rollout.memory import is_contradicted
from weightrollout.rollout.target import Goal


def proven_digests(fleet: Fleet, *, without: str = "") -> frozenset[str]:
    """Digests proven by history or by a pod; pod uid `without` does not testify."""
    rejected = {each.ref.revision for each in fleet.revisions if each.verdict is Verdict.REJECTED}
    proven = {
        each.ref.digest
        for each in fleet.revisions
        if each.verdict is Verdict.VERIFIED and each.ref.digest
    }
    for pod in fleet.pods:
        if pod.uid != without:
            proven |= _testimony(pod, rejected)
    return frozenset(proven)


def _testimony(pod: PodView, rejected: set[str]) -> set[str]:
    if not isinstance(pod.agent, AgentView):
        return set()
    refs = [loaded_by(pod.agent)]
    transaction = pod.agent.transaction
    if transaction is not None and transaction.outcome is Outcome.COMMITTED:
        refs.append(transaction.weights)
    return {ref.digest for ref in refs if ref and ref.digest and ref.revision not in rejected}


def elect_prover(fleet: Fleet, goal: Goal, ordered: Iterable[Pod]) -> PodView | None:
    """The one pod that may load the unproven target; None when no pod is fit for it.

    Who has begun stays elected until it is through, has failed for good, or is lost: a bad digest
    must not wander from pod to pod. Whoever swaps comes before whoever is reserved.
    """
    for leaving in fleet.pods:
        # It counts nowhere, but what it finds out does.
        if leaving.terminating and _swaps(leaving, goal):
            return leaving
    pods = tuple(ordered)
    for pod in pods:
        if may_swap_unseen(pod, fleet, goal.target.ref.revision):
            return pod.view
    fit = [pod for pod in pods if _is_fit(pod, goal, fleet)]
    for has_begun in (_is_swapping_for, _is_engaged_for, _has_tried):
        for pod in fit:
            if has_begun(pod, goal):
                return pod.view
    free = [pod for pod in fit if not pod.engaged]
    if not free:
        return None
    free = [pod for pod in free if not _rests(pod, fleet, goal)] or free
    staged = (pod for pod in free if pod.agent and pod.agent.holds(goal.target.ref))
    return next(staged, free[0]).view


def may_swap_unseen(pod: Pod, fleet: Fleet, revision: str) -> bool:
    """Its agent fell silent in the middle: until its own deadline it may still be proving."""
    silent_since = pod.memory.silent_since
    if silent_since is None or pod.memory.engaged_for != revision:
        return False
    return fleet.now < silent_since + fleet.spec.pod_deadline_seconds


def _rests(pod: Pod, fleet: Fleet, goal: Goal) -> bool:
    """It was put back because its requests ran on: meanwhile another pod may go first."""
    again = swap_again_at(pod, goal.target.ref, fleet.spec.swap)
    return again is not None and fleet.now < again


def _is_fit(pod: Pod, goal: Goal, fleet: Fleet) -> bool:
    """Unreachable and incompatible pods, and those whose agent cannot load all of it, never prove: they would say nothing about the weights."""
    if pod.agent is None or pod.state in (PodState.FAILED, PodState.INCOMPATIBLE):
        return False
    lacks = pod.agent.lacks(goal.target.ref, fleet.spec.swap.pause_mode)
    if is_contradicted(pod.agent) or lacks:
        return False  # whatever it proves next would not be believed either
    return pod.agent.engine.reachable or pod.engaged or pod.state is PodState.POISONED


def _is_swapping_for(pod: Pod, goal: Goal) -> bool:
    return _swaps(pod.view, goal)


def _swaps(pod: PodView, goal: Goal) -> bool:
    running = pod.agent.transaction if isinstance(pod.agent, AgentView) else None
    if running is None or not running.running:
        return False
    return running.weights.revision == goal.target.ref.revision


def _is_engaged_for(pod: Pod, goal: Goal) -> bool:
    if pod.agent is None or not pod.engaged or pod.running is not None:
        return False
    target = goal.target.ref.revision
    if pod.agent.reserved_txn is not None:
        return f"/{target}/" in pod.agent.reserved_txn
    asked = (pod.work[doing] for doing in (Doing.RESERVE, Doing.SWAP) if doing in pod.work)
    return any(revision in ("", target) for revision in asked)


def _has_tried(pod: Pod, goal: Goal) -> bool:
    if pod.agent is None:
        return False
    tried = pod.agent.attempts.get(goal.target.ref.digest or "")
    if tried is not None and tried.failure_class is not None:
        return True
    last = pod.finished
    failed = last is not None and last.outcome not in (Outcome.COMMITTED, Outcome.GAVE_UP)
    return failed and last is not None and last.weights.revision == goal.target.ref.revision
