"""Who reads weights now. Pods stage while they serve, so this runs ahead of the swaps.

At most `staging.maxConcurrent` pods read at once, in planner order. Without a digest one scout
reads alone; what it finds is pinned in the revision, and only then do the others read.
"""

from collections.abc import Iterator
from dataclasses import replace

from weightrollout.api.names import CAPABILITY_LIMITS
from weightrollout.api.quantity import bytes_of, limit
from weightrollout.api.reasons import HoldGate
from weightrollout.api.spec import Mode
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.actions import Stage
from weightrollout.rollout.backoff import call_failure, stage_again_at
from weightrollout.rollout.classify import Pod, PodState
from weightrollout.rollout.fleet import Doing, Ref, StagingView
from weightrollout.rollout.memory import staging_of
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.situation import Situation, wanted_by
from weightrollout.rollout.target import short


def staging_steps(situation: Situation) -> Iterator[Stage]:
    """New stagings, up to the limit."""
    fleet = situation.fleet
    if fleet.spec.mode is Mode.SUSPENDED:
        return
    free = limit(fleet.spec.staging.max_concurrent, len(situation.pods), at_least=1)
    free -= sum(is_staging(pod) for pod in situation.pods)
    for pod, want in _to_stage(situation):
        if free > 0 and not _backs_off(pod, want, situation):
            free -= 1
            yield _stage(pod, want, situation)


def pace_steps(situation: Situation) -> Iterator[Stage]:
    """Stagings that run under another limit than spec.staging says now.

    An agent that does not know of limits is not asked: `agent_is_new_enough` says so.
    """
    wanted = _limit(situation)
    for pod in situation.pods:
        view = pod.agent.staging if pod.agent is not None else None
        if view is None or view.done or view.failure_class is not None or view.limit == wanted:
            continue
        want = _read_by(pod, view, situation)
        if want is None or Doing.PACE in pod.work or not _knows_limits(pod):
            continue
        if call_failure(situation.fleet, Doing.PACE, pod.uid) is None:
            told = f"{wanted} bytes per second" if wanted else "no limit"
            yield replace(
                _stage(pod, want, situation),
                joins=True,
                reason="LimitChanged",
                message=f"{pod.name} reads on with {told} (spec.staging.maxBytesPerSecond)",
            )


def _read_by(pod: Pod, view: StagingView, situation: Situation) -> Ref | None:
    """What the staging is of, if it is still wanted: another one would be replaced by the call."""
    target = situation.goal.target.ref
    scouts = situation.goal.on_target_content and target.digest is None
    for want in (wanted_by(pod, situation), target if scouts else None):
        if want is not None and view.uri == want.uri and view.digest in ("", want.digest):
            return want
    return None


def _knows_limits(pod: Pod) -> bool:
    return pod.agent is not None and CAPABILITY_LIMITS in pod.agent.capabilities


def _limit(situation: Situation) -> int:
    most = situation.fleet.spec.staging.max_bytes_per_second
    return bytes_of(most) if most is not None else 0


def is_staging(pod: Pod) -> bool:
    if Doing.STAGE in pod.work:
        return True
    view = pod.agent.staging if pod.agent is not None else None
    return view is not None and not view.done and view.failure_class is None


def waits_for(pod: Pod) -> str:
    """What a staging that runs waits for, in its agent's words ("waits for ..."); "": it reads."""
    view = pod.agent.staging if pod.agent is not None else None
    return view.message if view is not None and is_staging(pod) and not view.done else ""


def scouted(situation: Situation) -> tuple[Pod, StagingView] | None:
    """The scout that has found the target's digest; None: not yet, or it is pinned already."""
    target = situation.goal.target.ref
    if target.is_baseline or target.digest is not None:
        return None
    for pod in situation.pods:
        if pod.agent is None or Doing.STAGE in pod.work:
            continue
        view = staging_of(pod.agent, pod.memory, target.revision)
        if view is not None and _found_digest(view, target):
            return pod, view
    return None


def _found_digest(view: StagingView, target: Ref) -> bool:
    ended_well = view.done and view.failure_class is None
    return ended_well and view.uri == target.uri and view.digest != ""


def _to_stage(situation: Situation) -> Iterator[tuple[Pod, Ref]]:
    target = situation.goal.target.ref
    needs_scout = situation.goal.on_target_content and target.digest is None
    if needs_scout and not target.is_baseline:
        yield from _scout(situation, target)
    for pod in situation.pods:
        want = wanted_by(pod, situation)
        if (
            want is None
            or want.digest is None
            or pod.agent is None
            or not _is_able(pod, want, situation)
        ):
            continue
        if not pod.agent.holds(want) and not is_staging(pod):
            yield pod, want


def _scout(situation: Situation, target: Ref) -> Iterator[tuple[Pod, Ref]]:
    """One at a time. One that failed is passed over while it backs off: it may be its node."""
    able = [pod for pod in situation.pods if _is_able(pod, target, situation)]
    if any(_is_scouting(pod, target) for pod in able):
        return
    for pod in able:
        if not is_staging(pod) and not _backs_off(pod, target, situation):
            yield pod, target
            return


def _is_scouting(pod: Pod, target: Ref) -> bool:
    if Doing.STAGE in pod.work and pod.work[Doing.STAGE] in ("", target.revision):
        return True
    if pod.agent is None or not is_staging(pod):
        return False
    view = staging_of(pod.agent, pod.memory, target.revision)
    return view is not None and view.uri == target.uri


def _is_able(pod: Pod, want: Ref, situation: Situation) -> bool:
    """The image is built for the engine's own report, so the engine must be there."""
    if pod.agent is None or not pod.agent.engine.reachable or pod.running is not None:
        return False
    lacks = pod.agent.lacks(want, limited=_limit(situation) > 0)
    if lacks or pod.agent.incompatible_reason:
        return False
    return pod.state not in (PodState.POISONED, PodState.INCOMPATIBLE)


def staging_troubles(situation: Situation) -> Iterator[Refusal]:
    """Stagings that failed last, also while they are tried again."""
    for pod in situation.pods:
        failure = call_failure(situation.fleet, Doing.STAGE, pod.uid)
        staging = pod.memory.staging
        if failure is not None:
            message = f"staging on {pod.name}: {failure.message}"
            yield Refusal(HoldGate.ENVIRONMENT, failure.reason, message, (pod.name,))
        elif staging is not None and staging.failure_class is not None:
            if not _still_wants(pod, staging.revision, situation):
                continue
            environment = staging.failure_class is FailureClass.ENVIRONMENT
            gate = HoldGate.ENVIRONMENT if environment else HoldGate.BACK_OFF
            message = f"staging on {pod.name}: {staging.message}"
            yield Refusal(gate, staging.reason, message, (pod.name,))


def _still_wants(pod: Pod, revision: str, situation: Situation) -> bool:
    want = wanted_by(pod, situation)
    scouting = situation.goal.on_target_content and situation.goal.target.ref.digest is None
    scouted_for = situation.goal.target.ref.revision if scouting else ""
    return revision in (scouted_for, want.revision if want is not None else "")


def has_staging_trouble(pod: Pod) -> bool:
    return pod.memory.staging is not None and pod.memory.staging.failure_class is not None


def _backs_off(pod: Pod, want: Ref, situation: Situation) -> bool:
    if call_failure(situation.fleet, Doing.STAGE, pod.uid) is not None:
        return True
    again = stage_again_at(pod, want)
    return again is not None and situation.fleet.now < again


def _stage(pod: Pod, want: Ref, situation: Situation) -> Stage:
    agent = pod.agent
    goal = situation.goal
    keep_last_good = situation.fleet.spec.staging.keep_last_good
    held = [goal.target.ref, want]
    if goal.stable is not None:
        held.append(goal.stable.ref)
    if agent is not None and agent.serving is not None:
        held.append(agent.serving)
    if agent is not None and agent.last_good is not None and keep_last_good:
        held.append(agent.last_good)
    scout = want.digest is None
    what = f"{want.version} from {want.uri}" if scout else f"{want.version} {short(want.digest)}"
    return Stage(
        pod=pod.name,
        pod_uid=pod.uid,
        weights=want,
        keep_last_good=keep_last_good,
        keep=frozenset[str]().union(*(ref.digests for ref in held)),
        reason="Scout" if scout else "NotStaged",
        message=f"{pod.name} reads {what}",
        limit=_limit(situation),
    )
