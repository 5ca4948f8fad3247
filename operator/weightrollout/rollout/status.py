"""Compute the whole status from one situation. Nothing of the old status is kept but times."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from typing import Final, NamedTuple

from weightrollout.api.reasons import DegradedReason
from weightrollout.api.status import (
    Failure,
    Hold,
    LoadedVersion,
    PauseMillis,
    PodCounts,
    StagingStatus,
    WeightRolloutStatus,
    WeightsRef,
)
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.rollout import driving
from weightrollout.rollout.classify import Pod, PodState
from weightrollout.rollout.conditions import conditions_of
from weightrollout.rollout.decide import Decision
from weightrollout.rollout.degraded import reason_of
from weightrollout.rollout.fleet import AgentView, Fleet, Ref, Revision
from weightrollout.rollout.messages import message_of
from weightrollout.rollout.phase import phase_of
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.staging import is_staging

MOST_VERSIONS: Final = 10
MOST_FAILURES: Final = 10
MOST_HELD: Final = 100


@dataclass(frozen=True, slots=True)
class Outlook:
    """All that the status is made of."""

    situation: Situation
    decision: Decision
    stable: Revision | None
    hold: Hold | None


def status_of(outlook: Outlook) -> WeightRolloutStatus:
    situation, fleet = outlook.situation, outlook.situation.fleet
    goal = situation.goal
    desired = goal.queued or goal.desired
    phase = phase_of(situation)
    counts = _counts(situation.pods)
    return WeightRolloutStatus(
        observed_generation=fleet.generation,
        epoch=fleet.epoch,
        phase=phase,
        message=message_of(situation, phase, outlook.hold),
        desired=_weights_ref(desired.ref) if desired else None,
        target=_weights_ref(goal.target.ref),
        stable=_weights_ref(outlook.stable.ref) if outlook.stable else None,
        step=situation.canary.status,
        analysis=situation.canary.analysis,
        updated=f"{counts.updated}/{counts.selected}",
        pods=counts,
        staging=_staging(situation.pods),
        versions=_versions(situation.pods),
        hold=outlook.hold,
        trainer=driving.trainer_status(situation),
        pause_millis=_pauses(situation),
        failures=_failures(situation),
        last_action=situation.canary.answer,
        conditions=conditions_of(situation, phase, outlook.stable),
    )


def hold_of(decision: Decision, fleet: Fleet) -> Hold | None:
    """The decision's hold, with the time since when it is the same gate and reason."""
    refusal = decision.hold
    if refusal is None:
        return None
    key = f"{refusal.gate}/{refusal.reason}"
    old = fleet.status.hold
    since = fleet.wall
    if key == fleet.memory.hold_key:
        since = fleet.memory.hold_since
    elif old is not None and f"{old.gate}/{old.reason}" == key:
        since = old.since
    return Hold(
        gate=refusal.gate,
        reason=refusal.reason,
        message=refusal.message,
        since=since,
        pods=refusal.pods[:MOST_HELD],
    )


def _weights_ref(ref: Ref) -> WeightsRef:
    return WeightsRef(version=ref.version, digest=ref.digest, revision=ref.revision)


def _counts(pods: tuple[Pod, ...]) -> PodCounts:
    by_state = Counter(pod.state for pod in pods)
    return PodCounts(
        selected=len(pods),
        updated=by_state[PodState.UPDATED],
        outdated=by_state[PodState.OUTDATED],
        joining=by_state[PodState.JOINING],
        failed=by_state[PodState.FAILED],
        poisoned=by_state[PodState.POISONED],
        unreachable=by_state[PodState.UNREACHABLE],
        incompatible=by_state[PodState.INCOMPATIBLE],
        available=sum(pod.in_service for pod in pods),
        out=sum(pod.out for pod in pods),
        swapping=sum(pod.running is not None for pod in pods),
    )


def _staging(pods: tuple[Pod, ...]) -> StagingStatus | None:
    staging = [pod for pod in pods if is_staging(pod)]
    if not staging:
        return None
    views = [pod.agent.staging for pod in staging if pod.agent is not None]
    running = [view for view in views if view is not None and not view.done]
    return StagingStatus(
        bytes=sum(view.bytes for view in running),
        total=sum(view.total for view in running),
        pods=len(staging),
        bytes_per_second=sum(view.bytes_per_second for view in running),
    )


def _versions(pods: tuple[Pod, ...]) -> tuple[LoadedVersion, ...]:
    """What is proven to be loaded, most pods first; a pod nobody can speak for is left out."""
    loaded = Counter(
        (pod.loaded.version, pod.loaded.digest) for pod in pods if pod.loaded is not None
    )
    ranked = sorted(loaded.items(), key=lambda item: (-item[1], item[0][0], item[0][1] or ""))
    named = [
        LoadedVersion(version=version, digest=digest, pods=count)
        for (version, digest), count in islice(ranked, MOST_VERSIONS)
    ]
    rest = sum(count for _, count in islice(ranked, MOST_VERSIONS, None))
    if rest:
        named.append(LoadedVersion(version="other", pods=rest))
    return tuple(named)


def _pauses(situation: Situation) -> PauseMillis | None:
    """Over the newest transaction of each pod that loaded the target."""
    target = situation.goal.target.ref.revision
    measured = [
        (pod.memory.serving_since, pod.name, last.pause_millis)
        for pod in situation.pods
        if (last := pod.finished) is not None
        and last.weights.revision == target
        and last.pause_millis > 0
    ]
    if not measured:
        return None
    millis = sorted(pause for _, _, pause in measured)
    return PauseMillis(
        last=round(max(measured)[2]),
        p50=round(_nearest_rank(millis, 50)),
        p99=round(_nearest_rank(millis, 99)),
        max=round(millis[-1]),
    )


def _nearest_rank(ordered: list[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


class _Found(NamedTuple):
    """A failure before anybody knows whether it is among those that are listed."""

    at: float  # Fleet.now
    pod: str
    failure_class: FailureClass
    reason: str
    attempts: int
    message: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        return (self.pod, self.failure_class, self.reason, self.attempts)


def _failures(situation: Situation) -> tuple[Failure, ...]:
    """Newest first. The time of a failure that was listed before stays what it was; where more failed than
    are listed, those of one moment do not take turns."""
    fleet = situation.fleet
    listed = {
        (each.pod, each.failure_class, each.reason, each.attempts): each.time
        for each in fleet.status.failures
    }
    newest = nsmallest(
        MOST_FAILURES,
        (each for pod in situation.pods for each in _failures_of(pod, fleet)),
        key=lambda each: (-each.at, each.key not in listed, each.pod, each.reason),
    )
    found = [_failure(each, listed.get(each.key, fleet.wall)) for each in newest]
    found.sort(key=lambda failure: (failure.pod, failure.reason))
    found.sort(key=lambda failure: failure.time, reverse=True)
    return tuple(found)


def _failures_of(pod: Pod, fleet: Fleet) -> Iterator[_Found]:
    name, agent, last, memory = pod.name, pod.agent, pod.finished, pod.memory
    staging = memory.staging
    ended_well = last is not None and last.outcome in (Outcome.COMMITTED, Outcome.GAVE_UP)
    if last is not None and not ended_well and last.failure_class:
        attempts = _attempts(agent, last.weights.digest)
        yield _Found(
            *(memory.failed_at, name, last.failure_class, last.reason, attempts, last.message)
        )
    if agent is not None and reason_of(pod) == DegradedReason.DRAFT_FAILED:
        reason, message = DegradedReason.DRAFT_FAILED, agent.degraded_message
        yield _Found(memory.serving_since, name, FailureClass.POD, reason, 1, message)
    if staging is not None and staging.failure_class is not None:
        yield _Found(
            *(staging.failed_at, name, staging.failure_class, staging.reason),
            *(staging.failures, staging.message),
        )
    for call in fleet.failures_by_pod.get(pod.uid, {}).values():
        message = f"{call.doing}: {call.message}"
        yield _Found(call.at, name, call.failure_class, call.reason, 0, message)


def _failure(found: _Found, time: str) -> Failure:
    return Failure.model_validate(
        {
            "pod": found.pod,
            "class": found.failure_class,
            "reason": found.reason,
            "message": found.message,
            "attempts": found.attempts,
            "time": time,
        }
    )


def _attempts(agent: AgentView | None, digest: str | None) -> int:
    tried = agent.attempts.get(digest) if agent is not None and digest else None
    return tried.attempts if tried is not None else 0
