"""Events: what a person would want to read, about a dozen for a revision, each once.

An event is a difference between the status as it was read and the new one, so that a new leader
does not tell old stories; the keys in memory keep one leader from telling the same twice.
"""

from collections.abc import Iterator

from weightrollout.api.reasons import HoldGate
from weightrollout.api.status import (
    AnalysisOutcome,
    AnalysisStatus,
    Failure,
    Phase,
    WeightRolloutStatus,
)
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.actions import (
    Action,
    Announce,
    EvictPod,
    RecordRevision,
    RestartEngine,
)
from weightrollout.rollout.fleet import Fleet, Verdict
from weightrollout.rollout.situation import Situation

Told = tuple[str, Announce]  # key, event

#: A hold behind these gates is worth an event; the others pass by themselves.
WORTH_AN_EVENT = frozenset(
    {
        HoldGate.ENVIRONMENT,
        HoldGate.REPAIR,
        HoldGate.BUDGET,
        HoldGate.DISRUPTION,
        HoldGate.FAILED,
        HoldGate.AGENT,
    }
)


def announcements(
    situation: Situation, actions: tuple[Action, ...], status: WeightRolloutStatus
) -> tuple[tuple[Announce, ...], frozenset[str]]:
    """The events of this pass, and all keys announced so far."""
    told = situation.fleet.memory.announced
    new = {key: event for key, event in _all(situation, actions, status) if key not in told}
    return tuple(new.values()), told | new.keys()


def _all(
    situation: Situation, actions: tuple[Action, ...], status: WeightRolloutStatus
) -> Iterator[Told]:
    fleet = situation.fleet
    yield from _of_revision(fleet, status)
    for action in actions:
        if isinstance(action, RecordRevision):
            yield from _of_record(action, fleet)
        if isinstance(action, EvictPod):
            yield (
                f"Evict/{action.pod_uid}",
                Announce(True, "PodEvicted", action.message, action.pod, action.pod_uid),
            )
        if isinstance(action, RestartEngine):
            yield (
                f"EngineRestart/{action.pod_uid}/{fleet.now}",
                Announce(True, "EngineRestartAsked", action.message, action.pod, action.pod_uid),
            )
    yield from _of_pods(situation, status)
    yield from _of_analysis(fleet, status)
    yield from _of_hold(fleet, status)


def _of_revision(fleet: Fleet, new: WeightRolloutStatus) -> Iterator[Told]:
    old = fleet.status
    desired = new.desired
    suffix = f"{desired.revision if desired else ''}/{fleet.generation}"
    if desired is not None and (old.desired is None or old.desired.revision != desired.revision):
        message = f"version {desired.version} is desired"
        yield f"RolloutStarted/{suffix}", Announce(False, "RolloutStarted", message)
    unproven = desired is not None and old.target == new.target == desired != new.stable
    if unproven and desired and old.pods.updated == 0 and new.pods.updated > 0:
        message = f"version {desired.version} is proven on its first pod"
        yield f"Proven/{suffix}", Announce(False, "Proven", message)
    if new.stable is not None and new.stable != old.stable and new.phase is Phase.COMPLETE:
        yield f"Complete/{suffix}", Announce(False, "RolloutComplete", new.message)
    if new.phase is Phase.ROLLING_BACK and old.phase is not new.phase:
        yield f"RollingBack/{suffix}", Announce(True, "RollbackStarted", new.message)
    if new.phase is Phase.ROLLED_BACK and old.phase is not new.phase:
        yield f"RolledBack/{suffix}", Announce(True, "RolledBack", new.message)
    if new.phase is Phase.FAILED and old.phase is not new.phase:
        yield f"Failed/{suffix}", Announce(True, "RolloutFailed", new.message)


def _of_record(action: RecordRevision, fleet: Fleet) -> Iterator[Told]:
    key = f"{action.reason}/{action.ref.revision}/{fleet.generation}"
    if action.reason == "DigestPinned":
        yield key, Announce(False, action.reason, action.message)
    if action.verdict is Verdict.REJECTED:
        message = f"version {action.ref.version}: {action.reason}: {action.message}"
        yield key, Announce(True, "RevisionRejected", message)


def _of_pods(situation: Situation, new: WeightRolloutStatus) -> Iterator[Told]:
    listed = {_once(each) for each in situation.fleet.status.failures}
    uid_of = {pod.name: pod.uid for pod in situation.pods}
    for failure in new.failures:
        if _once(failure) in listed:
            continue
        uid = uid_of[failure.pod]
        message = f"{failure.reason}: {failure.message}"
        yield (
            f"PodFailed/{uid}/{situation.fleet.generation}/{_once(failure)}",
            Announce(True, "PodFailed", message, failure.pod, uid),
        )


def _of_analysis(fleet: Fleet, new: WeightRolloutStatus) -> Iterator[Told]:
    """Each that ended. One that failed and counts is told by the rejection."""
    listed = {(each.hash, each.index) for each in fleet.status.analysis if _is_told(each)}
    for entry in new.analysis:
        if not _is_told(entry) or (entry.hash, entry.index) in listed:
            continue
        dry = " (dry run)" if entry.dry_run else ""
        message = f"step {entry.index + 1}{dry}: {entry.message}"
        good = entry.outcome is AnalysisOutcome.SUCCESSFUL
        yield (
            f"Analysis/{entry.hash}/{entry.index}",
            Announce(not good, f"Analysis{entry.outcome}", message),
        )


def _is_told(entry: AnalysisStatus) -> bool:
    told = {AnalysisOutcome.SUCCESSFUL, AnalysisOutcome.INCONCLUSIVE}
    failed_dry = entry.outcome is AnalysisOutcome.FAILED and entry.dry_run
    return entry.outcome in told or failed_dry


def _once(failure: Failure) -> tuple[str, str, int]:
    """Each attempt on a pod is news; a store that fails for the tenth time is not."""
    environment = failure.failure_class == FailureClass.ENVIRONMENT
    return (failure.pod, failure.reason, 0 if environment else failure.attempts)


def _of_hold(fleet: Fleet, new: WeightRolloutStatus) -> Iterator[Told]:
    hold = new.hold
    if hold is None or hold.gate not in WORTH_AN_EVENT:
        return
    old = fleet.status.hold
    if old is not None and (old.gate, old.reason) == (hold.gate, hold.reason):
        return
    key = f"Held/{hold.reason}/{hold.since}"
    yield key, Announce(True, "Held", f"{hold.reason}: {hold.message}")
