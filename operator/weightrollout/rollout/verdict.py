"""What is written to the history: a new revision, a scout's digest, Rejected or Verified.

Intent before effect: while any of these but Verified is being written, nothing new starts.
"""

from dataclasses import replace

from weightrollout.api.quantity import limit
from weightrollout.api.reasons import RejectReason
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.rollout.actions import RecordRevision
from weightrollout.rollout.backoff import gave_up
from weightrollout.rollout.classify import Pod, PodState, never_ran, refused_at_reserve
from weightrollout.rollout.fleet import Ref, Retry, Revision, Verdict
from weightrollout.rollout.labels import may_wait
from weightrollout.rollout.memory import RETRIED
from weightrollout.rollout.podstep import comes_back_by, put_in_step
from weightrollout.rollout.proof import witnesses_of
from weightrollout.rollout.refusal import listed
from weightrollout.rollout.repair import evicted_from
from weightrollout.rollout.situation import Situation, newest_attempt
from weightrollout.rollout.staging import scouted
from weightrollout.rollout.target import bound_digest, reused_message, short
from weightrollout.rollout.verbs import VerbName


def next_record(situation: Situation, *, deadline_passed: bool) -> RecordRevision | None:
    """The one thing to write now; None when the history says all there is to say."""
    goal = situation.goal
    desired = goal.desired
    if desired is None or goal.refusal is not None:
        return None
    if not goal.recorded:
        again = "comes back as" if desired.verdict is not None else "is"
        message = f"version {desired.ref.version} {again} revision {desired.number}"
        return _record(desired, desired.verdict, "NewRevision", message)
    asked = _asked_for(desired, situation)
    if asked is not None:
        return asked
    if not goal.on_target_content:
        return None
    found = scouted(situation)
    if found is not None:
        return _pin(desired, found[0].name, found[1].digest, situation)
    rejection = _rejection(desired, situation, deadline_passed=deadline_passed)
    if rejection is not None:
        return _record(desired, Verdict.REJECTED, *rejection)
    if situation.fleet.trainer_drives:
        return _durable(desired, situation)
    verified = desired.ref.digest is not None and situation.canary.over and is_settled(situation)
    if desired.verdict is None and verified:
        message = f"all {len(situation.pods)} pods serve {desired.ref.version}"
        return _record(desired, Verdict.VERIFIED, "AllPodsVerified", message)
    return None


def _durable(desired: Revision, situation: Situation) -> RecordRevision | None:
    """Where a trainer drives no fleet ever verifies it as a whole: the trainer's word and one pod that
    has loaded it are enough."""
    if desired.verdict is not None or desired.ref.digest not in situation.proven:
        return None
    message = f"the trainer calls {desired.ref.version} durable, and a pod has loaded it"
    return _record(desired, Verdict.VERIFIED, "ProvenByOnePod", message)


def _asked_for(desired: Revision, situation: Situation) -> RecordRevision | None:
    """What a person asked for. It is answered once the history says it, so that it is never lost."""
    verb = situation.canary.asks
    if verb is None:
        return None
    version = desired.ref.version
    if verb.name is VerbName.ABORT:
        message = f"{version} was aborted by a person"
        return _record(desired, Verdict.REJECTED, RejectReason.ABORTED, message)
    attempts = (newest_attempt(pod) for pod in situation.pods)
    after = max(attempts, default=0)
    retry = Retry(verb.id, desired.tries + 1, max(after, desired.tried_after))
    message = f"{version} is tried again, because a person asked"
    return _record(replace(desired, retry=retry), None, RETRIED, message)


def is_converged(situation: Situation) -> bool:
    """Each pod that runs serves the target, and there is at least one."""
    running = [pod for pod in situation.pods if not never_ran(pod)]
    return bool(running) and all(pod.state is PodState.UPDATED for pod in running)


def is_settled(situation: Situation) -> bool:
    """Converged, each pod that runs is put in, in service and soaked, and none ends because of us: others
    do not become the whole fleet by that. A label that may wait is not waited for."""
    if evicted_from(situation.fleet):
        return False
    take_out = situation.fleet.spec.swap.take_out
    return is_converged(situation) and all(
        pod.in_service
        and pod.soak_until is None
        and (may_wait(pod, take_out) or put_in_step(pod) is None)
        for pod in situation.pods
        if not never_ran(pod)
    )


def gives_way(situation: Situation) -> bool:
    """With AfterComplete: what is left of the rollout under way, nobody can move. A pod whose agent is
    silent, whose engine is away, or whose requests run on, must not keep the newest version from all others,
    nor those that keep the budget and that only the newest version may bring back."""
    movable = (PodState.OUTDATED, PodState.JOINING, PodState.POISONED)
    waits = situation.canary.verdict.hold is not None  # for a person, a time, a measurement
    here = [pod for pod in situation.pods if not _is_away(pod, situation)]
    if waits or any(_ends_by_itself(pod, situation.fleet.now) for pod in here):
        return False
    target, swap = situation.goal.target.ref, situation.fleet.spec.swap
    left = [
        pod
        for pod in here
        if pod.state in movable
        and not (pod.state is PodState.OUTDATED and gave_up(pod, target, swap))
    ]
    if any(pod.out for pod in left) or (left and not _is_budget_lost(situation)):
        return False
    return not is_converged(situation)


def _is_away(pod: Pod, situation: Situation) -> bool:
    """It serves nobody and can be given nothing now; when its engine is back it loads what is the target by
    then. At a step it is waited for: what is approved or measured there would be skipped."""
    if never_ran(pod):
        return True
    answers = pod.agent is not None and pod.agent.engine.reachable
    return situation.canary.over and not answers


def _ends_by_itself(pod: Pod, now: float) -> bool:
    """It swaps, soaks or is on its way back: with the next version before that it might never serve."""
    back_by = comes_back_by(pod)
    return pod.engaged or pod.soak_until is not None or (back_by is not None and now < back_by)


def _is_budget_lost(situation: Situation) -> bool:
    lost = sum(
        pod.out and pod.state is PodState.FAILED and pod.stable_fails for pod in situation.pods
    )
    setting = situation.fleet.spec.strategy.max_unavailable
    return lost >= limit(setting, len(situation.pods), at_least=1)


def too_many_failed(situation: Situation) -> tuple[Pod, ...]:
    """The failed pods, when they are more than strategy.maxFailed allows; else none."""
    failed = _failed_witnesses(situation)
    max_failed = situation.fleet.spec.strategy.max_failed
    allowed = limit(max_failed, len(situation.pods), at_least=0)
    return failed if len(failed) > allowed else ()


def _failed_witnesses(situation: Situation) -> tuple[Pod, ...]:
    """A pod that fails at stable too is broken itself: what it cannot load is no worse for that."""
    return tuple(
        pod for pod in situation.pods if pod.state is PodState.FAILED and not pod.stable_fails
    )


def _pin(desired: Revision, scout: str, digest: str, situation: Situation) -> RecordRevision:
    revisions = situation.fleet.revisions
    bound = bound_digest(desired.ref.version, desired.ref.revision, revisions)
    if bound is not None and bound != digest:
        message = reused_message(desired.ref.version, bound, digest)
        return _record(desired, Verdict.REJECTED, RejectReason.VERSION_REUSED, message)
    pinned = replace(desired, ref=replace(desired.ref, digest=digest))
    message = f"{scout} read {desired.ref.uri}: {short(digest)} is pinned for all pods"
    return _record(pinned, desired.verdict, "DigestPinned", message)


def _rejection(
    desired: Revision, situation: Situation, *, deadline_passed: bool
) -> tuple[str, str] | None:
    """Reason and message. What the fleet rests on, stable, is never rejected: there is no back."""
    stable = situation.goal.stable
    if stable is not None and stable.ref.revision == desired.ref.revision:
        return None
    refuted = _refuted(desired, situation)
    if refuted is not None:
        return refuted
    measured = situation.canary.verdict.rejection
    if measured is not None:
        return measured
    failed = _failed_witnesses(situation)
    if failed and desired.ref.digest not in situation.proven:
        message = f"{failed[0].name} could not load it and no pod ever has{_cause(failed[0], desired, situation)}"
        return RejectReason.PROVER_FAILED, message
    if too_many_failed(situation):
        names = listed([pod.name for pod in failed])
        setting = situation.fleet.spec.strategy.max_failed
        message = f"{names} failed for good, strategy.maxFailed is {setting}{_cause(failed[0], desired, situation)}"
        return RejectReason.TOO_MANY_FAILED, message
    if deadline_passed:
        seconds = situation.fleet.spec.progress_deadline_seconds
        return (
            RejectReason.PROGRESS_DEADLINE_EXCEEDED,
            f"no progress for progressDeadlineSeconds {seconds}",
        )
    return None


def _refuted(desired: Revision, situation: Situation) -> tuple[str, str] | None:
    """A check of the weights themselves failed on a pod, and no other has passed it."""
    found = [
        (pod.uid, refuted)
        for pod in situation.pods
        if (refuted := _refuted_by(pod, desired, situation)) is not None
    ]
    if not found:
        return None
    passed = witnesses_of(situation.fleet).get(desired.ref.digest or "", frozenset())
    return next((refuted for uid, refuted in found if passed <= {uid}), None)


def _refuted_by(pod: Pod, desired: Revision, situation: Situation) -> tuple[str, str] | None:
    return (
        (None if pod.stable_fails else _refuted_by_swap(pod, desired))
        or _refuted_by_staging(pod, desired.ref)
        or _refuted_at_reserve(pod, desired.ref, situation)
    )


def _refuted_by_swap(pod: Pod, desired: Revision) -> tuple[str, str] | None:
    last = pod.finished
    if (
        last is not None
        and last.weights.revision == desired.ref.revision
        and last.attempt > desired.tried_after
        and last.failure_class is FailureClass.WEIGHTS
        and last.outcome is not Outcome.COMMITTED
    ):
        return last.reason, f"{pod.name}: {last.message}"
    return None


def _refuted_by_staging(pod: Pod, ref: Ref) -> tuple[str, str] | None:
    staging = pod.memory.staging
    if (
        staging is not None
        and staging.revision == ref.revision
        and staging.failure_class is FailureClass.WEIGHTS
    ):
        return staging.reason, f"{pod.name}: {staging.message}"
    return None


def _refuted_at_reserve(pod: Pod, ref: Ref, situation: Situation) -> tuple[str, str] | None:
    refused = refused_at_reserve(situation.fleet, pod.uid, ref.revision)
    return (refused.reason, f"{pod.name}: {refused.message}") if refused is not None else None


def _cause(pod: Pod, desired: Revision, situation: Situation) -> str:
    refused = refused_at_reserve(situation.fleet, pod.uid, desired.ref.revision)
    if refused is not None:
        return f": {refused.reason}: {refused.message}"
    tried = pod.agent.attempts.get(desired.ref.digest or "") if pod.agent is not None else None
    return f": {tried.reason}: {tried.message}" if tried is not None and tried.reason else ""


def _record(
    revision: Revision, verdict: Verdict | None, reason: str, message: str
) -> RecordRevision:
    return RecordRevision(
        *(revision.ref, revision.number, revision.digest_given, verdict, reason, message),
        retry=revision.retry,
    )
