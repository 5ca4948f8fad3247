"""Events: what a person would want to read, about a dozen for a revision, each once.

An event is a difference between the status as it was read and the new one, so that a new leader
does not tell old stories; the keys in memory keep one leader from telling the same twice. However
many pods there are and however often a hold comes and goes, no more is told.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Supersede
from weightrollout.api.status import (
    ActionOutcome,
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

#: A step that waits is told when it begins to. One that measures is told when that ends.
TOLD_STEPS: Final = frozenset({HoldReason.STEP_PAUSED, HoldReason.STEP_TIMED})

#: A cluster keeps an event for an hour unless it was told otherwise: then it is news again.
FORGOTTEN_S: Final = 3600.0
#: Pods that get an event of their own, of one kind and for one spec; one more says that there are others.
MOST_PODS: Final = 10
#: Where versions queue, one may end every second: each of these is told so often at most.
ROUTINE: Final = frozenset({"RolloutStarted", "Proven", "RolloutComplete"})
ROUTINE_S: Final = 10.0
HELD: Final = "Held"
#: Keys that are remembered: those of many specs, since one spec has about thirty at most.
MOST_KEYS: Final = 512


def announcements(
    situation: Situation, actions: tuple[Action, ...], status: WeightRolloutStatus
) -> tuple[tuple[Announce, ...], Mapping[str, float]]:
    """The events of this pass, and when what was announced last."""
    fleet = situation.fleet
    candidates = list(_all(situation, actions, status))
    if not candidates:
        return (), fleet.memory.announced
    told = {k: at for k, at in fleet.memory.announced.items() if fleet.now < at + FORGOTTEN_S}
    events = []
    for key, event in candidates:
        if key not in told and event.pod_uid:
            key, event = _or_others(key, event, fleet, told)
        if key not in told and not _is_too_often(key, event, fleet, told):
            told[key] = fleet.now
            events.append(event)
    return tuple(events), dict(islice(told.items(), max(0, len(told) - MOST_KEYS), None))


def _is_too_often(key: str, event: Announce, fleet: Fleet, told: dict[str, float]) -> bool:
    """Notes in `told` that it was not. What holds one version after the other, such as an engine that is away,
    is told as seldom as what is routine."""
    queue = fleet.spec.strategy.supersede is Supersede.AFTER_COMPLETE
    held = event.reason == HELD
    if not queue or not (held or event.reason in ROUTINE):
        return False
    kind = f"Routine/{key.rpartition('/')[0] if held else event.reason}"
    if fleet.now < told.get(kind, float("-inf")) + ROUTINE_S:
        return True
    told[kind] = fleet.now
    return False


def _or_others(key: str, event: Announce, fleet: Fleet, told: Mapping[str, float]) -> Told:
    """The event of one pod, or that there are more than are told."""
    kind = f"{event.reason}/{fleet.generation}/"
    if sum(each.startswith(kind) for each in told) < MOST_PODS:
        return key, event
    look = f"kubectl weightrollout status {fleet.name}"
    return f"Others/{kind}", Announce(True, event.reason, f"more pods than have an event: {look}")


def _all(
    situation: Situation, actions: tuple[Action, ...], status: WeightRolloutStatus
) -> Iterator[Told]:
    fleet = situation.fleet
    yield from _of_verb(fleet, status)
    yield from _of_revision(situation, status)
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
                f"EngineRestartAsked/{fleet.generation}/{action.pod_uid}/{fleet.now}",
                Announce(True, "EngineRestartAsked", action.message, action.pod, action.pod_uid),
            )
    yield from _of_pods(situation, status)
    yield from _of_analysis(fleet, status)
    yield from _of_step(fleet, status)
    yield from _of_hold(fleet, status)


def _of_verb(fleet: Fleet, new: WeightRolloutStatus) -> Iterator[Told]:
    """What became of what a person asked for."""
    old, answer = fleet.status.last_action, new.last_action
    if answer is None or (old is not None and (old.id, old.outcome) == (answer.id, answer.outcome)):
        return
    message = f"{answer.verb}: {answer.message}" if answer.verb else answer.message
    refused = answer.outcome is not ActionOutcome.ACCEPTED
    yield (
        f"Action/{answer.id}/{answer.outcome}",
        Announce(refused, f"Action{answer.outcome}", message),
    )


def _of_revision(situation: Situation, new: WeightRolloutStatus) -> Iterator[Told]:
    fleet, old = situation.fleet, situation.fleet.status
    desired = new.desired
    suffix = f"{desired.revision if desired else ''}/{fleet.generation}"
    if desired is not None and (old.desired is None or old.desired.revision != desired.revision):
        message = f"version {desired.version} is desired"
        yield f"RolloutStarted/{suffix}", Announce(False, "RolloutStarted", message)
    unproven = desired is not None and old.target == new.target == desired != new.stable
    unproven = unproven and not fleet.trainer_drives  # there it is a trainer that updates pods
    if unproven and desired and old.pods.updated == 0 and new.pods.updated > 0:
        message = f"version {desired.version} is proven on its first pod"
        yield f"Proven/{suffix}", Announce(False, "Proven", message)
    arrived = situation.goal.on_target_content and old.stable != new.stable == new.target
    if arrived:
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
            f"PodFailed/{situation.fleet.generation}/{uid}/{_once(failure)}",
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


def _of_step(fleet: Fleet, new: WeightRolloutStatus) -> Iterator[Told]:
    hold, at = new.hold, new.step
    if hold is None or at is None or hold.reason not in TOLD_STEPS:
        return
    old, was = fleet.status.hold, fleet.status.step
    same = was is not None and (was.hash, was.index) == (at.hash, at.index)
    if same and old is not None and old.reason == hold.reason:
        return
    yield f"Step/{at.hash}/{at.index}", Announce(False, hold.reason, hold.message)


def _of_hold(fleet: Fleet, new: WeightRolloutStatus) -> Iterator[Told]:
    hold = new.hold
    if hold is None or hold.gate not in WORTH_AN_EVENT:
        return
    old = fleet.status.hold
    if old is not None and (old.gate, old.reason) == (hold.gate, hold.reason):
        return
    key = f"{HELD}/{hold.reason}/{fleet.generation}"
    yield key, Announce(True, HELD, f"{hold.reason}: {hold.message}")
