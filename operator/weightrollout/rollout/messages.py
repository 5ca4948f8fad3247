"""`status.message`: one sentence for people, with numbers, names and how to go on."""

from weightrollout.api.reasons import RejectReason
from weightrollout.api.spec import PauseMode, TakeOut
from weightrollout.api.status import Hold, Phase
from weightrollout.rollout import driving
from weightrollout.rollout.classify import PodState
from weightrollout.rollout.degraded import degraded
from weightrollout.rollout.refusal import listed
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.staging import is_staging, waits_for


def message_of(situation: Situation, phase: Phase, hold: Hold | None) -> str:
    queued = situation.goal.queued
    then = f"; then {queued.ref.version} begins (strategy.supersede)" if queued is not None else ""
    return _sentence(situation, phase, hold) + then + "".join(_warnings(situation, phase))


def _sentence(situation: Situation, phase: Phase, hold: Hold | None) -> str:
    goal = situation.goal
    version = goal.target.ref.version
    updated = sum(pod.state is PodState.UPDATED for pod in situation.pods)
    numbers = f"{updated} of {len(situation.pods)} pods serve {version}"
    if situation.fleet.trainer_drives and phase is not Phase.FAILED:
        return driving.sentence(situation) + _doing(situation, hold)
    match phase:
        case Phase.COMPLETE:
            return (
                f"all pods serve {version}"
                if situation.pods
                else f"{version} is verified; no pods now"
            )
        case Phase.ROLLED_BACK:
            return f"{_rejection(situation)}; the fleet serves {version}: {_way_on(situation)}"
        case Phase.ROLLING_BACK:
            return f"{_rejection(situation)}; going back: {numbers}{_doing(situation, hold)}"
        case Phase.FAILED if situation.fleet.trainer_drives and goal.rejected:
            return f"{driving.sentence(situation)}; {_rejection(situation)}: publish a new version"
        case Phase.FAILED if goal.rejected and goal.refusal is None and situation.halted is None:
            return f"{_rejection(situation)}; onFailure is Hold: {numbers}; publish a new version"
        case Phase.FAILED | Phase.PENDING | Phase.PAUSED | Phase.SUSPENDED:
            return f"{numbers}; {hold.message}" if hold is not None else numbers
        case Phase.PROGRESSING:
            return f"{numbers}{_doing(situation, hold)}"


def _rejection(situation: Situation) -> str:
    desired = situation.goal.desired
    if desired is None:
        return "nothing is desired"
    if desired.reason == RejectReason.ABORTED:
        return f"{desired.ref.version} was aborted"
    return f"{desired.ref.version} was rejected ({desired.reason}: {desired.message})"


def _way_on(situation: Situation) -> str:
    desired = situation.goal.desired
    if desired is None or desired.reason != RejectReason.ABORTED:
        return "publish a new version"
    return f"publish a new version, or kubectl weightrollout retry {situation.fleet.name}"


def _doing(situation: Situation, hold: Hold | None) -> str:
    return _moving(situation, hold) + _waiting(situation)


def _moving(situation: Situation, hold: Hold | None) -> str:
    if hold is not None:
        return f"; {hold.message}"
    swapping = [pod.name for pod in situation.pods if pod.engaged]
    if swapping:
        return f"; swapping {listed(swapping)}"
    staging = [pod.name for pod in situation.pods if is_staging(pod)]
    return f"; staging on {listed(staging)}" if staging else ""


def _waiting(situation: Situation) -> str:
    """Stagings that read nothing now; the words are the first one's, as its agent says them."""
    waiting = [(pod.name, words) for pod in situation.pods if (words := waits_for(pod))]
    if not waiting:
        return ""
    (name, words), *others = waiting
    more = f" (and {len(others)} more wait)" if others else ""
    return f"; {name} {words}{more}"


def _warnings(situation: Situation, phase: Phase) -> list[str]:
    spec = situation.fleet.spec
    note = degraded(situation.pods)
    if phase is Phase.COMPLETE and note is not None:
        return [f"; {note[0]} on {note[1]}"]
    if phase not in (Phase.PROGRESSING, Phase.ROLLING_BACK, Phase.PENDING):
        return []
    warnings = []
    if len(situation.pods) == 1 and spec.swap.take_out is TakeOut.ENDPOINT:
        warnings.append(
            "; a fleet of one pod is away during its swap: swap.takeOut None keeps it reachable"
        )
    if (
        spec.verify.prompts
        and spec.swap.pause_mode is PauseMode.KEEP
        and phase is Phase.PROGRESSING
    ):
        warnings.append(
            "; requests frozen in a pause see the new weights before verify.prompts have passed"
        )
    return warnings
