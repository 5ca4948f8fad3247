"""How far a canary may go, and what it waits for.

    level  = highest `updated` of the steps up to this one; all pods once every step is passed
    places = which pods may hold the target: those that hold it or are on their way, and then the
             first ones in order, until the level is full

A step is a level, not an event: where a pod of the canary is gone another one takes its place, also
in a pause, and where pods joined there may be room for more. A level never takes the target away
from a pod. A pod without a place keeps what it serves, or loads stable when it serves nothing.

Each kind of step is one function that looks at the fleet and says whether the step is passed, what
it waits for, when time alone may change that, and whether the weights are refuted (`StepVerdict`).
"""

from dataclasses import dataclass, replace

from weightrollout.api.analysis import Analysis
from weightrollout.api.quantity import goal as count_of
from weightrollout.api.reasons import HoldGate, HoldReason, RejectReason
from weightrollout.api.spec import Pause, Step
from weightrollout.api.status import AnalysisOutcome, AnalysisStatus, LastAction, StepStatus
from weightrollout.rollout.actions import Measure
from weightrollout.rollout.analysis import (
    begun,
    counted,
    entries_of,
    entry_of,
    has_ended,
    last_entries,
    left_behind,
    next_due,
    next_question,
    with_entry,
)
from weightrollout.rollout.arguments import Arguments
from weightrollout.rollout.classify import Pod, PodState, never_ran, serves
from weightrollout.rollout.fleet import Doing, Fleet, PodView
from weightrollout.rollout.position import Position, position_of
from weightrollout.rollout.proof import may_swap_unseen
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.revisions import BASELINE
from weightrollout.rollout.target import Goal
from weightrollout.rollout.verbs import Verb, hear


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """What one step says in this pass."""

    passed: bool = False
    hold: Refusal | None = None  # what the rollout as a whole waits for
    wake_at: float | None = None  # Fleet.now seconds at which time alone changes it
    rejection: tuple[str, str] | None = None  # reason and message: the weights are refuted
    measure: Measure | None = None  # the question that is due
    entry: AnalysisStatus | None = None  # what is measured so far


@dataclass(frozen=True, slots=True)
class Canary:
    """Where the canary stands after this observation."""

    position: Position | None  # None: the target goes through no steps
    since_s: float  # Fleet.now at which its step began
    answer: LastAction | None  # for status.lastAction
    asks: Verb | None  # abort or retry that the history must say first
    verdict: StepVerdict = StepVerdict()
    analysis: tuple[AnalysisStatus, ...] = ()  # for status.analysis
    idle: bool = False  # no pod serves the target, so its clock does not run
    places: frozenset[str] | None = None  # uids of pods that may hold the target; None: all may

    @property
    def over(self) -> bool:
        return self.position is None or self.position.over

    @property
    def key(self) -> str:
        at = self.position
        return f"{at.hash}/{at.index}" if at is not None else ""

    @property
    def status(self) -> StepStatus | None:
        at = self.position
        if at is None:
            return None
        return StepStatus(index=at.index, of=at.of, hash=at.hash, since=at.since)


@dataclass(frozen=True, slots=True)
class Sight:
    """What a step looks at."""

    fleet: Fleet
    goal: Goal
    pods: tuple[Pod, ...]
    position: Position
    since_s: float  # Fleet.now
    level: int  # most pods that may hold the target
    reached: int  # pods that hold it, are in service and have soaked
    is_idle: bool  # there is no canary, or the first one after that does not answer yet

    @property
    def is_full(self) -> bool:
        """The level is reached by pods that answer. Without a pod nothing is: no vacuous truth."""
        able = sum(not never_ran(pod) for pod in self.pods)
        return able > 0 and self.reached >= min(self.level, able)

    @property
    def name(self) -> str:
        return f"step {self.position.index + 1} of {self.position.of}"


def canary_of(fleet: Fleet, goal: Goal, pods: tuple[Pod, ...], prover: PodView | None) -> Canary:
    """Hear the verb, pass what is passed, and give out the places."""
    heard = hear(fleet, goal, position_of(fleet, goal))
    if heard.position is None:
        entries = last_entries(fleet)
        return Canary(None, fleet.now, heard.answer, heard.asks, analysis=entries)
    # Where the steps begin again, so does what is measured at them.
    entries = entries_of(fleet, heard.position.hash) if heard.position.known else ()
    entries = left_behind(entries, heard.position.index)
    sight = _begun(_sight(fleet, goal, pods, heard.position))
    verdict = StepVerdict()
    while not sight.position.over:
        verdict = _ask(fleet.spec.strategy.steps[sight.position.index], sight, entries)
        if verdict.entry is not None:
            entries = with_entry(entries, verdict.entry)
        if not verdict.passed:
            break
        passed = replace(sight.position, index=sight.position.index + 1, since=fleet.wall)
        sight, verdict = _sight(fleet, goal, pods, passed), StepVerdict()
    places = None if sight.position.over else _places(sight, prover)
    return Canary(
        *(sight.position, sight.since_s, heard.answer, heard.asks),
        *(verdict, entries, sight.is_idle, places),
    )


def _begun(sight: Sight) -> Sight:
    """Since when it is at this step. The clock of a new leader starts again, and so does one beside
    which no pod served the target: a pause without a canary proves nothing."""
    was, at = sight.fleet.memory, sight.position
    if not at.known or was.step_key != f"{at.hash}/{at.index}":
        return replace(sight, position=replace(at, since=sight.fleet.wall))
    if sight.is_idle:
        return sight
    if was.step_idle:
        return replace(sight, position=replace(at, since=sight.fleet.wall))
    return replace(sight, since_s=was.step_since)


def _ask(step: Step, sight: Sight, entries: tuple[AnalysisStatus, ...]) -> StepVerdict:
    if step.pause is not None:
        return _pause(step.pause, sight)
    if step.analysis is not None:
        return _analyse(step.analysis, sight, entries)
    return StepVerdict(passed=sight.is_full)


def _pause(pause: Pause, sight: Sight) -> StepVerdict:
    if not sight.is_full:
        return StepVerdict()  # the pods say what they wait for
    promote = f"kubectl weightrollout promote {sight.fleet.name}"
    if pause.duration_seconds is None:
        message = f"waiting at {sight.name}: {promote}"
        return StepVerdict(hold=Refusal(HoldGate.STEP, HoldReason.STEP_PAUSED, message))
    end = sight.since_s + pause.duration_seconds
    if sight.fleet.now >= end:
        return StepVerdict(passed=True)
    message = (
        f"{sight.name} pauses for {pause.duration_seconds} seconds since {sight.position.since}"
        f"; to go on now: {promote}"
    )
    return StepVerdict(hold=Refusal(HoldGate.STEP, HoldReason.STEP_TIMED, message), wake_at=end)


def _analyse(analysis: Analysis, sight: Sight, entries: tuple[AnalysisStatus, ...]) -> StepVerdict:
    at, fleet = sight.position, sight.fleet
    entry = entry_of(entries, at.index) or begun(analysis, at.hash, at.index, fleet.wall)
    entry = counted(entry, analysis, fleet.measurement, fleet.wall)
    if entry.outcome is AnalysisOutcome.SUCCESSFUL or (analysis.dry_run and has_ended(entry)):
        return StepVerdict(passed=True, entry=entry)
    if entry.outcome is AnalysisOutcome.FAILED:
        message = f"{sight.name}: {entry.message}"
        return StepVerdict(rejection=(RejectReason.ANALYSIS_FAILED, message), entry=entry)
    version = sight.goal.target.ref.version
    promote = f"kubectl weightrollout promote {fleet.name}"
    if entry.outcome is AnalysisOutcome.INCONCLUSIVE:
        message = (
            f"{sight.name}: nobody can say whether {version} is good ({entry.message}): {promote},"
            f" or kubectl weightrollout abort {fleet.name}"
        )
        hold = Refusal(HoldGate.STEP, HoldReason.ANALYSIS_INCONCLUSIVE, message)
        return StepVerdict(hold=hold, entry=entry)
    if not sight.is_full:
        return StepVerdict(entry=entry)  # the pods say what they wait for
    message = f"{sight.name} measures {version}: {entry.message}; to go on now: {promote}"
    hold = Refusal(HoldGate.STEP, HoldReason.ANALYSIS_RUNNING, message)
    due = next_due(entry, analysis, fleet, sight.since_s)
    if fleet.now < due:
        return StepVerdict(hold=hold, wake_at=due, entry=entry)
    question = next_question(entry, analysis, _arguments(sight))
    return StepVerdict(hold=hold, measure=question, entry=entry)


def _arguments(sight: Sight) -> Arguments:
    target, fleet = sight.goal.target.ref, sight.fleet
    previous = sight.goal.stable.ref if sight.goal.stable is not None else BASELINE
    return Arguments(
        name=fleet.name,
        namespace=fleet.namespace,
        revision=target.revision,
        version=target.version,
        previous_version=previous.version,
        pods=tuple(pod.name for pod in sight.pods if pod.state is PodState.UPDATED),
        previous_pods=tuple(
            pod.name
            for pod in sight.pods
            if pod.state is not PodState.UPDATED and serves(pod.agent, previous)
        ),
    )


def _sight(fleet: Fleet, goal: Goal, pods: tuple[Pod, ...], at: Position) -> Sight:
    holding = [pod for pod in pods if pod.state is PodState.UPDATED]
    reached = sum(pod.in_service and pod.soak_until is None for pod in holding)
    level = _level(at, fleet, pods)
    idle = level > 0 and not (reached if fleet.memory.step_idle else holding)
    return Sight(fleet, goal, pods, at, fleet.now, level, reached, idle)


def _level(at: Position, fleet: Fleet, pods: tuple[Pod, ...]) -> int:
    steps = fleet.spec.strategy.steps[: at.index + 1]
    wanted = (count_of(step.updated, len(pods)) for step in steps if step.updated is not None)
    return max(wanted, default=0)


def _places(sight: Sight, prover: PodView | None) -> frozenset[str]:
    fleet, goal, pods = sight.fleet, sight.goal, sight.pods
    target = goal.target.ref.revision
    holders = {pod.uid for pod in pods if _holds(pod, target, fleet)}
    promised = [pod.uid for pod in pods if pod.uid not in holders and _is_promised(pod, target)]
    taken = holders.union(promised)
    free = sorted(
        (pod for pod in pods if _is_fit(pod, goal, fleet) and pod.uid not in taken),
        key=lambda pod: (
            prover is None or pod.uid != prover.uid,
            not _has_tried(pod, goal),
            _is_doubtful(pod),
        ),
    )
    waiting = [*promised, *(pod.uid for pod in free)]
    return frozenset(holders.union(waiting[: max(0, sight.level - len(holders))]))


def _holds(pod: Pod, target: str, fleet: Fleet) -> bool:
    """It holds the target, or nobody can stop it from holding it soon."""
    if pod.state is PodState.UPDATED:
        return True
    if pod.running is not None:
        return pod.running.weights.revision == target
    if may_swap_unseen(pod, fleet, target):
        return True
    if pod.state is PodState.POISONED:
        return pod.finished is not None and pod.finished.weights.revision == target
    # Its agent is silent and Kubernetes still sends it requests: it serves what it served last.
    unheard = pod.state is PodState.UNREACHABLE and pod.view.ready
    return unheard and pod.memory.served == target


def _is_promised(pod: Pod, target: str) -> bool:
    asked = (pod.work[doing] for doing in (Doing.RESERVE, Doing.SWAP) if doing in pod.work)
    if any(revision in ("", target) for revision in asked):
        return True
    reserved = pod.agent.reserved_txn if pod.agent is not None else None
    return reserved is not None and f"/{target}/" in reserved


def _is_fit(pod: Pod, goal: Goal, fleet: Fleet) -> bool:
    if pod.agent is None or not pod.agent.engine.reachable:
        return False
    if pod.agent.lacks_for(goal.target.ref, fleet.spec):
        return False
    return pod.state in (PodState.OUTDATED, PodState.JOINING)


def _has_tried(pod: Pod, goal: Goal) -> bool:
    """Whoever began and failed goes on until its retries are used up: trouble must not wander."""
    tried = pod.agent.attempts.get(goal.target.ref.digest or "") if pod.agent is not None else None
    return tried is not None and tried.failure_class is not None


def _is_doubtful(pod: Pod) -> bool:
    """It cannot stage, was put back for its requests, or is out of service with weights it could
    serve: a poor witness."""
    staging = pod.memory.staging
    failing = staging is not None and staging.failure_class is not None
    return failing or pod.memory.gave_up > 0 or (pod.out and pod.state is PodState.OUTDATED)
