"""The progress deadline: seconds without progress, not seconds in all.

Progress is a pod more that has served the target, a step that was passed, a byte more that was staged, an attempt more that
reached the pause (these are bounded by repair.retries; what fails before the pause is not). A pod that
loses the target with its engine and gets it again is no progress, however often that happens. The clock
starts again with the leader, and stands still while a person or the environment holds the rollout, and
while there is nothing to do.
"""

from dataclasses import dataclass
from typing import Final

from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.rollout.backoff import gave_up
from weightrollout.rollout.classify import Pod, PodState
from weightrollout.rollout.fleet import AgentView
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.verdict import is_converged

#: Nobody would call a version bad because of these.
STOPS_THE_CLOCK: Final = frozenset(
    {
        HoldGate.SPEC,
        HoldGate.VERDICT,
        HoldGate.MODE,
        HoldGate.STEP,
        HoldGate.PODS,
        HoldGate.ENVIRONMENT,
        HoldGate.DISRUPTION,
        HoldGate.LEAVING,  # it has not met the weights
        HoldGate.FAILED,
        HoldGate.REPAIR,
        HoldGate.AGENT,
        HoldGate.TRAINER,
    }
)


#: By pods that are not ready, which the hold names.
USED_UP: Final = frozenset({HoldReason.BUDGET_USED_BY_UNREADY_PODS, HoldReason.NO_DISRUPTION_LEFT})


@dataclass(frozen=True, slots=True)
class Progress:
    key: str
    at: float  # Fleet.now of the newest progress
    deadline: float

    def is_late(self, now: float) -> bool:
        return now >= self.deadline


def progress_of(situation: Situation) -> Progress:
    fleet = situation.fleet
    key = _key(situation)
    stands = fleet.memory.progress_stopped or key != fleet.memory.progress_key
    at = fleet.now if stands else fleet.memory.progress_at
    return Progress(key, at, at + fleet.spec.progress_deadline_seconds)


def stops_the_clock(situation: Situation, hold: Refusal | None) -> bool:
    if situation.fleet.trainer_drives:
        return True  # it goes on when the trainer does
    if situation.halted is not None:
        return False  # a rollback that is late stays late until something moves
    if _is_held_by_requests(situation, hold):
        return True
    if hold is None:
        return is_converged(situation)
    if hold.reason == HoldReason.PROVE_FIRST:
        prover = situation.prover
        return prover is not None and not isinstance(prover.agent, AgentView)  # it says nothing
    if hold.reason in USED_UP:
        return _is_held_by_strangers(situation, hold)
    return hold.gate in STOPS_THE_CLOCK


def _is_held_by_strangers(situation: Situation, hold: Refusal) -> bool:
    """A budget is used up by unready pods of which none has met the new weights: a bad node, a
    full cluster; or one whose agent is silent as well, as with its node. One of those must never roll back the fleet."""
    met = {
        pod.name
        for pod in situation.pods
        if pod.agent is not None and _has_met_target(pod, situation)
    }
    return met.isdisjoint(hold.pods)


def _has_met_target(pod: Pod, situation: Situation) -> bool:
    """Also where its engine has restarted since."""
    return pod.memory.served == situation.goal.target.ref.revision


def _is_held_by_requests(situation: Situation, hold: Refusal | None) -> bool:
    """Pods were put back because their requests ran on, and they rest or are tried again.

    Not where a pod that serves the new weights is out of service: those may well be the reason.
    """
    if hold is not None and hold.gate is not HoldGate.TRAFFIC:
        return False
    target, swap = situation.goal.target.ref, situation.fleet.spec.swap
    updated = [pod for pod in situation.pods if pod.state is PodState.UPDATED]
    left = (pod for pod in situation.pods if pod.state is not PodState.UPDATED)
    served = all(pod.in_service for pod in updated)
    return served and any(gave_up(pod, target, swap) for pod in left)


def _key(situation: Situation) -> str:
    target = situation.goal.target.ref.revision
    updated = sum(_has_met_target(pod, situation) for pod in situation.pods)
    agents = [pod.agent for pod in situation.pods if pod.agent is not None]
    trying = [
        pod.agent
        for pod in situation.pods
        if pod.agent is not None and not _has_met_target(pod, situation)
    ]
    staged = sum(agent.staging.bytes for agent in agents if agent.staging is not None)
    images = sum(len(agent.staged) for agent in agents)
    tried = sum(_attempts(agent, situation.goal.target.ref.digest) for agent in trying)
    step = situation.canary.key
    return f"{target}/{updated}/{images}/{staged}/{tried}/{step}"


def _attempts(agent: AgentView, digest: str | None) -> int:
    tried = agent.attempts.get(digest or "")
    return tried.attempts if tried is not None else 0
