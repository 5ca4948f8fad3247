"""Which revisions the history may forget: all but the newest few that nobody uses.

What is in use is kept and does not count, as in a StatefulSet's history; so is what an abort of stable, or of the
target once it is stable, goes back to. Silent agents cannot say what they serve: for them the pod's own marks speak, which were
written when it was put in.
"""

from collections.abc import Iterator
from typing import Final

from weightrollout.rollout.actions import PruneRevision
from weightrollout.rollout.adopt import HISTORY
from weightrollout.rollout.fleet import AgentView, Doing, Fleet, PodView, Ref
from weightrollout.rollout.revisions import highest
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.target import before

#: Deletions in one pass: a long history shrinks without a burst on the API server.
BATCH: Final = 5


def prunable(situation: Situation) -> tuple[PruneRevision, ...]:
    """The oldest first. None while the history is being written, or a deletion is under way or
    failed lately: nothing waits for it, so it never holds the rollout."""
    fleet = situation.fleet
    if any(work.doing in HISTORY for work in fleet.work):
        return ()
    if fleet.failure_of(Doing.PRUNE_REVISION) is not None:
        return ()
    names, versions = _in_use(situation)
    idle = sorted(
        (
            each
            for each in fleet.revisions
            if each.ref.revision not in names and each.ref.version not in versions
        ),
        key=lambda each: each.number,
    )
    limit = fleet.spec.revision_history_limit
    newest = highest(fleet.revisions)  # the next one is counted on from it
    excess = [each for each in idle[: max(0, len(idle) - limit)] if each.number != newest]
    return tuple(
        PruneRevision(
            each.ref.revision,
            each.number,
            "HistoryFull",
            f"version {each.ref.version} is in use nowhere (revisionHistoryLimit {limit})",
        )
        for each in excess[:BATCH]
    )


def _in_use(situation: Situation) -> tuple[set[str], set[str]]:
    """Names of revisions, and version labels of pods."""
    fleet = situation.fleet
    names = {each.revision for each in _refs(situation) if each is not None}
    names |= {
        each.revision
        for each in (fleet.status.desired, fleet.status.target, fleet.status.stable)
        if each is not None
    }
    names |= {_revision_of(txn) for pod in fleet.pods for txn in _txns(pod, fleet)}
    # A silent pod's own marks may be late (labels.py); this leader saw what it served last.
    names |= {each.served for each in fleet.memory.pods.values() if each.silent_since is not None}
    return names, {pod.version_label for pod in fleet.pods} - {""}


def _refs(situation: Situation) -> Iterator[Ref | None]:
    goal, fleet = situation.goal, situation.fleet
    ways_back = (before(each, fleet.revisions) for each in (goal.stable, goal.target))
    for revision in (goal.desired, goal.queued, goal.target, goal.stable, *ways_back):
        yield revision.ref if revision is not None else None
    yield fleet.published
    for pod in fleet.pods:
        if isinstance(pod.agent, AgentView):
            yield from (pod.agent.serving, pod.agent.told, pod.agent.last_good)
            yield pod.agent.transaction.weights if pod.agent.transaction else None


def _txns(pod: PodView, fleet: Fleet) -> Iterator[str]:
    """Transactions that may have brought, or may still bring, weights to this pod."""
    yield pod.put_in_txn
    if isinstance(pod.agent, AgentView):
        yield pod.agent.reserved_txn or ""
    memory = fleet.memory.pods.get(pod.uid)
    yield memory.reserved_txn if memory is not None else ""


def _revision_of(txn: str) -> str:
    """ "" for a transaction that is not ours."""
    parts = txn.split("/")
    return parts[1] if len(parts) == 4 else ""
