"""The phase: one word for the whole rollout, first match wins."""

from typing import Final

from weightrollout.api.reasons import HoldReason
from weightrollout.api.spec import Mode
from weightrollout.api.status import Phase
from weightrollout.rollout import driving
from weightrollout.rollout.classify import never_ran
from weightrollout.rollout.fleet import Revision, Verdict
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.verdict import is_converged, is_settled

#: Reasons of a step that nothing but a person ends.
NEEDS_A_PERSON: Final = frozenset({HoldReason.STEP_PAUSED, HoldReason.ANALYSIS_INCONCLUSIVE})


def phase_of(situation: Situation) -> Phase:
    goal = situation.goal
    if goal.refusal is not None or situation.halted is not None:
        return Phase.FAILED
    if goal.rejected and not goal.rolling_back:
        return Phase.FAILED
    if situation.fleet.trainer_drives:
        return driving.phase_of(situation)
    if _is_over(situation) and goal.queued is None:  # Ready is about what the spec says now
        return Phase.ROLLED_BACK if goal.rolling_back else Phase.COMPLETE
    match situation.fleet.spec.mode:
        case Mode.SUSPENDED:
            return Phase.SUSPENDED
        case Mode.PAUSED:
            return Phase.PAUSED
        case Mode.RUN:
            pass
    if goal.rolling_back:
        return Phase.ROLLING_BACK
    if waits_for_a_person(situation):
        return Phase.PAUSED
    waits = all(never_ran(pod) for pod in situation.pods)
    return Phase.PENDING if waits or goal.desired is None else Phase.PROGRESSING


def waits_for_a_person(situation: Situation) -> bool:
    hold = situation.canary.verdict.hold
    return hold is not None and hold.reason in NEEDS_A_PERSON


def stable_now(situation: Situation) -> Revision | None:
    """Stable after this observation: a verified target that the whole fleet has reached."""
    goal = situation.goal
    reached = goal.on_target_content and goal.target.verdict is Verdict.VERIFIED
    settled = situation.fleet.trainer_drives or is_settled(situation)
    if reached and goal.recorded and goal.target.number > 0 and settled:
        return goal.target
    return goal.stable


def _is_over(situation: Situation) -> bool:
    """Nothing is left to move. Complete also needs the record, so that stable is what it says."""
    goal = situation.goal
    if not situation.pods and not goal.rolling_back:
        # No vacuous truth: without pods only a version that a fleet has verified is complete.
        return goal.desired is not None and goal.target.verdict is Verdict.VERIFIED
    if situation.pods and not is_converged(situation):
        return False
    if goal.rolling_back:
        # It ends with all pods in service; afterwards one unready pod does not reopen it.
        was_over = situation.fleet.status.phase is Phase.ROLLED_BACK
        return was_over or not situation.pods or is_settled(situation)
    return goal.desired is None or stable_now(situation) == goal.target
