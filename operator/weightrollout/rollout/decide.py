"""Ask each rule once, in planner order, and gather the actions and the reasons for waiting."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from weightrollout.api.names import LABEL_NAME
from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Mode
from weightrollout.rollout.actions import (
    Action,
    AdoptRevision,
    LabelPod,
    Measure,
    PruneRevision,
    PublishStable,
    RecordRevision,
    Reserve,
    RestartEngine,
    Stage,
)
from weightrollout.rollout.adopt import adoptable
from weightrollout.rollout.backoff import call_failure, restart_again_at
from weightrollout.rollout.budget import budget_of
from weightrollout.rollout.classify import Pod
from weightrollout.rollout.disruption import disruptions_of
from weightrollout.rollout.fleet import Doing, Fleet, Revision, Verdict
from weightrollout.rollout.labels import label_steps
from weightrollout.rollout.podstep import comes_back_by, late_labels, next_step
from weightrollout.rollout.prune import prunable
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.repair import evicted_from
from weightrollout.rollout.revisions import BASELINE, find
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.staging import (
    has_staging_trouble,
    is_staging,
    pace_steps,
    staging_steps,
    staging_troubles,
)
from weightrollout.rollout.verdict import is_converged

#: Pods that one pass reserves: the first ones would pause only after hundreds of calls for the others.
MOST_RESERVED: Final = 50
#: Gates that are reported also while work is under way; the others then count as running work.
ALWAYS_REPORTED: Final = frozenset({HoldGate.SPEC, HoldGate.VERDICT, HoldGate.MODE, HoldGate.STEP})


@dataclass(frozen=True, slots=True)
class Decision:
    actions: tuple[Action, ...]
    refusals: tuple[Refusal, ...]
    busy: bool  # work is under way or begins now

    @property
    def hold(self) -> Refusal | None:
        """The one thing the rollout waits for; first by the order of the gates, then by pod."""
        order = list(HoldGate)
        reported = [each for each in self.refusals if not self.busy or each.gate in ALWAYS_REPORTED]
        return min(reported, key=lambda each: order.index(each.gate), default=None)


def decide(
    situation: Situation, record: RecordRevision | None, stable: Revision | None
) -> Decision:
    fleet = situation.fleet
    refusals = list(standing_refusals(situation))
    actions: list[Action] = []
    for wanted in (record, _publication(situation, stable)):
        if wanted is not None:
            _add_fleet_action(wanted, situation, actions, refusals)
    recording = any(work.doing is Doing.RECORD_REVISION for work in fleet.work)
    final = record is None or record.verdict is Verdict.VERIFIED
    may_start = final and not recording
    refusals += staging_troubles(situation)
    if record is None:
        actions += adoptable(situation) or prunable(situation)
    for step in _pod_steps(situation, may_start=may_start):
        if isinstance(step, Refusal):
            refusals.append(step)
        else:
            actions.append(step)
    if may_start:
        actions += staging_steps(situation)
        actions += pace_steps(situation)
    actions += _measurements(situation)
    actions += label_steps(situation, late_labels(situation))
    return Decision(
        tuple(actions), tuple(refusals), recording or _is_busy(situation, actions, refusals)
    )


def _measurements(situation: Situation) -> list[Action]:
    """One at a time, and none while a person stopped the rollout."""
    fleet, due = situation.fleet, situation.canary.verdict.measure
    if due is None or fleet.spec.mode is not Mode.RUN:
        return []
    asked = any(work.doing is Doing.MEASURE for work in fleet.work)
    return [] if asked or call_failure(fleet, Doing.MEASURE) is not None else [due]


def _pod_steps(situation: Situation, *, may_start: bool) -> Iterator[Action | Refusal]:
    disruptions = disruptions_of(situation.fleet, situation.pods)
    allowed = situation.fleet.spec.strategy.max_unavailable
    begun = 0
    budget = budget_of(situation.pods, allowed, disruptions, evicted_from(situation.fleet))
    for pod in situation.pods:
        step = next_step(pod, situation, budget, may_start=may_start)
        if step is None:
            continue
        begun += isinstance(step, Reserve)
        if isinstance(step, Reserve) and begun > MOST_RESERVED:
            continue  # the next pass, which the answers of these wake
        if isinstance(step, Reserve | RestartEngine) and not pod.out:
            budget = budget.with_taken(pod.name)
        yield step


def _add_fleet_action(
    action: RecordRevision | PublishStable,
    situation: Situation,
    actions: list[Action],
    refusals: list[Refusal],
) -> None:
    doing = Doing.RECORD_REVISION if isinstance(action, RecordRevision) else Doing.PUBLISH_STABLE
    if any(work.doing is doing for work in situation.fleet.work):
        return
    failure = call_failure(situation.fleet, doing)
    if failure is None:
        actions.append(action)
    else:
        refusals.append(
            Refusal(HoldGate.ENVIRONMENT, failure.reason, f"{doing}: {failure.message}")
        )


def _publication(situation: Situation, stable: Revision | None) -> PublishStable | None:
    """Only what the history vouches for; a lost history never wipes what pods start from."""
    fleet = situation.fleet
    if fleet.trainer_drives:
        return _durable(situation, stable)
    if stable is None:
        return _withdrawal(fleet)
    same = fleet.published == stable.ref and not fleet.published_for_trainer
    if same and fleet.published_by in ("", fleet.uid):
        return None
    message = f"new and restarted pods of {fleet.name} load {stable.ref.version}"
    return PublishStable(stable.ref, "StableChanged", message)


def _durable(situation: Situation, stable: Revision | None) -> PublishStable | None:
    """What agents alone may load where a trainer drives: what it calls durable, once a pod has loaded it, and
    until then the one before. With nobody to compare pods, an unproven one could poison them all. Without any
    it only says that base weights may not serve."""
    fleet = situation.fleet
    known = stable is not None and not situation.goal.frozen
    wanted = stable.ref if stable is not None and known else BASELINE
    said = fleet.published or BASELINE
    ours = fleet.published_by in ("", fleet.uid)
    if fleet.published_for_trainer and said == wanted and ours:
        return None
    where = f"load {wanted.version}" if known else "wait for their trainer"
    message = f"without an operator new and restarted pods of {fleet.name} {where}"
    return PublishStable(wanted, "TrainerDrives", message, trainer_drives=True)


def _withdrawal(fleet: Fleet) -> PublishStable | None:
    """The first version was stable, and is rejected: pods that start must not wait for it. A trainer's
    durable version stays until another one is stable."""
    said = fleet.published
    if said is None and fleet.published_for_trainer:
        message = f"new and restarted pods of {fleet.name} serve their base weights (spec.driver)"
        return PublishStable(BASELINE, "OperatorDrives", message)
    known = find(fleet.revisions, said.revision) if said is not None else None
    if known is None or known.verdict is not Verdict.REJECTED:
        return None
    message = (
        f"new and restarted pods of {fleet.name} serve their base weights: {known.ref.version} was"
        f" rejected ({known.reason})"
    )
    return PublishStable(BASELINE, "StableRejected", message)


def _is_busy(situation: Situation, actions: list[Action], refusals: list[Refusal]) -> bool:
    stuck = {
        name
        for refusal in refusals
        if refusal.reason == HoldReason.WAITING_FOR_UNREADY
        for name in refusal.pods
    }
    now = situation.fleet.now
    if any(_is_at_work(pod, now) and pod.name not in stuck for pod in situation.pods):
        return True
    troubled = {pod.uid for pod in situation.pods if has_staging_trouble(pod)}
    return any(
        not isinstance(action, PublishStable | PruneRevision | AdoptRevision | Measure | LabelPod)
        and not (isinstance(action, Stage) and action.pod_uid in troubled)
        for action in actions
    )


def _is_at_work(pod: Pod, now: float) -> bool:
    if pod.agent is None:
        return False  # a call of ours may still hang there, but nobody can say that it works
    if pod.engaged or pod.work.keys() - {Doing.STAGE, Doing.PACE, Doing.LABEL}:
        return True
    times = (comes_back_by(pod), restart_again_at(pod) if pod.out else None)
    if any(time is not None and now < time for time in times):
        return True
    return is_staging(pod) and not has_staging_trouble(pod)


def standing_refusals(situation: Situation) -> Iterator[Refusal]:
    """What holds the rollout as a whole, whatever its pods do."""
    goal = situation.goal
    if goal.refusal is not None:
        yield goal.refusal
    elif goal.rejected and goal.frozen and goal.desired is not None:
        yield Refusal(
            HoldGate.VERDICT,
            HoldReason.REVISION_REJECTED,
            f"version {goal.desired.ref.version} was rejected: {goal.desired.reason}:"
            f" {goal.desired.message}; onFailure is Hold: publish a new version",
        )
    if situation.halted is not None:
        yield situation.halted
    if situation.canary.verdict.hold is not None:
        yield situation.canary.verdict.hold
    was_verified = goal.desired is not None and goal.target.verdict is Verdict.VERIFIED
    if not situation.pods and not was_verified:
        yield Refusal(
            HoldGate.PODS,
            HoldReason.NO_PODS,
            f"no pod carries the label {LABEL_NAME}: {situation.fleet.name}: set it in the pod"
            " template",
        )
    if (
        situation.pods
        and goal.desired is None
        and goal.refusal is None
        and not situation.fleet.trainer_drives
        and not is_converged(situation)
    ):
        yield Refusal(
            HoldGate.MODE,
            HoldReason.NOTHING_DESIRED,
            "spec.weights is absent and pods are left with what they serve: set spec.weights",
        )
