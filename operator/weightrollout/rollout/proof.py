"""Which digests have proven themselves, and which pod goes first where one has not.

A digest is proven once a whole swap of it was committed on some pod, prompts included, or once the
whole fleet verified it. Proof is about the digest, never about a number or a label.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from weightrollout.api.swap import Outcome
from weightrollout.rollout.backoff import swap_again_at
from weightrollout.rollout.classify import Pod, PodState, loaded_by
from weightrollout.rollout.fleet import AgentView, Doing, Fleet, PodView, Verdict
from weightrollout.rollout.memory import is_contradicted
from weightrollout.rollout.target import Goal


def proven_digests(fleet: Fleet) -> frozenset[str]:
    """Digests proven by history or by a pod."""
    return frozenset(witnesses_of(fleet))


def witnesses_of(fleet: Fleet) -> Mapping[str, frozenset[str]]:
    """Who says that a digest is proven: uids of pods, and "" for the history."""
    rejected = {each.ref.revision for each in fleet.revisions if each.verdict is Verdict.REJECTED}
    witnesses: defaultdict[str, set[str]] = defaultdict(set)
    for each in fleet.revisions:
        if each.verdict is Verdict.VERIFIED and each.ref.digest:
            witnesses[each.ref.digest].add("")
    for pod in fleet.pods:
        for digest in _testimony(pod, rejected):
            witnesses[digest].add(pod.uid)
    return {digest: frozenset(uids) for digest, uids in witnesses.items()}


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
    must not wander from pod to pod. Whoever swaps comes before whoever is reserved. Only a pod that
    nothing but the target can bring back comes before one that tried and serves again: the one keeps
    the budget that the other waits for.
    """
    for leaving in fleet.pods:
        # It counts nowhere, but what it finds out does.
        if leaving.terminating and _swaps(leaving, goal):
            return leaving
    pods = tuple(ordered)
    for pod in pods:
        if _may_prove_unseen(pod, fleet, goal.target.ref.revision):
            return pod.view
    fit = [pod for pod in pods if _is_fit(pod, goal, fleet)]
    for goes_first in (
        *(_is_swapping_for, _is_engaged_for, _has_tried_and_is_out),
        *(_is_free_and_costs_nothing, _has_tried),
    ):
        for pod in fit:
            if goes_first(pod, goal):
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


def _may_prove_unseen(pod: Pod, fleet: Fleet, revision: str) -> bool:
    """Or it failed and falls silent before it is tried again: so does one whose agent restarts, and
    another pod would only be poisoned as well."""
    if may_swap_unseen(pod, fleet, revision):
        return True
    since = pod.memory.silent_since
    tried = pod.memory.failures > 0 and f"/{revision}/" in pod.memory.failed_txn
    return since is not None and tried and fleet.now < since + fleet.spec.pod_deadline_seconds


def _rests(pod: Pod, fleet: Fleet, goal: Goal) -> bool:
    """It was put back because its requests ran on: meanwhile another pod may go first."""
    again = swap_again_at(pod, goal.target.ref, fleet.spec.swap)
    return again is not None and fleet.now < again


def _is_fit(pod: Pod, goal: Goal, fleet: Fleet) -> bool:
    """Unreachable and incompatible pods, and those whose agent cannot load all of it, never prove: they would say nothing about the weights."""
    if pod.agent is None or pod.state in (PodState.FAILED, PodState.INCOMPATIBLE):
        return False
    if fleet.trainer_drives and not _may_join(pod, pod.agent):
        return False
    lacks = pod.agent.lacks_for(goal.target.ref, fleet.spec)
    if is_contradicted(pod.agent) or lacks:
        return False  # whatever it proves next would not be believed either
    return pod.agent.engine.reachable or pod.engaged or pod.state is PodState.POISONED


def _may_join(pod: Pod, agent: AgentView) -> bool:
    """Where a trainer drives no other pod loads its durable version."""
    takes_it = not (agent.held_by_trainer or agent.incompatible_reason)
    return takes_it and pod.out and pod.state in (PodState.JOINING, PodState.POISONED)


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


def _has_tried_and_is_out(pod: Pod, goal: Goal) -> bool:
    return pod.out and _has_tried(pod, goal)


def _is_free_and_costs_nothing(pod: Pod, goal: Goal) -> bool:
    if pod.agent is None or pod.engaged or not (pod.out and pod.stable_fails):
        return False
    return pod.agent.holds(goal.target.ref)


def _has_tried(pod: Pod, goal: Goal) -> bool:
    if pod.agent is None:
        return False
    tried = pod.agent.attempts.get(goal.target.ref.digest or "")
    if tried is not None and tried.failure_class is not None:
        return True
    last = pod.finished
    failed = last is not None and last.outcome not in (Outcome.COMMITTED, Outcome.GAVE_UP)
    return failed and last is not None and last.weights.revision == goal.target.ref.revision
