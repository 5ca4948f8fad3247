"""The five conditions, one small function each; see api/conditions.py for their meaning."""

from weightrollout.api.conditions import (
    AvailableReason,
    ConditionType,
    ReadyReason,
    ReconcilingReason,
    RollbackReadyReason,
    StalledReason,
)
from weightrollout.api.quantity import limit
from weightrollout.api.reasons import DegradedReason, HoldReason
from weightrollout.api.spec import Mode
from weightrollout.api.status import Condition, Phase
from weightrollout.rollout import driving
from weightrollout.rollout.classify import serves
from weightrollout.rollout.degraded import degraded
from weightrollout.rollout.fleet import AgentView, Fleet, Ref, Revision
from weightrollout.rollout.refusal import listed
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.target import way_back

Said = tuple[str, str, str]  # status, reason, message


def conditions_of(
    situation: Situation, phase: Phase, stable: Revision | None
) -> tuple[Condition, ...]:
    all_said = {
        ConditionType.READY: _ready(situation, phase),
        ConditionType.RECONCILING: _reconciling(phase),
        ConditionType.STALLED: _stalled(situation, phase),
        ConditionType.AVAILABLE: _available(situation),
        ConditionType.ROLLBACK_READY: _rollback_ready(situation, stable),
    }
    return tuple(_condition(kind, each, situation.fleet) for kind, each in all_said.items())


def _condition(kind: ConditionType, said: Said, fleet: Fleet) -> Condition:
    status, reason, message = said
    old = next((each for each in fleet.status.conditions if each.type == kind), None)
    unchanged = old is not None and old.status == status
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=old.last_transition_time if old and unchanged else fleet.wall,
        observed_generation=fleet.generation,
    )


def _ready(situation: Situation, phase: Phase) -> Said:
    version = situation.goal.target.ref.version
    pods = len(situation.pods)
    if situation.fleet.trainer_drives and pods and phase in (Phase.COMPLETE, Phase.PENDING):
        said = driving.sentence(situation)
        done = phase is Phase.COMPLETE
        return (
            ("True", ReadyReason.TRAINER_DRIVES, said)
            if done
            else ("False", ReadyReason.WAITING_FOR_TRAINER, said)
        )
    match phase:
        case Phase.COMPLETE if not pods:
            return ("True", ReadyReason.SCALED_TO_ZERO, f"{version} was verified; no pods now")
        case Phase.COMPLETE if (note := degraded(situation.pods)) is not None:
            reason, message = note
            failed = reason == DegradedReason.DRAFT_FAILED
            said = ReadyReason.DEGRADED if failed else ReadyReason.DRAFT_STALE
            return ("True", said, f"all pods serve {version}; {reason} on {message}")
        case Phase.COMPLETE:
            return ("True", ReadyReason.COMPLETE, f"all pods serve {version}")
        case Phase.PENDING if not pods:
            return ("False", ReadyReason.NO_PODS, "no pod has joined yet")
        case Phase.PENDING:
            return ("Unknown", ReadyReason.PENDING, "no pod runs yet, or nothing is desired")
        case Phase.PAUSED:
            hold = situation.canary.verdict.hold
            if situation.fleet.spec.mode is Mode.PAUSED or hold is None:
                return ("Unknown", ReadyReason.PAUSED, "spec.mode is Paused")
            return ("Unknown", ReadyReason.PAUSED, hold.message)
        case Phase.SUSPENDED:
            return ("Unknown", ReadyReason.SUSPENDED, "spec.mode is Suspended")
        case Phase.PROGRESSING:
            return ("False", ReadyReason.PROGRESSING, f"pods go to {version}")
        case Phase.ROLLING_BACK:
            return ("False", ReadyReason.ROLLING_BACK, f"pods go back to {version}")
        case Phase.ROLLED_BACK:
            return ("False", ReadyReason.ROLLED_BACK, f"the fleet was brought back to {version}")
        case Phase.FAILED:
            return ("False", ReadyReason.FAILED, _why_stalled(situation)[1])


def _reconciling(phase: Phase) -> Said:
    if phase is Phase.PROGRESSING:
        return ("True", ReconcilingReason.PROGRESSING, "")
    if phase is Phase.ROLLING_BACK:
        return ("True", ReconcilingReason.ROLLING_BACK, "")
    return ("False", ReconcilingReason.IDLE, "")


def _stalled(situation: Situation, phase: Phase) -> Said:
    if phase not in (Phase.FAILED, Phase.ROLLED_BACK):
        return ("False", StalledReason.MOVING, "")
    reason, message = _why_stalled(situation)
    return ("True", reason, message)


def _why_stalled(situation: Situation) -> tuple[str, str]:
    goal = situation.goal
    if goal.refusal is not None:
        return goal.refusal.reason, goal.refusal.message
    if situation.halted is not None:
        return HoldReason.ROLLBACK_FAILED, situation.halted.message
    if goal.desired is None:
        return StalledReason.MOVING, ""
    why = f"version {goal.desired.ref.version} was rejected: {goal.desired.message}"
    return goal.desired.reason or StalledReason.ROLLED_BACK, why


def _available(situation: Situation) -> Said:
    pods = len(situation.pods)
    if not pods:
        return ("False", AvailableReason.NO_PODS, "")
    setting = situation.fleet.spec.strategy.max_unavailable
    in_service = sum(pod.in_service for pod in situation.pods)
    allowed = limit(setting, pods, at_least=1)
    message = f"{in_service} of {pods} pods are in service (strategy.maxUnavailable {setting})"
    if in_service >= pods - allowed:
        return ("True", AvailableReason.ENOUGH_PODS, message)
    bare = driving.with_base_weights(situation)
    if bare:
        why = f"{message}; {driving.BASE_WEIGHTS_WAIT}: {listed(bare)}"
        return ("False", AvailableReason.BASE_WEIGHTS, why)
    return ("False", AvailableReason.TOO_FEW_PODS, message)


def _rollback_ready(situation: Situation, stable: Revision | None) -> Said:
    goal = situation.goal
    back = way_back(goal, stable, situation.fleet.revisions)
    if back is None:
        return (
            "False",
            RollbackReadyReason.BASELINE_ONLY,
            "there is no other version that the whole fleet verified: going back would restart engines",
        )
    if not situation.pods:
        return ("Unknown", RollbackReadyReason.NO_PODS, "")
    version = back.ref.version
    silent = [pod.name for pod in situation.pods if pod.agent is None]
    without = [pod.name for pod in situation.pods if pod.agent and not _holds(pod.agent, back.ref)]
    if without:
        message = f"to go back, {listed(without)} would read {version} from {back.ref.uri} again"
        return ("Unknown", RollbackReadyReason.NOT_STAGED, message)
    if silent:
        message = f"nobody can say whether {listed(silent)} could go back to {version}"
        return ("Unknown", RollbackReadyReason.AGENTS_SILENT, message)
    message = f"each pod serves {version} or holds it staged: going back takes a swap"
    return ("True", RollbackReadyReason.ON_PODS, message)


def _holds(agent: AgentView, ref: Ref) -> bool:
    return serves(agent, ref) or agent.holds(ref)
