"""Why a rollout does not move, who can change that, and what comes next.

In: what was read of it. Out: one `Why`; the hold's own words are the operator's, what comes next is the
planner's (forecast), and only what ends a hold is said here, once for each gate.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from weightrollout.api.profiles import TRAINING_BY_PATH
from weightrollout.api.quantity import limit
from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Driver, Mode, WeightRolloutSpec
from weightrollout.cli.forecast import Forecast, Kind, Live, Step
from weightrollout.cli.view import HoldView, Outcome, PodState, View, view_of
from weightrollout.cli.words import age, duration, moment, some_of
from weightrollout.clock import rfc3339
from weightrollout.kube.client import Json

YOU: Final = "you"
OPERATOR: Final = "the operator"
CLUSTER: Final = "the cluster"
TRAINER: Final = "the trainer"

#: Who ends a hold of this gate, and how.
ENDS: Final[dict[HoldGate, tuple[str, str]]] = {
    HoldGate.SPEC: (YOU, "correct spec.weights: nothing new starts until then"),
    HoldGate.VERDICT: (YOU, "publish a new version, or 'kubectl weightrollout retry {name}'"),
    HoldGate.MODE: (
        YOU,
        "'kubectl weightrollout resume {name}', or set spec.weights where it is absent",
    ),
    HoldGate.STEP: (YOU, "'kubectl weightrollout promote {name}'"),
    HoldGate.PODS: (CLUSTER, "pods with the label weightrollout.dev/name: {name} must run"),
    HoldGate.ENVIRONMENT: (
        CLUSTER,
        "it is tried again by itself, and goes on when the cause is gone",
    ),
    HoldGate.BACK_OFF: (OPERATOR, "it is tried again by itself"),
    HoldGate.LEAVING: (CLUSTER, "the kubelet must show the pod as not Ready"),
    HoldGate.REPAIR: (YOU, "replace these pods, or let the operator evict them"),
    HoldGate.DISRUPTION: (
        YOU,
        "give the PodDisruptionBudget room, or bring back the pods that it misses",
    ),
    HoldGate.BUDGET: (
        OPERATOR,
        "it goes on when a pod is Ready again, or with more maxUnavailable",
    ),
    HoldGate.SOAK: (OPERATOR, "it goes on when the soak is over"),
    HoldGate.TRAFFIC: (
        OPERATOR,
        "it is tried again by itself, and goes on when these requests have ended",
    ),
    HoldGate.PROOF: (OPERATOR, "the others begin when the first pod has verified"),
    HoldGate.STAGING: (OPERATOR, "swaps begin when the weights are on a pod"),
    HoldGate.READY: (CLUSTER, "the kubelet must show as Ready what the agent says is ready"),
    HoldGate.TRAINER: (
        TRAINER,
        "it goes on when the trainer has updated or released these pods",
    ),
    HoldGate.FAILED: (YOU, "replace these pods, or publish a new version"),
    HoldGate.AGENT: (YOU, "bring these pods a working agent ('kubectl weightrollout inject')"),
}

#: Steps that no person has to leave.
BY_ITSELF: Final[dict[str, str]] = {
    HoldReason.STEP_TIMED: "the time of the step",
    HoldReason.ANALYSIS_RUNNING: "it goes on when enough was measured",
}


@dataclass(frozen=True, slots=True)
class Kept:
    """Pods that are in the same state for the same reason."""

    state: str
    reason: str
    message: str
    version: str
    pods: tuple[str, ...]


class Source(StrEnum):
    """Where the value of a rule comes from."""

    OBJECT = "object"  # said there, or a default that the API server stored in it
    PROFILE = "profile"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Rule:
    field: str  # below spec
    value: str  # defaults resolved, percentages counted
    source: Source


@dataclass(frozen=True, slots=True)
class Why:
    name: str
    namespace: str
    outcome: Outcome
    phase: str
    message: str
    hold: HoldView | None
    waits_for: str  # you, the operator, the trainer or the cluster; "" where nothing is waited for
    ends: str
    next: str  # what the planner does then
    when: str  # as far as a time can be told
    pods: tuple[Kept, ...]
    policy: tuple[Rule, ...]  # what applies


def why_of(live: Live, spec: WeightRolloutSpec, ahead: Forecast, now: datetime) -> Why:
    view = view_of(live.rollout, live.pods)
    who, ends = _ends(view)
    return Why(
        name=view.name,
        namespace=view.namespace,
        outcome=view.outcome,
        phase=view.phase,
        message=view.message,
        hold=view.hold,
        waits_for=who,
        ends=ends,
        next=_next(view, ahead),
        when=_when(view, spec, now),
        pods=tuple(_kept(view)),
        policy=tuple(
            Rule(field, value, _source(field, live.rollout.get("spec") or {}))
            for field, value in _policy(spec, ahead.pods)
        ),
    )


def _ends(view: View) -> tuple[str, str]:
    if view.hold is None:
        if view.outcome is Outcome.STALLED:
            return YOU, ENDS[HoldGate.VERDICT][1].format(name=view.name)
        return "", ""
    if view.hold.reason == HoldReason.BUDGET_USED_BY_UNREADY_PODS:
        return CLUSTER, "these pods must be Ready again, or more may be out (maxUnavailable)"
    if (by_itself := BY_ITSELF.get(view.hold.reason)) is not None:
        at_once = ENDS[HoldGate.STEP][1].format(name=view.name)
        return OPERATOR, f"{by_itself}; at once with {at_once}"
    if view.hold.gate not in set(HoldGate):
        return "", ""  # a newer operator's
    who, ends = ENDS[HoldGate(view.hold.gate)]
    return who, ends.format(name=view.name)


def _next(view: View, ahead: Forecast) -> str:
    """The planner's first step that is not the hold itself."""
    if view.outcome is Outcome.COMPLETE:
        return "nothing: a trainer drives" if view.driven else "nothing: it is complete"
    if view.hold is not None and view.hold.reason == HoldReason.WAITING_FOR_TRAINER:
        return "nothing, until the trainer has updated these pods"
    moves = [each for each in ahead.steps if each.kind is not Kind.WAIT]
    # What is being read already cannot be seen here, and status says it: STAGING.
    step = next((each for each in moves if each.kind is not Kind.READ), None)
    if step is not None:
        return _said(step)
    return "" if view.outcome is Outcome.STALLED else f"{ahead.phase}: {ahead.message}"


def _said(step: Step) -> str:
    names = some_of(step.pods)
    match step.kind:
        case Kind.READ:
            return f"{names} read {step.version} while they serve"
        case Kind.SWAP | Kind.PROVE:
            alone = ", alone" if step.kind is Kind.PROVE else ""
            return f"{names} to swap to {step.version}{alone}"
        case Kind.RESTART:
            return f"engines of {names} restart"
        case Kind.WAIT | Kind.REJECT:
            return step.message


def _when(view: View, spec: WeightRolloutSpec, now: datetime) -> str:
    hold = view.hold
    if view.outcome is not Outcome.UNDER_WAY or view.target is None:  # nobody has looked at it yet
        return ""
    if hold is not None and hold.reason == HoldReason.STEP_TIMED and view.step is not None:
        steps, at = spec.strategy.steps, view.step.index
        pause = steps[at].pause if at < len(steps) else None
        begun = moment(view.step.since)
        if pause is not None and pause.duration_seconds is not None and begun is not None:
            end = begun + timedelta(seconds=pause.duration_seconds)
            left = max(int((end - now) / timedelta(seconds=1)), 0)
            return f"in {duration(left)}, at {rfc3339(end)}"
    if hold is not None and hold.gate == HoldGate.SOAK:
        return f"within {duration(spec.strategy.soak_seconds)} (spec.strategy.soakSeconds)"
    if hold is not None and hold.reason in BY_ITSELF:
        return ""  # its message says how far it is
    if hold is not None and (hold.gate == HoldGate.STEP or hold.gate == HoldGate.MODE):
        return "not before you say so"
    if view.swapping:
        return f"a swap ends within {duration(spec.pod_deadline_seconds)} (spec.podDeadlineSeconds)"
    if hold is None or hold.gate in (
        HoldGate.BUDGET,
        HoldGate.PROOF,
        HoldGate.STAGING,
        HoldGate.READY,
    ):
        limit_s = duration(spec.progress_deadline_seconds)
        return f"{limit_s} without progress end it (spec.progressDeadlineSeconds)"
    return ""


def _kept(view: View) -> Iterator[Kept]:
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for group in view.versions:
        for pod in group.pods:
            if pod.state is PodState.UPDATED and not pod.reason:
                continue
            key = (str(pod.state), pod.reason, pod.message, group.version)
            alike.setdefault(key, []).append(pod.name)
    for (state, reason, message, version), names in alike.items():
        yield Kept(state, reason, message, version, tuple(names))


def _policy(spec: WeightRolloutSpec, pods: int) -> Iterator[tuple[str, str]]:
    strategy, swap, staging = spec.strategy, spec.swap, spec.staging
    reading = min(limit(staging.max_concurrent, pods, at_least=1), pods)
    most = min(limit(strategy.max_unavailable, pods, at_least=1), pods)
    failed = limit(strategy.max_failed, pods, at_least=0)
    yield "profile", str(spec.profile)
    if spec.driver is not Driver.OPERATOR:
        yield "driver", str(spec.driver)
    if spec.guard is not None:
        yield "guard", str(spec.guard)
    if spec.mode is not Mode.RUN:
        yield "mode", str(spec.mode)
    yield "staging.maxConcurrent", f"{staging.max_concurrent}: {reading} of {pods} pods"
    if staging.max_bytes_per_second is not None:
        yield "staging.maxBytesPerSecond", f"{staging.max_bytes_per_second} for each agent"
    yield "strategy.maxUnavailable", f"{strategy.max_unavailable}: {most} of {pods} pods"
    yield "strategy.maxFailed", f"{strategy.max_failed}: {failed} of {pods} pods"
    yield "strategy.proveFirst", str(strategy.prove_first).lower()
    if strategy.soak_seconds:
        yield "strategy.soakSeconds", str(strategy.soak_seconds)
    yield "strategy.supersede", str(strategy.supersede)
    yield "swap.takeOut", str(swap.take_out)
    yield "swap.drainSeconds", str(swap.drain_seconds)
    yield "swap.pauseMode", str(swap.pause_mode)
    yield "onFailure", str(spec.on_failure)
    yield "podDeadlineSeconds", str(spec.pod_deadline_seconds)
    yield "progressDeadlineSeconds", str(spec.progress_deadline_seconds)


def _source(field: str, said: Json) -> Source:
    """`said`: the spec as the API server has it."""
    place: Any = said
    for name in field.split("."):
        place = place.get(name) if isinstance(place, dict) else None
    if place is not None:
        return Source.OBJECT
    return Source.PROFILE if f"spec.{field}" in TRAINING_BY_PATH else Source.DEFAULT


def held_for(why: Why, now: datetime) -> str:
    return age(why.hold.since, now) if why.hold is not None else ""
