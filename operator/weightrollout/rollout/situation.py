"""What the rules of one pass look at together, and what each pod should load next."""

from dataclasses import dataclass
from typing import Final

from weightrollout.api.spec import Mode
from weightrollout.rollout.classify import Pod, PodState, attempts_used_up, serves
from weightrollout.rollout.fleet import Fleet, PodView, Ref
from weightrollout.rollout.refusal import Refusal
from weightrollout.rollout.revisions import BASELINE, find
from weightrollout.rollout.steps import Canary
from weightrollout.rollout.target import Goal

#: No pod is swapped a million times; more digits would leave the wire's 32 bits.
ATTEMPT_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Situation:
    fleet: Fleet
    goal: Goal
    pods: tuple[Pod, ...]  # the base, in planner order
    proven: frozenset[str]  # digests
    prover: PodView | None  # the pod that may load an unproven target
    canary: Canary
    halted: Refusal | None = None  # a rollback that failed: no serving pod starts any more

    @property
    def must_prove(self) -> bool:
        """The target may be on one pod only, until that one is through."""
        if not self.fleet.spec.strategy.prove_first or self.goal.target.ref.is_baseline:
            return False
        return self.goal.target.ref.digest not in self.proven

    @property
    def fallback(self) -> Ref:
        return self.goal.stable.ref if self.goal.stable else BASELINE


def wanted_by(pod: Pod, situation: Situation) -> Ref | None:
    """What this pod should load next; None: leave it as it is.

    Pods out of service that hold nothing they could serve get the target once it is proven, else
    stable. They never wait for a person, for the budget or for a refused spec. One that used up its
    retries for stable waits for the target to be proven, or proves it.
    """
    if situation.fleet.trainer_drives:
        return durable_for(pod, situation)
    unfit = (PodState.UNREACHABLE, PodState.INCOMPATIBLE, PodState.POISONED, PodState.UPDATED)
    if pod.agent is None or pod.state in unfit:
        return None
    goal = situation.goal
    rescue = None if serves(pod.agent, situation.fallback) else situation.fallback
    if goal.frozen:
        return rescue if is_stranded(pod) else None
    if pod.state is PodState.FAILED:
        differs = situation.fallback != goal.target.ref
        return rescue if is_stranded(pod) and differs else None
    if is_stranded(pod) and _gets_stable(pod, situation):
        return rescue
    return goal.target.ref


def durable_for(pod: Pod, situation: Situation) -> Ref | None:
    """Where a trainer drives: its durable version, for a pod that nothing else brings into service."""
    target = situation.goal.target.ref
    if pod.agent is None or situation.goal.frozen or target.is_baseline:
        return None
    waits = pod.state is PodState.JOINING and pod.out and not pod.agent.held_by_trainer
    return target if waits and not pod.agent.incompatible_reason else None


def is_stranded(pod: Pod) -> bool:
    """Out of service, nothing loaded that it could serve, and no trainer is at it."""
    if pod.agent is not None and pod.agent.held_by_trainer:
        return False
    if pod.state is PodState.JOINING:
        return True
    return (
        pod.state is PodState.FAILED
        and pod.out
        and pod.running is None
        and (pod.loaded is None or pod.loaded.is_baseline)
    )


def may_load_target(pod: Pod, situation: Situation) -> bool:
    return not situation.must_prove or (
        situation.prover is not None and situation.prover.uid == pod.uid
    )


def has_place(pod: Pod, situation: Situation) -> bool:
    """The canary's step lets it hold the target."""
    places = situation.canary.places
    return places is None or pod.uid in places


def _gets_stable(pod: Pod, situation: Situation) -> bool:
    if pod.stable_fails:  # other weights are all that may bring it back
        return _waits_for_a_person(situation)
    if not has_place(pod, situation):
        return True
    if situation.goal.stable is None:
        return False
    return (
        not may_load_target(pod, situation)
        or _waits_for_a_person(situation)
        or _is_promised(pod, situation.fallback)
    )


def _is_promised(pod: Pod, ref: Ref) -> bool:
    """It is on its way to these weights; turning it round would keep it out of service longer."""
    reserved = pod.agent.reserved_txn if pod.agent is not None else None
    return reserved is not None and f"/{ref.revision}/" in reserved


def _waits_for_a_person(situation: Situation) -> bool:
    unproven = situation.goal.target.ref.digest not in situation.proven
    return unproven and situation.fleet.spec.mode is Mode.PAUSED


def txn_id(cr_uid: str, revision: str, pod_uid: str, attempt: int) -> str:
    return f"{cr_uid}/{revision}/{pod_uid}/{attempt}"


def attempt_of(txn: str) -> int:
    """Its number, also where an agent alone counted on from ours; 0 for what is no name of ours: a
    pod's note may have been written by anybody."""
    last = txn.rpartition("/")[2]
    believable = last.isascii() and last.isdecimal() and len(last) <= ATTEMPT_DIGITS
    return int(last) if believable else 0


def newest_attempt(pod: Pod) -> int:
    last = pod.finished
    return max(last.attempt if last is not None else 0, attempt_of(pod.view.put_in_txn))


def next_attempt(pod: Pod, situation: Situation) -> int:
    """One more than any that this pod has finished, whatever the weights were.

    A number that started again for each revision would name a swap of a -> b -> a -> b twice, and
    the agent would answer the second one with the first one's outcome. And more than any before a
    person asked for the revision again, so that old failures can be told from new ones.
    """
    before = max((each.tried_after for each in situation.fleet.revisions), default=0)
    return max(newest_attempt(pod), before) + 1


def retries_left(pod: Pod, want: Ref, situation: Situation) -> bool:
    known = find(situation.fleet.revisions, want.revision)
    tries = known.tries if known is not None else 1
    return not attempts_used_up(pod.agent, want.digest, situation.fleet.spec.repair.retries, tries)
