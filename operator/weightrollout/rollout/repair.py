"""A pod that cannot serve: its engine is restarted, and where that is over the pod is evicted, if a person allows it.

Poisoned, it is restarted until `repair.retries` are used up: those of the weights that it would load then, or as many
restarts that changed nothing. Stranded, it has its base weights, and every attempt to load what it should serve has
failed. Only `repair.allowDelete` removes a pod: never one that is Ready, one at a time, and never by a plain delete.
"""

from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Mode
from weightrollout.rollout.actions import Action, EvictPod, RestartEngine
from weightrollout.rollout.backoff import call_failure, restart_again_at
from weightrollout.rollout.classify import Pod, PodState
from weightrollout.rollout.fleet import Doing, Fleet, Ref, Verdict
from weightrollout.rollout.gates import mode_allows
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.revisions import find
from weightrollout.rollout.situation import Situation, has_place, is_stranded, retries_left

Step = Action | Refusal | None


def repair_poisoned(pod: Pod, situation: Situation) -> Step:
    why = _why_beyond_repair(pod, situation)
    if why and _may_evict(pod, situation):
        return _evict(pod, why, situation)
    if _restarts_are_in_vain(pod, situation):
        return _beyond_repair(pod, why)
    last = pod.finished
    cause = f" ({last.reason}: {last.message})" if last is not None and last.reason else ""
    message = f"{pod.name} holds neither the new weights nor the last good ones{cause}"
    return restart(pod, _serve_after_restart(pod, situation), situation, "Poisoned", message)


def is_stranded_for_good(pod: Pod, situation: Situation) -> bool:
    """Out of service with nothing that it could serve, and no try is left, neither for the target nor for what
    it would fall back to; others have loaded both. One that may go back to the baseline always has a way."""
    target, fallback = situation.goal.target.ref, situation.fallback
    if not is_stranded(pod) or target.is_baseline or fallback.is_baseline:
        return False
    proven = {target.digest, fallback.digest} <= situation.proven
    return proven and not any(retries_left(pod, ref, situation) for ref in (target, fallback))


def replace_stranded(pod: Pod, situation: Situation) -> Step:
    retries = situation.fleet.spec.repair.retries
    why = f"it used up repair.retries {retries} for all that it could serve"
    if _may_evict(pod, situation):
        return _evict(pod, why, situation)
    return _beyond_repair(pod, why, "replace it, publish a new version")


def comes_back_until(restarted_at: float, situation: Situation) -> float:
    """An engine may take long to load its base weights; later than this nobody waits for it."""
    return restarted_at + situation.fleet.spec.progress_deadline_seconds


def _why_beyond_repair(pod: Pod, situation: Situation) -> str:
    """ "" while a restart may help."""
    want = _serve_after_restart(pod, situation)
    retries = situation.fleet.spec.repair.retries
    if not retries_left(pod, want, situation):
        return f"it used up repair.retries {retries} for {want.version}"
    if not _restarts_are_in_vain(pod, situation):
        return ""
    if pod.agent is None or not pod.agent.engine.reachable:
        seconds = situation.fleet.spec.progress_deadline_seconds
        return f"its engine was restarted and is not back after progressDeadlineSeconds {seconds}"
    times = "once" if pod.memory.restarts == 1 else f"{pod.memory.restarts} times"
    return f"its engine was asked {times} to restart and did not (repair.retries {retries})"


def _restarts_are_in_vain(pod: Pod, situation: Situation) -> bool:
    memory, again, now = pod.memory, restart_again_at(pod), situation.fleet.now
    if memory.restarted_at is None or again is None or now < again:
        return False
    if pod.agent is None or not pod.agent.engine.reachable:
        return now >= comes_back_until(memory.restarted_at, situation)
    asked_this_one = memory.instance == memory.restarted_instance
    return asked_this_one and memory.restarts > situation.fleet.spec.repair.retries


def _may_evict(pod: Pod, situation: Situation) -> bool:
    """A person who stopped the rollout may want to look at it first."""
    spec = situation.fleet.spec
    return spec.repair.allow_delete and spec.mode is Mode.RUN and pod.out and not pod.view.ready


def _beyond_repair(pod: Pod, why: str, helps: str = "replace it") -> Refusal:
    message = f"{pod.name} is out of service: {why}: {helps}, or repair.allowDelete: true evicts it"
    return Refusal(HoldGate.REPAIR, HoldReason.BEYOND_REPAIR, message, (pod.name,))


def _evict(pod: Pod, why: str, situation: Situation) -> Step:
    if not pod.view.controlled:
        message = (
            f"{pod.name} is beyond repair ({why}), and nobody would make another one: replace it"
        )
        return Refusal(HoldGate.REPAIR, HoldReason.NO_CONTROLLER, message, (pod.name,))
    failure = call_failure(situation.fleet, Doing.EVICT, pod.uid)
    before = _evicted_before(pod, situation)
    if before and failure is None:
        message = f"{pod.name} is evicted when {before} is gone ({why})"
        return Refusal(HoldGate.REPAIR, HoldReason.REPLACING_PODS, message, (pod.name,))
    message = f"{pod.name} is out of service and beyond repair: {why} (repair.allowDelete)"
    action = EvictPod(pod.name, pod.uid, "BeyondRepair", message)
    return unless_failing(action, Doing.EVICT, pod, situation)


def evicted_from(fleet: Fleet) -> tuple[str, ...]:
    """Names of the pods that end because of us."""
    asked = {uid for uid, memory in fleet.memory.pods.items() if memory.evicted}
    return tuple(view.name for view in fleet.pods if view.terminating and view.uid in asked)


def _evicted_before(pod: Pod, situation: Situation) -> str:
    """Name of the pod whose eviction comes first; "" for none."""
    fleet = situation.fleet
    for name in evicted_from(fleet):
        return name
    asked = {work.pod_uid for work in fleet.work if work.doing is Doing.EVICT}
    for view in fleet.pods:
        if view.uid in asked and view.uid != pod.uid:
            return view.name
    for other in situation.pods:
        if other.uid == pod.uid:
            return ""
        if _waits_for_eviction(other, situation):
            return other.name
    return ""


def _waits_for_eviction(pod: Pod, situation: Situation) -> bool:
    """And not for a back-off: one that may not be evicted keeps no other from it."""
    if not pod.view.controlled or not _may_evict(pod, situation) or pod.agent is None:
        return False
    if call_failure(situation.fleet, Doing.EVICT, pod.uid) is not None:
        return False
    if pod.state is PodState.POISONED:
        return bool(_why_beyond_repair(pod, situation))
    return is_stranded_for_good(pod, situation)


def _serve_after_restart(pod: Pod, situation: Situation) -> Ref:
    """What a restarted pod is meant to serve: nothing that has not proven itself."""
    goal = situation.goal
    target = find(situation.fleet.revisions, goal.target.ref.revision)
    rejected = target is not None and target.verdict is Verdict.REJECTED
    may_load = goal.target.ref.digest in situation.proven and has_place(pod, situation)
    if may_load and not rejected:
        return goal.target.ref
    return situation.fallback


def restart(pod: Pod, serve: Ref, situation: Situation, reason: str, message: str) -> Step:
    if situation.fleet.spec.mode is Mode.SUSPENDED:
        return mode_allows(pod, serve, situation)
    again = restart_again_at(pod)
    comes_up = pod.agent is None or not pod.agent.engine.reachable
    if again is not None and (comes_up or situation.fleet.now < again):
        # Asking again would kill an engine that is loading, for ever.
        waiting = f"{pod.name} was asked to restart its engine, which does not answer yet"
        return Refusal(HoldGate.AGENT, HoldReason.ENGINE_UNREACHABLE, waiting, (pod.name,))
    action = RestartEngine(pod.name, pod.uid, serve, reason, message)
    return unless_failing(action, Doing.RESTART_ENGINE, pod, situation)


def unless_failing(action: Action, doing: Doing, pod: Pod, situation: Situation) -> Step:
    failure = call_failure(situation.fleet, doing, pod.uid)
    if failure is None:
        return action
    message = f"{doing} of {pod.name}: {failure.message}"
    return Refusal(HoldGate.ENVIRONMENT, failure.reason, message, (pod.name,))
