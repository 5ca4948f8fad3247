"""What would happen to a fleet, by the operator's own planner on a copy of it in memory. Touches nothing.

In: the WeightRollout (as it is, or edited), its history and pods as the API server shows them. Out: the steps
to where it settles. The world of rollout.simulate stands in for agents and engines: nothing fails there that
has not failed yet, and a person promotes at each pause.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from weightrollout.api.disruption import DisruptionBudget
from weightrollout.api.names import ANNOTATION_ACTION
from weightrollout.api.quantity import limit
from weightrollout.api.reasons import HoldReason
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import Phase
from weightrollout.cli.lint.warnings import warnings_of
from weightrollout.cli.view import view_of
from weightrollout.cli.words import duration
from weightrollout.kube.pods import Pod
from weightrollout.reading import put_in_txn, read_spec, read_status
from weightrollout.rollout.actions import Plan, RecordRevision, Reserve, RestartEngine, Stage
from weightrollout.rollout.fleet import AgentFault, Ref, Revision, Verdict
from weightrollout.rollout.revisions import BASELINE, find
from weightrollout.rollout.simulate import Checkpoint, ToyWorld
from weightrollout.rollout.toybudget import ToyBudget
from weightrollout.rollout.toypod import ToyPod
from weightrollout.rollout.verbs import VerbName, spell

Json = dict[str, Any]

#: Passes until it must have settled; what needs more is told as it stands then.
MOST_PASSES: Final = 20_000
#: Stands for what nobody has read yet.
UNREAD: Final = "sha256:" + "0" * 64
OVER: Final = (Phase.COMPLETE, Phase.ROLLED_BACK, Phase.FAILED)


class Kind(StrEnum):
    READ = "read"  # weights onto pods, while they serve
    PROVE = "prove"  # the first swap, alone
    SWAP = "swap"
    RESTART = "restart"  # of engines
    WAIT = "wait"  # for a person, or a time of the spec
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Step:
    kind: Kind
    version: str
    pods: tuple[str, ...]
    message: str  # why, or what it waits for


@dataclass(frozen=True, slots=True)
class Forecast:
    name: str
    serves: str  # version that stable says; "" without
    version: str  # what is asked for; "" for nothing
    pods: int
    most_out: int
    steps: tuple[Step, ...]
    phase: str  # where it ends
    message: str
    warnings: tuple[str, ...]
    assumes: tuple[str, ...]

    @property
    def arrives(self) -> bool:
        return self.phase == Phase.COMPLETE


@dataclass(frozen=True, slots=True)
class Live:
    """What was read."""

    rollout: Json
    revisions: tuple[Revision, ...]
    pods: tuple[Pod, ...]
    published: Ref | None
    budgets: tuple[DisruptionBudget, ...] = ()  # of the namespace, as far as they may be read


def _add(steps: list[Step], new: Step) -> None:
    """What is read is one row for each version. Swaps that follow each other are one, in their order: which
    of them end together depends on times that nobody knows; only the one that proves is alone for sure."""
    for number in range(len(steps) - 1, -1, -1):
        known = steps[number]
        alike = (known.kind, known.version) == (new.kind, new.version)
        if alike and (new.kind is Kind.READ or number == len(steps) - 1):
            more = tuple(pod for pod in new.pods if pod not in known.pods)
            steps[number] = replace(known, pods=known.pods + more)
            return
    steps.append(new)


def forecast(live: Live, spec: WeightRolloutSpec) -> Forecast:
    """`spec` is the live one, or what somebody thinks of writing; resolved."""
    world = _world(live, spec)
    steps: list[Step] = []
    _run(world, steps)
    status = world.status
    count = len(world.pods)
    return Forecast(
        name=world.name,
        serves=_stable(live),
        version=spec.weights.version if spec.weights else "",
        pods=count,
        most_out=min(limit(spec.strategy.max_unavailable, count, at_least=1), count),
        steps=tuple(steps),
        phase=str(status.phase),
        message=status.message,
        warnings=tuple(each.message for each in warnings_of(spec, count)),
        assumes=tuple(_assumptions(live)),
    )


def _stable(live: Live) -> str:
    stable = view_of(live.rollout, ()).stable
    return stable.version if stable is not None else ""


def _run(world: ToyWorld, steps: list[Step]) -> None:
    promoted = 0
    for _ in range(MOST_PASSES):
        planned = world.one_pass()
        _note(planned, world, steps)
        if _let_happen(world):
            continue
        quiet = not world.events and not planned.actions
        if quiet and planned.status.phase in OVER:
            return
        hold = planned.status.hold
        if quiet and hold is not None and hold.reason == HoldReason.STEP_PAUSED:
            target, step = planned.status.target, planned.status.step
            if target is None or step is None:
                return
            promoted += 1
            world.action = spell(
                VerbName.PROMOTE, target.revision, f"p{promoted}", step=f"{step.index}.{step.hash}"
            )
        elif not world.advance():
            return


def _let_happen(world: ToyWorld) -> bool:
    """Everything that is due now, which one pass then sees at once. False: nothing was."""
    happened = False
    while any(event.due <= world.now for event in world.events):
        happened = world.advance()
    return happened


def _note(planned: Plan, world: ToyWorld, steps: list[Step]) -> None:
    for action in planned.actions:
        match action:
            case Stage():
                _add(steps, Step(Kind.READ, action.weights.version, (action.pod,), ""))
            case Reserve():
                kind = Kind.PROVE if _proves(action, world) else Kind.SWAP
                _add(steps, Step(kind, action.weights.version, (action.pod,), ""))
            case RestartEngine():
                _add(steps, Step(Kind.RESTART, action.serve.version, (action.pod,), action.message))
            case RecordRevision() if action.verdict is Verdict.REJECTED:
                message = f"{action.reason}: {action.message}"
                _add(steps, Step(Kind.REJECT, action.ref.version, (), message))
            case _:
                pass
    waits = _wait(planned, world.spec)
    if waits is not None and (not steps or steps[-1] != waits):
        steps.append(waits)


def _proves(action: Reserve, world: ToyWorld) -> bool:
    """No pod has loaded these weights yet, and the spec lets one go first."""
    digest = action.weights.digest
    loaded = {pod.loaded.digest for pod in world.pods if pod.loaded is not None}
    known = find(world.revisions, action.weights.revision)
    verified = known is not None and known.verdict is Verdict.VERIFIED
    return world.spec.strategy.prove_first and digest not in loaded and not verified


def _wait(planned: Plan, spec: WeightRolloutSpec) -> Step | None:
    status = planned.status
    hold, step = status.hold, status.step
    if hold is None or step is None or status.target is None:
        return None
    where = f"step {step.index + 1} of {step.of}"
    if hold.reason == HoldReason.STEP_PAUSED:
        return Step(Kind.WAIT, status.target.version, (), f"{where}: until a person promotes it")
    if hold.reason == HoldReason.STEP_TIMED:
        pause = spec.strategy.steps[step.index].pause
        seconds = pause.duration_seconds if pause is not None else None
        text = f"{where}: for {duration(seconds or 0)}"
        return Step(Kind.WAIT, status.target.version, (), text)
    return None


def _world(live: Live, spec: WeightRolloutSpec) -> ToyWorld:
    metadata = live.rollout["metadata"]
    refs = {each.ref.revision: each.ref for each in live.revisions}
    edited = spec != read_spec(live.rollout)
    pods = [_toy(pod, refs) for pod in live.pods if pod.counts and not pod.terminating]
    return ToyWorld(
        spec=spec,
        pods=pods,
        budgets=[ToyBudget.seen(budget, pods) for budget in live.budgets],
        checkpoints=_checkpoints(live, spec),
        name=metadata["name"],
        generation=int(metadata.get("generation", 1)) + edited,
        status=read_status(live.rollout),
        revisions=live.revisions,
        published=live.published,
        action=(metadata.get("annotations") or {}).get(ANNOTATION_ACTION, ""),
    )


def _checkpoints(live: Live, spec: WeightRolloutSpec) -> dict[str, Checkpoint]:
    found = {
        each.ref.uri: Checkpoint(each.ref.digest or UNREAD)
        for each in live.revisions
        if each.ref.uri
    }
    weights = spec.weights
    if weights is not None:
        known = found.get(weights.uri)
        digest = weights.digest or (known.digest if known is not None else UNREAD)
        found[weights.uri] = Checkpoint(digest)
    return found


def _toy(pod: Pod, refs: dict[str, Ref]) -> ToyPod:
    """As far as the pod's own labels tell. What an agent knows beyond that, only the operator is told."""
    alike = (each for each in refs.values() if each.version == pod.version_label)
    serving = refs.get(_revision(pod.swap_annotation)) or next(alike, None)
    return ToyPod(
        name=pod.name,
        uid=pod.uid,
        gated=pod.gated,
        fault=_fault(pod),
        running=pod.running,
        loaded=serving,
        told=serving or (BASELINE if pod.ready else None),
        staged=set(serving.digests) if serving is not None else set(),
        signed=set(serving.proofs) if serving is not None else set(),
        ready=pod.ready,
        gate_open=pod.gate.open if pod.gate is not None else None,
        version_label=pod.version_label,
        put_in_txn=put_in_txn(pod.swap_annotation),
        labels=dict(pod.labels),
        controlled=pod.controlled,
    )


def _fault(pod: Pod) -> AgentFault | None:
    if pod.agent_port is None:
        return AgentFault.MISSING
    return None if pod.running else AgentFault.STARTING


def _revision(annotation: str) -> str:
    try:
        said = json.loads(annotation)
    except (ValueError, RecursionError):
        return ""
    return str(said.get("revision", "")) if isinstance(said, dict) else ""


def _assumptions(live: Live) -> Iterable[str]:
    yield "nothing fails that has not failed yet, and each pause is promoted"
    out = [pod.name for pod in live.pods if pod.counts and not pod.terminating and not pod.ready]
    if out:
        yield f"pods that are not Ready now come back by themselves: {', '.join(sorted(out))}"
    failed = sorted({each.pod for each in read_status(live.rollout).failures})
    if failed:
        yield f"pods that failed before take it this time: {', '.join(failed)}"
