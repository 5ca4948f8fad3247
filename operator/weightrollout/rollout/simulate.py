"""The real planner on a toy world, until it settles: for stories and `kubectl weightrollout plan`.

Time is a number that jumps to the next event. Order is fixed, or chosen by a function that is
given: the same choices give the same story, line by line.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from weightrollout.api.reasons import HoldReason
from weightrollout.api.spec import Driver, PauseMode, WeightRolloutSpec
from weightrollout.api.status import MeasurementOutcome, WeightRolloutStatus
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.rollout.actions import (
    Action,
    AdoptRevision,
    Announce,
    EvictPod,
    LabelPod,
    Measure,
    Plan,
    PruneRevision,
    PublishStable,
    PutIn,
    RecordRevision,
    Release,
    Reserve,
    RestartEngine,
    Shown,
    Stage,
    SwapPod,
    TakeOutPod,
)
from weightrollout.rollout.fleet import (
    ActionFailure,
    Doing,
    Fleet,
    Measurement,
    Memory,
    Ref,
    Revision,
    StagingView,
    Work,
)
from weightrollout.rollout.plan import plan
from weightrollout.rollout.profile import resolved
from weightrollout.rollout.revisions import find
from weightrollout.rollout.toybudget import ToyBudget
from weightrollout.rollout.toypod import COMMITTED, Fate, StageFate, ToyPod

Choose = Callable[[int], int]  # how many there are -> which one happens next

STAGE_S = 2.0
SWAP_S = 1.0
RESTART_S = 5.0
KUBELET_S = 1.0
BUDGET_S = 0.25
END_S = 2.0
MEASURE_S = 0.5


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What lies behind a uri."""

    digest: str
    stage: StageFate | None = None  # None: it can be staged
    swap: Fate = COMMITTED
    reserve: StageFate | None = None  # None: an image of it that is there may be loaded


@dataclass(frozen=True, slots=True)
class Answer:
    """Of whoever is measured by; a good one where nothing else is said."""

    value: float | None = None
    said: MeasurementOutcome | None = None
    reason: str = ""


GOOD: Final = Answer(said=MeasurementOutcome.SUCCESSFUL)


@dataclass(frozen=True, slots=True)
class Event:
    due: float
    what: str
    happen: Callable[[], None]


def first(count: int) -> int:
    return 0


@dataclass
class ToyWorld:
    spec: WeightRolloutSpec
    pods: list[ToyPod]
    checkpoints: dict[str, Checkpoint]  # by uri
    choose: Choose = first
    name: str = "chat"
    now: float = 0.0
    generation: int = 1
    status: WeightRolloutStatus = field(default_factory=WeightRolloutStatus)
    memory: Memory = field(default_factory=Memory)
    revisions: tuple[Revision, ...] = ()
    published: Ref | None = None
    published_for_trainer: bool = False
    action: str = ""  # the annotation, see verbs.py
    refused: set[Doing] = field(default_factory=set)  # calls that fail for now
    failures: dict[tuple[Doing, str], ActionFailure] = field(default_factory=dict)
    work: set[Work] = field(default_factory=set)
    answers: list[Answer] = field(default_factory=list)  # to the next questions; then GOOD
    measurement: Measurement | None = None
    events: list[Event] = field(default_factory=list)
    budgets: list[ToyBudget] = field(default_factory=list)
    budgets_denied: str = ""
    newest: Plan | None = None

    def observe(self) -> Fleet:
        self._hello()
        return Fleet(
            namespace="default",
            name=self.name,
            uid="cr",
            generation=self.generation,
            spec=resolved(self.spec),
            status=self.status,
            revisions=self.revisions,
            pods=tuple(pod.view(self.published) for pod in self.pods),
            work=frozenset(self.work),
            now=self.now,
            wall=f"t={self.now:g}",
            epoch=1,
            failures=tuple(self.failures.values()),
            published=self.published,
            published_for_trainer=self.published_for_trainer,
            memory=self.memory,
            measurement=self.measurement,
            action=self.action,
            disruption_budgets=tuple(budget.view for budget in self.budgets),
            disruption_budgets_denied=self.budgets_denied,
        )

    def _hello(self) -> None:
        """Agents that hear us know at once who drives."""
        for pod in self.pods:
            if pod.fault is None:
                pod.driven = self.spec.driver is Driver.TRAINER

    def one_pass(self) -> Plan:
        """Observe, plan, act, report."""
        self.kubelet()
        self.count_budgets()
        planned = plan(self.observe())
        for action in planned.actions:
            self._act(action)
        self.status, self.memory, self.newest = planned.status, planned.memory, planned
        return planned

    def advance(self) -> bool:
        """Let one thing happen: an event that is due, else time. False: nothing ever will."""
        due = [event for event in self.events if event.due <= self.now]
        if due:
            event = due[self.choose(len(due))]
            self.events.remove(event)
            event.happen()
            return True
        alarm = self.newest.wake_at if self.newest is not None else None
        times = [event.due for event in self.events] + ([alarm] if alarm is not None else [])
        if not times:
            return False
        self.now = max(self.now, min(times))
        return True

    def change_spec(self, **changes: object) -> None:
        self.spec = self.spec.model_copy(update=changes)
        self.generation += 1

    def pod(self, name: str) -> ToyPod:
        return next(pod for pod in self.pods if pod.name == name)

    def later(self, seconds: float, what: str, happen: Callable[[], None]) -> None:
        self.events.append(Event(self.now + seconds, what, happen))

    # -- act: each action becomes work in flight, and an event that ends it --

    def _act(self, action: Action) -> None:
        match action:
            case Announce():
                return
            case RecordRevision():
                work = Work(Doing.RECORD_REVISION, revision=action.ref.revision)
                self._start(work, 0.0, lambda: self._record(action))
            case PublishStable():
                self._start(Work(Doing.PUBLISH_STABLE), 0.0, lambda: self._publish(action))
            case PruneRevision():
                work = Work(Doing.PRUNE_REVISION, revision=action.revision)
                self._start(work, 0.0, lambda: self._prune(action))
            case AdoptRevision():
                work = Work(Doing.ADOPT_REVISION, revision=action.revision)
                self._start(work, 0.0, lambda: self._adopt(action))
            case Measure():
                work = Work(Doing.MEASURE, revision=action.revision)
                self._start(work, MEASURE_S, lambda: self._measure(action))
            case _:
                self._act_on_pod(action, self._by_uid(action.pod_uid))

    def _act_on_pod(self, action: Action, pod: ToyPod) -> None:
        match action:
            case Stage():
                if action.joins:
                    work = Work(Doing.PACE, pod.uid, action.weights.revision)
                    self._start(work, 0.0, lambda: _hold_to(pod, action.limit))
                    return
                work = Work(Doing.STAGE, pod.uid, action.weights.revision)
                if Doing.STAGE not in self.refused:
                    pod.staging = StagingView(
                        *(action.weights.uri, "", 0, 100),
                        done=False,
                        limit=action.limit,
                    )
                self._start(work, STAGE_S, lambda: self._stage(pod, action))
            case Reserve():
                work = Work(Doing.RESERVE, pod.uid, action.weights.revision)
                self._start(work, 0.0, lambda: self._reserve(pod, action))
            case TakeOutPod():
                self._start(Work(Doing.TAKE_OUT, pod.uid), 0.0, lambda: _shut_gate(pod))
            case SwapPod():
                work = Work(Doing.SWAP, pod.uid, action.weights.revision)
                takes_it = pod.engine_up and pod.reserved_txn == action.txn
                if Doing.SWAP not in self.refused and takes_it:
                    pod.begin_swap(action.txn, action.attempt, action.weights)
                busy_s = max(0.0, pod.busy_until - self.now)
                gives_up = action.pause_mode is PauseMode.GIVE_UP and busy_s > action.drain_s
                fate = Fate(Outcome.GAVE_UP, *_requests_run_on(action)) if gives_up else None
                drains_s = min(busy_s, action.drain_s)
                self._start(work, drains_s + SWAP_S, lambda: self._swap(pod, action, fate))
            case PutIn():
                self._start(Work(Doing.PUT_IN, pod.uid), 0.0, lambda: _put_in(pod, action))
            case LabelPod():
                self._start(Work(Doing.LABEL, pod.uid), 0.0, lambda: _label(pod, action))
            case Release():
                self._start(Work(Doing.RELEASE, pod.uid), 0.0, lambda: _release(pod, action.txn))
            case RestartEngine():
                self._start(
                    Work(Doing.RESTART_ENGINE, pod.uid), 0.0, lambda: self._end(pod, action)
                )
            case EvictPod():
                self._start(Work(Doing.EVICT, pod.uid), 0.0, lambda: self._evict(pod))
            case _:
                raise AssertionError(f"not an action on a pod: {action}")

    def _start(self, work: Work, seconds: float, effect: Callable[[], None]) -> None:
        if work in self.work:
            raise AssertionError(f"{work} is under way already")
        self.work.add(work)
        refused = work.doing in self.refused

        def end() -> None:
            self.work.discard(work)
            key = (work.doing, work.pod_uid)
            self.failures.pop(key, None)
            if refused:
                self._fail(work, "Refused", "the story says so")
            else:
                effect()

        self.later(seconds, str(work.doing), end)

    def _fail(
        self,
        work: Work,
        reason: str,
        message: str,
        failure_class: FailureClass = FailureClass.ENVIRONMENT,
    ) -> None:
        self.failures[work.doing, work.pod_uid] = ActionFailure(
            *(work.doing, work.pod_uid, failure_class, reason, message, self.now, work.revision)
        )

    def _record(self, action: RecordRevision) -> None:
        others = [each for each in self.revisions if each.ref.revision != action.ref.revision]
        old = find(self.revisions, action.ref.revision)
        again = old is not None and action.retry != old.retry
        verdict = action.verdict or (old.verdict if old and not again else None)
        new = Revision(
            *(action.ref, action.number, action.digest_given, verdict),
            *(action.reason, action.message, action.retry),
        )
        self.revisions = (*others, new)

    def _measure(self, action: Measure) -> None:
        answer = self.answers.pop(0) if self.answers else GOOD
        self.measurement = Measurement(
            *(action.analysis, action.number, self.now),
            *(answer.value, answer.said, answer.reason),
        )

    def _prune(self, action: PruneRevision) -> None:
        """Not when it has come back with a newer number: the deletion has a precondition."""
        self.revisions = tuple(
            each
            for each in self.revisions
            if (each.ref.revision, each.number) != (action.revision, action.number)
        )

    def _adopt(self, action: AdoptRevision) -> None:
        self.revisions = tuple(
            replace(each, owned=True) if each.ref.revision == action.revision else each
            for each in self.revisions
        )

    def _publish(self, action: PublishStable) -> None:
        self.published = None if action.stable.is_baseline else action.stable
        self.published_for_trainer = action.trainer_drives

    def _stage(self, pod: ToyPod, action: Stage) -> None:
        found = self.checkpoints.get(action.weights.uri)
        view = StagingView(action.weights.uri, "", 100, 100, done=False)
        if found is None:
            pod.staging = replace(
                view,
                failure_class=FailureClass.ENVIRONMENT,
                reason="SourceNotFound",
                message=f"{action.weights.uri} does not exist",
            )
        elif found.stage is not None:
            fate = found.stage
            pod.staging = replace(
                view, failure_class=fate.failure_class, reason=fate.reason, message=fate.message
            )
        elif action.weights.digest not in (None, found.digest):
            pod.staging = replace(
                view,
                failure_class=FailureClass.WEIGHTS,
                reason="DigestMismatch",
                message=f"the files are {found.digest[:15]}..",
            )
        else:
            pod.staged = (pod.staged & action.keep) | {found.digest}
            pod.drafts = (pod.drafts & action.keep) | action.weights.digests
            pod.signed |= replace(action.weights, digest=found.digest).proofs
            pod.staging = replace(view, digest=found.digest, done=True)

    def _reserve(self, pod: ToyPod, action: Reserve) -> None:
        work = Work(Doing.RESERVE, pod.uid, action.weights.revision)
        if pod.fault or not pod.engine_up or pod.poisoned or pod.swapping:
            self._fail(work, "NotSettled", "the agent refused")
            return
        if pod.held:
            self._fail(work, HoldReason.HELD_BY_TRAINER, f"a trainer holds the engine: {pod.held}")
            return
        fate = self.checkpoints[action.weights.uri].reserve
        if fate is not None:
            self._fail(work, fate.reason, fate.message, fate.failure_class)
            return
        pod.reserved_txn, pod.take_out = action.txn, action.take_out

        def expire() -> None:
            if pod.reserved_txn == action.txn and not pod.swapping:
                pod.reserved_txn = None

        self.later(action.ttl_s, "reservation ends", expire)

    def _swap(self, pod: ToyPod, action: SwapPod, fate: Fate | None) -> None:
        if not pod.swapping:
            if not pod.engine_up:
                work = Work(Doing.SWAP, pod.uid, action.weights.revision)
                self._fail(work, HoldReason.ENGINE_UNREACHABLE, "the agent refused")
            return
        checkpoint = self.checkpoints[action.weights.uri]
        pod.end_swap(fate or (pod.fates.pop(0) if pod.fates else checkpoint.swap))

    def _end(self, pod: ToyPod, action: RestartEngine) -> None:
        if pod.hangs:
            return
        pod.lose_engine()
        pod.told = action.serve
        self.later(RESTART_S, "engine is back", pod.restart)

    def _evict(self, pod: ToyPod) -> None:
        """As the API server: an unready pod goes while no budget lacks healthy ones."""
        counted = (budget.counted(self.pods) for budget in self.budgets)
        short = [each for each in counted if each.selects(pod.labels)]
        if any(each.healthy < each.desired for each in short):
            self._fail(Work(Doing.EVICT, pod.uid), "EvictionRefused", "it would violate a budget")
            return
        pod.terminating = True
        self.later(END_S, "another pod", partial(self._replace, pod))

    def _replace(self, pod: ToyPod) -> None:
        """As a StatefulSet: under the same name."""
        if pod in self.pods:
            self.pods[self.pods.index(pod)] = ToyPod(
                pod.name, f"{pod.uid}+", gated=pod.gated, labels=pod.labels
            )

    def kubelet(self) -> None:
        """Ready follows the readiness port and the gate, a little later."""
        for pod in self.pods:
            asked = f"kubelet {pod.uid}"
            differs = pod.ready != pod.should_be_ready(self.published)
            if differs and all(event.what != asked for event in self.events):
                self.later(KUBELET_S, asked, partial(self._set_ready, pod))

    def _set_ready(self, pod: ToyPod) -> None:
        pod.ready = pod.should_be_ready(self.published)

    def count_budgets(self) -> None:
        """The controller of PodDisruptionBudgets follows the pods, a little later."""
        for budget in self.budgets:
            asked = f"counts {budget.name}"
            differs = budget.view != budget.counted(self.pods)
            if differs and all(event.what != asked for event in self.events):
                self.later(BUDGET_S, asked, partial(self._count, budget))

    def _count(self, budget: ToyBudget) -> None:
        budget.view = budget.counted(self.pods)

    def _by_uid(self, uid: str) -> ToyPod:
        return next(pod for pod in self.pods if pod.uid == uid)


def _requests_run_on(action: SwapPod) -> tuple[FailureClass, str, str]:
    message = f"2 running and 1 waiting requests after {action.drain_s:g} s"
    return FailureClass.ENVIRONMENT, HoldReason.REQUESTS_RUNNING, message


def _hold_to(pod: ToyPod, limit: int) -> None:
    if pod.staging is not None:
        pod.staging = replace(pod.staging, limit=limit)


def _shut_gate(pod: ToyPod) -> None:
    pod.gate_open = False


def _put_in(pod: ToyPod, action: PutIn) -> None:
    _label(pod, action)
    if pod.gated:
        pod.gate_open = True


def _label(pod: ToyPod, action: Shown) -> None:
    pod.put_in_txn, pod.version_label = action.txn, action.serving.version


def _release(pod: ToyPod, txn: str) -> None:
    if pod.reserved_txn == txn and not pod.swapping:
        pod.reserved_txn = None
