"""The next action of one pod, or why there is none. The order of one swap:

    Reserve -> [gated: TakeOut] -> Ready=False seen and settled -> Swap -> the agent reports the
    end -> PutIn -> Ready

Nothing is remembered between the steps: each one follows from what agent and watch show.
"""

import re
from dataclasses import replace
from typing import Final

from weightrollout.api.names import TRAINER_REVISION
from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import VERSION_PATTERN, Mode, TakeOut
from weightrollout.api.swap import ALONE, Outcome
from weightrollout.rollout import driving
from weightrollout.rollout.actions import (
    PutIn,
    Release,
    Reserve,
    SwapPod,
    TakeOutPod,
)
from weightrollout.rollout.budget import Budget
from weightrollout.rollout.classify import Pod, PodState
from weightrollout.rollout.disruption import passes_soon
from weightrollout.rollout.fleet import AgentFault, Doing, Ref
from weightrollout.rollout.gates import (
    agent_is_new_enough,
    failed_for_good,
    mode_allows,
    refuse_start,
)
from weightrollout.rollout.labels import may_wait
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.repair import (
    Step,
    is_stranded_for_good,
    repair_poisoned,
    replace_stranded,
    restart,
    unless_failing,
)
from weightrollout.rollout.situation import (
    Situation,
    attempt_of,
    has_place,
    is_stranded,
    may_load_target,
    next_attempt,
    txn_id,
    wanted_by,
)

#: One of these at a time per pod: the next step waits for what this one shows.
ONE_AT_A_TIME: Final = frozenset(
    {
        Doing.RESERVE,
        Doing.TAKE_OUT,
        Doing.SWAP,
        Doing.PUT_IN,
        Doing.RELEASE,
        Doing.RESTART_ENGINE,
        Doing.EVICT,
    }
)
#: A reservation must outlive the pod's way out of its endpoints; unused, it ends by itself.
RESERVATION_TTL_S: Final = 30.0
#: Probe period 1 s, three failures, and the watch: later than this somebody should look.
READY_FOLLOWS_WITHIN_S: Final = 10.0


def next_step(pod: Pod, situation: Situation, budget: Budget, *, may_start: bool) -> Step:
    """`may_start` False: a verdict is being written, and nothing begins before it is."""
    if pod.agent is None:
        return _agent_fault(pod)
    if pod.work.keys() & ONE_AT_A_TIME or pod.running is not None:
        return None
    if pod.state is PodState.POISONED:
        return repair_poisoned(pod, situation) if may_start else None
    if pod.agent.reserved_txn is not None:
        return _reserved(pod, pod.agent.reserved_txn, situation, may_start=may_start)
    put_in = put_in_for(pod, situation)
    if put_in is not None and not may_wait(pod, situation.fleet.spec.swap.take_out):
        return unless_failing(put_in, Doing.PUT_IN, pod, situation)
    if is_stranded_for_good(pod, situation):
        return replace_stranded(pod, situation) if may_start else None
    want = wanted_by(pod, situation)
    if want is None:
        return _at_rest(pod, situation)
    return _start(pod, want, situation, budget) if may_start else None


def _start(pod: Pod, want: Ref, situation: Situation, budget: Budget) -> Step:
    if want == situation.goal.target.ref and not has_place(pod, situation):
        return mode_allows(pod, want, situation)  # others go, or the canary says what it waits for
    refusal = refuse_start(pod, want, situation, budget)
    if refusal is not None:
        return None if passes_soon(refusal, pod, budget.disruptions) else refusal
    room = "not in service" if pod.out else f"{budget.used} of {budget.limit} in use"
    if want.is_baseline:
        return restart(
            pod, want, situation, "BackToBaseline", f"{pod.name} goes back to its base weights"
        )
    swap = situation.fleet.spec.swap
    reserve = Reserve(
        pod=pod.name,
        pod_uid=pod.uid,
        txn=_txn(pod, want, situation),
        weights=want,
        take_out=swap.take_out,
        ttl_s=RESERVATION_TTL_S + swap.settle_seconds,
        reason="NotInService" if pod.out else "BudgetAllows",
        message=f"{pod.name} goes to {want.version} ({room})",
    )
    return unless_failing(reserve, Doing.RESERVE, pod, situation)


def _reserved(pod: Pod, txn: str, situation: Situation, *, may_start: bool) -> Step:
    if situation.fleet.spec.mode is Mode.SUSPENDED and txn.startswith(ALONE):
        return mode_allows(pod, situation.fallback, situation)  # its agent brings it back
    want = wanted_by(pod, situation)
    unwanted = _why_unwanted(pod, want, txn, situation)
    if unwanted or want is None:
        message = f"{pod.name} is given back: {unwanted}"
        release = Release(pod.name, pod.uid, txn, "NoLongerWanted", message)
        return unless_failing(release, Doing.RELEASE, pod, situation)
    if not may_start:
        return None
    swap = situation.fleet.spec.swap
    if swap.take_out is TakeOut.NONE:
        return _swap(pod, want, txn, situation, "requests wait through the pause")
    if pod.view.gated and pod.view.gate_open is True:
        take_out = TakeOutPod(
            pod.name, pod.uid, txn, "Reserved", f"{pod.name} leaves its endpoints"
        )
        return unless_failing(take_out, Doing.TAKE_OUT, pod, situation)
    if pod.view.ready:
        if situation.fleet.now < pod.memory.reserved_since + READY_FOLLOWS_WITHIN_S:
            return None
        message = (
            f"{pod.name} is promised to a swap and still Ready: does its readinessProbe ask the agent,"
            " and does its kubelet answer?"
        )
        return Refusal(HoldGate.LEAVING, HoldReason.WAITING_FOR_UNREADY, message, (pod.name,))
    if situation.fleet.now < settled_at(pod, situation):
        return None
    return _swap(pod, want, txn, situation, "out of its endpoints and settled")


def _txn(pod: Pod, want: Ref, situation: Situation) -> str:
    attempt = next_attempt(pod, situation)
    return txn_id(situation.fleet.uid, want.revision, pod.uid, attempt)


def settled_at(pod: Pod, situation: Situation) -> float:
    """Counted from the later one of Ready=False and the reservation, as seen by this leader.

    A pod that was unready before may have become ready just when it was reserved; after the
    reservation its probe says 503, so that this flip shows within the settling time.
    """
    seen = max(pod.memory.ready_since, pod.memory.reserved_since)
    return seen + situation.fleet.spec.swap.settle_seconds


def comes_back_by(pod: Pod) -> float | None:
    """Until then a pod whose swap has ended is on its way back; None: it is not."""
    if pod.agent is None or not pod.agent.ready or pod.finished is None or not pod.out:
        return None
    ended = max(pod.memory.serving_since, pod.memory.failed_at if pod.memory.failed_txn else 0.0)
    return ended + READY_FOLLOWS_WITHIN_S


def _why_unwanted(pod: Pod, want: Ref | None, txn: str, situation: Situation) -> str:
    """Why a reservation is not used; "" when it is."""
    spec = situation.fleet.spec
    if spec.mode is Mode.SUSPENDED:
        return "spec.mode is Suspended"
    if spec.mode is Mode.PAUSED and not is_stranded(pod):
        return "spec.mode is Paused"
    if want is None and situation.fleet.trainer_drives:
        return "spec.driver is Trainer"
    if want is None or want.is_baseline:
        return "it has nothing to load"
    if txn != _txn(pod, want, situation):
        return f"it was promised for other weights or another attempt, {want.version} is wanted now"
    if want == situation.goal.target.ref and not may_load_target(pod, situation):
        return "another pod proves these weights first"
    if want == situation.goal.target.ref and not has_place(pod, situation):
        return "the step that the canary is at has no room for it"
    return ""


def _swap(pod: Pod, want: Ref, txn: str, situation: Situation, why: str) -> Step:
    spec = situation.fleet.spec
    action = SwapPod(
        pod=pod.name,
        pod_uid=pod.uid,
        txn=txn,
        attempt=next_attempt(pod, situation),
        weights=want,
        pause_mode=spec.swap.pause_mode,
        clear_cache=spec.swap.clear_cache,
        drain_s=float(spec.swap.drain_seconds),
        deadline_s=float(spec.pod_deadline_seconds),
        prompts=spec.verify.prompts,
        reason="Settled" if spec.swap.take_out is TakeOut.ENDPOINT else "Reserved",
        message=f"{pod.name} swaps to {want.version}: {why}",
    )
    return unless_failing(action, Doing.SWAP, pod, situation)


def put_in_for(pod: Pod, situation: Situation) -> PutIn | None:
    """`put_in_step`, and no base weights where a trainer drives, whatever an older agent says."""
    base = pod.loaded is None or pod.loaded.is_baseline
    return None if base and situation.fleet.trainer_drives else put_in_step(pod)


def put_in_step(pod: Pod) -> PutIn | None:
    """What Kubernetes should show of a pod that may serve: label, annotation, gate."""
    if pod.agent is None or not pod.agent.ready or pod.loaded is None:
        return None
    last = pod.finished
    committed = (
        last is not None
        and last.outcome is Outcome.COMMITTED
        and last.weights.revision == pod.loaded.revision
    )
    txn = last.txn if committed and last is not None else pod.view.put_in_txn
    serving = replace(pod.loaded, version=label_of(pod.loaded.version))
    labelled = pod.view.version_label == serving.version or (
        pod.loaded.is_baseline and pod.view.version_label == "" and not pod.view.gated
    )  # by its label the orphan pass finds a pod whose gate we closed and who left its fleet
    gate_shut = pod.view.gated and pod.view.gate_open is not True
    if txn == pod.view.put_in_txn and labelled and not gate_shut:
        return None
    reason = "Swapped" if committed and txn != pod.view.put_in_txn else "GateAnswer"
    if reason == "GateAnswer" and not gate_shut:
        reason = "LabelDiffers"
    message = f"{pod.name} serves {pod.loaded.version}"
    return PutIn(pod.name, pod.uid, txn, attempt_of(txn), serving, reason, message)


def label_of(version: str) -> str:
    """As a label's value can be: a trainer may call its versions anything."""
    return version if re.fullmatch(VERSION_PATTERN, version) else TRAINER_REVISION


def late_labels(situation: Situation) -> list[tuple[Pod, PutIn]]:
    """Pods that serve something else than their label says, and need no write for it."""
    take_out = situation.fleet.spec.swap.take_out
    late = ((pod, put_in_for(pod, situation)) for pod in situation.pods if may_wait(pod, take_out))
    return [(pod, said) for pod, said in late if said is not None]


def _agent_fault(pod: Pod) -> Refusal | None:
    match pod.view.agent:
        case AgentFault.MISSING:
            return Refusal(
                HoldGate.AGENT,
                HoldReason.AGENT_MISSING,
                f"{pod.name} has no container weightrollout-agent: add it to the pod template",
                (pod.name,),
            )
        case AgentFault.UNREACHABLE | AgentFault.REFUSED:
            said = f": {pod.view.agent_message}" if pod.view.agent_message else ""
            return Refusal(
                HoldGate.AGENT,
                HoldReason.AGENT_UNREACHABLE,
                f"the agent of {pod.name} does not answer{said}; it counts as out until it does",
                (pod.name,),
            )
        case _:
            return Refusal(
                HoldGate.PODS, HoldReason.PODS_STARTING, f"{pod.name} does not run yet", (pod.name,)
            )


def _at_rest(pod: Pod, situation: Situation) -> Refusal | None:
    """Nothing to do with this pod; say so where it is not simply done."""
    agent = pod.agent
    drives = situation.fleet.trainer_drives
    if agent is not None and agent.held_by_trainer and not agent.incompatible_reason:
        return None if drives else driving.held(pod)
    if drives and pod.state is PodState.JOINING:
        too_old = agent_is_new_enough(pod, situation.goal.target.ref, situation)
        return too_old or driving.why_it_waits(pod, situation)
    if agent is not None and pod.state is PodState.INCOMPATIBLE:
        message = f"{pod.name}: {agent.incompatible_reason}: {agent.incompatible_message}"
        return Refusal(HoldGate.AGENT, HoldReason.INCOMPATIBLE, message, (pod.name,))
    if pod.state is PodState.FAILED:
        return failed_for_good(pod, situation.goal.target.ref, situation)
    if pod.state is PodState.UPDATED and pod.out:
        said = (
            f" ({agent.not_ready_reason})" if agent is not None and agent.not_ready_reason else ""
        )
        message = f"{pod.name} serves its version and is not Ready{said}: see its probes"
        return Refusal(HoldGate.READY, HoldReason.WAITING_FOR_READY, message, (pod.name,))
    if pod.state is PodState.UPDATED and pod.soak_until is not None:
        message = f"{pod.name} serves for less than strategy.soakSeconds"
        return Refusal(HoldGate.SOAK, HoldReason.SOAKING, message, (pod.name,))
    return None
