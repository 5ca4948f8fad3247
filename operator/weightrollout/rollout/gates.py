"""May this pod start a swap now? An ordered tuple of small predicates; the first refusal wins.

Each gate takes the same three things and needs no other gate to have passed before it.
"""

from collections.abc import Callable
from typing import Final

from weightrollout.api.names import (
    CAPABILITY_DRAFTS,
    CAPABILITY_DRIVER,
    CAPABILITY_GIVE_UP,
    CAPABILITY_LIMITS,
    CAPABILITY_SIGNATURES,
)
from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Mode
from weightrollout.rollout.backoff import gave_up, is_environment, swap_again_at
from weightrollout.rollout.budget import Budget, refuse_over_budget
from weightrollout.rollout.classify import Pod, refused_at_reserve
from weightrollout.rollout.disruption import is_disruption, refuse_disruption
from weightrollout.rollout.driving import held
from weightrollout.rollout.fleet import Ref
from weightrollout.rollout.memory import is_contradicted
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.situation import (
    Situation,
    is_stranded,
    may_load_target,
    retries_left,
)
from weightrollout.rollout.target import short

Gate = Callable[[Pod, Ref, Situation], Refusal | None]


def mode_allows(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    match situation.fleet.spec.mode:
        case Mode.SUSPENDED:
            return Refusal(
                HoldGate.MODE,
                HoldReason.MODE_SUSPENDED,
                "spec.mode is Suspended and nothing starts: set it to Run to go on",
            )
        case Mode.PAUSED if not is_stranded(pod):
            return Refusal(
                HoldGate.MODE,
                HoldReason.MODE_PAUSED,
                "spec.mode is Paused and no serving pod is touched: set it to Run to go on",
            )
        case _:
            return None


def rollback_goes_on(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    return None if is_stranded(pod) else situation.halted


def engine_is_reachable(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    if pod.agent is not None and pod.agent.engine.reachable:
        return None
    return Refusal(
        HoldGate.AGENT,
        HoldReason.ENGINE_UNREACHABLE,
        f"the engine of {pod.name} does not answer its agent: see the logs of its engine container",
        (pod.name,),
    )


def no_trainer_holds(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    held_by_trainer = pod.agent is not None and pod.agent.held_by_trainer
    return held(pod) if held_by_trainer else None


#: How a person does without what an older agent cannot do.
DO_WITHOUT: Final = {
    CAPABILITY_DRIVER: "set spec.driver to Operator",
    CAPABILITY_DRAFTS: "leave spec.weights.draft out",
    CAPABILITY_SIGNATURES: "leave spec.weights.signature out",
    CAPABILITY_GIVE_UP: "set spec.swap.pauseMode to Keep or Abort",
    CAPABILITY_LIMITS: "leave spec.staging.maxBytesPerSecond out",
}


def agent_is_new_enough(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    """It would drop what it does not know, load the rest, and be swapped again for ever."""
    missing = pod.agent.lacks_for(want, situation.fleet.spec) if pod.agent is not None else ""
    if pod.agent is None or not missing:
        return None
    return Refusal(
        HoldGate.AGENT,
        HoldReason.AGENT_TOO_OLD,
        f"the agent of {pod.name} (release {pod.agent.version or 'unknown'}) does not know {missing}:"
        f" update its image, or {DO_WITHOUT[missing]}",
        (pod.name,),
    )


def retries_are_left(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    if retries_left(pod, want, situation):
        return None
    return failed_for_good(pod, want, situation)


def digest_is_pinned(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    if want.is_baseline or want.digest is not None:
        return None
    return Refusal(
        HoldGate.STAGING,
        HoldReason.DIGEST_PENDING,
        f"one pod reads {want.uri} first, and the digest that it finds is pinned for all",
    )


def proof_allows(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    if want.revision != situation.goal.target.ref.revision or may_load_target(pod, situation):
        return None
    prover = situation.prover
    if prover is None:
        return Refusal(
            HoldGate.PROOF,
            HoldReason.NO_PROVER,
            "no pod is fit to load this version first: its agent and engine must both answer",
        )
    return Refusal(
        HoldGate.PROOF,
        HoldReason.PROVE_FIRST,
        f"{prover.name} must prove {want.version} before other pods load it (strategy.proveFirst)",
        (prover.name,),
    )


def weights_are_staged(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    if want.is_baseline or (pod.agent is not None and pod.agent.holds(want)):
        return None
    return Refusal(
        HoldGate.STAGING,
        HoldReason.STAGING,
        f"{pod.name} does not hold {short(want.digest)} yet",
        (pod.name,),
    )


def back_off_is_over(pod: Pod, want: Ref, situation: Situation) -> Refusal | None:
    swap = situation.fleet.spec.swap
    again = swap_again_at(pod, want, swap)
    if again is None or situation.fleet.now >= again:
        return None
    last = pod.finished
    if gave_up(pod, want, swap):
        seen = f" ({last.message})" if last is not None else ""
        message = (
            f"{pod.name} was put back because its requests ran on{seen}, and is tried again later:"
            " swap.drainSeconds gives them more time, swap.pauseMode Keep or Abort ends the wait"
        )
        return Refusal(HoldGate.TRAFFIC, HoldReason.REQUESTS_RUNNING, message, (pod.name,))
    if last is not None and is_environment(last.failure_class):
        return Refusal(
            HoldGate.ENVIRONMENT, last.reason, f"{pod.name}: {last.message}", (pod.name,)
        )
    cause = f": {last.reason}: {last.message}" if last is not None else ""
    if pod.agent is not None and is_contradicted(pod.agent):
        cause = ": its agent reports a committed swap, and other weights than it committed"
    return Refusal(
        HoldGate.BACK_OFF,
        HoldReason.RETRY_BACK_OFF,
        f"{pod.name} is tried again after a pause{cause}",
        (pod.name,),
    )


WAY_OUT: Final = "replace the pod or publish a new version"


def failed_for_good(pod: Pod, want: Ref, situation: Situation) -> Refusal:
    tried = pod.agent.attempts.get(want.digest or "") if pod.agent is not None else None
    if tried is not None and tried.failure_class is not None:
        what = f"{tried.attempts} attempts, the last one: {tried.reason}: {tried.message}"
    elif pod.memory.staging is not None and pod.memory.staging.failure_class is not None:
        staging = pod.memory.staging
        what = f"staging failed {staging.failures} times: {staging.reason}: {staging.message}"
    elif (no := refused_at_reserve(situation.fleet, pod.uid, want.revision)) is not None:
        message = f"{pod.name} does not take {want.version}: {no.reason}: {no.message}: {WAY_OUT}"
        return Refusal(HoldGate.FAILED, HoldReason.PODS_FAILED, message, (pod.name,))
    else:
        what = "see status.failures"
    retries = situation.fleet.spec.repair.retries
    return Refusal(
        HoldGate.FAILED,
        HoldReason.PODS_FAILED,
        f"{pod.name} used up repair.retries {retries} ({what}): {WAY_OUT}",
        (pod.name,),
    )


#: Before a pod is promised to a swap. Fixed order, tested: what a person did comes before what
#: the pod is, and that before what only takes time.
START_GATES: Final[tuple[Gate, ...]] = (
    mode_allows,
    rollback_goes_on,
    engine_is_reachable,
    no_trainer_holds,
    agent_is_new_enough,
    retries_are_left,
    digest_is_pinned,
    proof_allows,
    weights_are_staged,
    back_off_is_over,
)


def refuse_start(pod: Pod, want: Ref, situation: Situation, budget: Budget) -> Refusal | None:
    for gate in START_GATES:
        refusal = gate(pod, want, situation)
        if refusal is not None:
            return refusal
    # Last, and only for pods that serve: the others cost nothing.
    if pod.out:
        return None
    over = refuse_over_budget(budget)
    if over is not None or not is_disruption(want, situation.fleet.spec):
        return over
    return refuse_disruption(pod, budget.disruptions)
