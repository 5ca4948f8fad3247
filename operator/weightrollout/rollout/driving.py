"""`spec.driver: Trainer`: a trainer updates the pods, and the operator only brings up those that hold base weights.

in service                 never touched, whatever it serves
held by a trainer          never touched: paused, asleep or in an update
out, with base weights     loads the trainer's durable version (spec.weights) where its engine can take it from
                           us; else it waits for the trainer, and says so
"""

from typing import Final

from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Mode
from weightrollout.api.status import Phase, TrainerStatus
from weightrollout.rollout.classify import Pod, PodState, never_ran
from weightrollout.rollout.fleet import Ref, Verdict
from weightrollout.rollout.refusal import Refusal, listed
from weightrollout.rollout.situation import Situation, durable_for

BASE_WEIGHTS_WAIT: Final = "out of service, because base weights never serve where a trainer drives"


def trainer_status(situation: Situation) -> TrainerStatus | None:
    agents = [pod.agent for pod in situation.pods if pod.agent is not None]
    guards = sorted({agent.guard for agent in agents} - {""})
    if not (guards or situation.fleet.trainer_drives):
        return None
    return TrainerStatus(
        drives=situation.fleet.trainer_drives,
        serving=sum(agent.has_trainers_weights for agent in agents),
        held=sum(agent.held_by_trainer for agent in agents),
        guard=", ".join(guards),
    )


def phase_of(situation: Situation) -> Phase:
    """Where neither the spec is refused nor the durable version rejected."""
    goal = situation.goal
    verified = goal.desired is not None and goal.target.verdict is Verdict.VERIFIED
    if not situation.pods and verified:
        return Phase.COMPLETE  # scaled to zero
    running = [pod for pod in situation.pods if not never_ran(pod)]
    if running and all(in_hand(pod) for pod in running):
        return Phase.COMPLETE
    if situation.fleet.spec.mode is not Mode.RUN:
        return Phase.SUSPENDED if situation.fleet.spec.mode is Mode.SUSPENDED else Phase.PAUSED
    moving = any(pod.engaged or durable_for(pod, situation) is not None for pod in situation.pods)
    return Phase.PROGRESSING if moving else Phase.PENDING


def in_hand(pod: Pod) -> bool:
    """The trainer's: it holds what was given to it, or is being given it."""
    held = pod.agent is not None and pod.agent.held_by_trainer
    return held or pod.state is PodState.UPDATED


def sentence(situation: Situation) -> str:
    """The beginning of status.message."""
    pods = situation.pods
    count = sum(pod.state is PodState.UPDATED for pod in pods)
    said = f"a trainer drives: {count} of {len(pods)} pods hold what it gave them"
    held = [pod.name for pod in pods if pod.agent is not None and pod.agent.held_by_trainer]
    said += f"; it holds {listed(held)} now" if held else ""
    bare = with_base_weights(situation)
    said += f"; {BASE_WEIGHTS_WAIT}: {listed(bare)}" if bare else ""
    joining = _durable(situation)
    return f"{said}; new pods load {joining.version}" if joining is not None else said


def with_base_weights(situation: Situation) -> list[str]:
    """Pods that are out of service for no other reason than that nothing at `default` serves. They went out at
    once when the fleet became a trainer's, whatever the budget."""
    return [
        pod.name
        for pod in situation.pods
        if situation.fleet.trainer_drives
        and pod.agent is not None
        and not pod.agent.held_by_trainer
        and pod.loaded is not None
        and pod.loaded.is_baseline
    ]


def why_it_waits(pod: Pod, situation: Situation) -> Refusal | None:
    """Of a pod that nothing is done with; None: the trainer has it in hand, or nobody can say."""
    agent = pod.agent
    if agent is None or pod.state is not PodState.JOINING or agent.held_by_trainer:
        return None
    why = _why_not_ours(pod, situation)
    shut = "" if agent.drivable else "; its RL routes are shut, or its engine has none for updates"
    message = f"{pod.name} holds base weights and stays out of service until its trainer updates it: {why}{shut}"
    return Refusal(HoldGate.TRAINER, HoldReason.WAITING_FOR_TRAINER, message, (pod.name,))


def _why_not_ours(pod: Pod, situation: Situation) -> str:
    goal = situation.goal
    if goal.desired is None:
        return "spec.weights names no durable version"
    if goal.rejected:
        return f"the durable version {goal.desired.ref.version} was rejected"
    if pod.agent is not None and pod.agent.incompatible_reason:
        return (
            f"its engine takes no durable version from the operator ({pod.agent.incompatible_reason}:"
            f" {pod.agent.incompatible_message})"
        )
    return f"it does not load {goal.desired.ref.version} now"


def _durable(situation: Situation) -> Ref | None:
    goal = situation.goal
    return None if goal.frozen or goal.target.ref.is_baseline else goal.target.ref


def held(pod: Pod) -> Refusal:
    said = pod.agent.not_ready_message if pod.agent is not None else ""
    message = (
        f"{pod.name}: {said or 'a trainer holds the engine'}; the operator goes on when it has finished and"
        " resumed. Where it never will, restart that engine"
    )
    return Refusal(HoldGate.TRAINER, HoldReason.HELD_BY_TRAINER, message, (pod.name,))
