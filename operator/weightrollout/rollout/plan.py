"""The one entry: `plan(fleet)`. The whole flow of a pass is on this screen.

remember   what changed since the last pass, and when            memory.py
aim        desired, target, stable                               target.py
assess     each pod in one class, in order; proof and prover     classify.py order.py proof.py
steps      how far the canary may go; what people asked for      steps.py position.py verbs.py analysis.py
judge      what the history must say now                         verdict.py
decide     the next action of each pod, or why not               podstep.py gates.py staging.py
report     the whole status, events, the next alarm              status.py announce.py wake.py
"""

from collections.abc import Mapping
from dataclasses import replace

from weightrollout.api.reasons import HoldGate, HoldReason
from weightrollout.api.spec import Mode
from weightrollout.rollout.actions import LabelPod, Plan, RecordRevision
from weightrollout.rollout.announce import announcements
from weightrollout.rollout.classify import PodState, classify
from weightrollout.rollout.decide import decide
from weightrollout.rollout.fleet import Fleet, Memory, PodMemory
from weightrollout.rollout.labels import with_paid
from weightrollout.rollout.memory import RETRIED, note_actions, remember_pods
from weightrollout.rollout.order import in_order
from weightrollout.rollout.phase import stable_now
from weightrollout.rollout.progress import progress_of, stops_the_clock
from weightrollout.rollout.proof import elect_prover, proven_digests
from weightrollout.rollout.refusal import Refusal, listed
from weightrollout.rollout.situation import Situation
from weightrollout.rollout.status import Outlook, hold_of, status_of
from weightrollout.rollout.steps import canary_of
from weightrollout.rollout.target import Goal, choose_goal
from weightrollout.rollout.verdict import gives_way, is_converged, next_record, too_many_failed
from weightrollout.rollout.wake import wake_at


def plan(fleet: Fleet) -> Plan:
    """What to do now. Pure: the same fleet gives the same plan."""
    remembered = remember_pods(fleet)
    situation = _assess(fleet, remembered, choose_goal(fleet))
    if situation.goal.queued is not None and gives_way(situation):
        situation = _assess(fleet, remembered, choose_goal(fleet, give_way=True))
    progress = progress_of(situation)
    late = progress.is_late(fleet.now)
    situation = replace(situation, halted=_why_halted(situation, late=late))
    record = next_record(situation, deadline_passed=late)
    stable = stable_now(situation)
    decision = decide(situation, record, stable)
    hold = hold_of(decision, fleet)
    status = status_of(Outlook(situation, decision, stable, hold))
    events, announced = announcements(situation, decision.actions, status)
    stopped = stops_the_clock(situation, decision.hold)
    canary = situation.canary
    retried = any(
        isinstance(each, RecordRevision) and each.reason == RETRIED for each in decision.actions
    )
    new = Memory(
        pods=note_actions(remembered, decision.actions, fleet.now),
        progress_key=progress.key,
        progress_at=progress.at,
        progress_stopped=stopped,
        hold_key=f"{hold.gate}/{hold.reason}" if hold else "",
        hold_since=hold.since if hold else "",
        announced=announced,
        step_key=canary.key,
        step_since=canary.since_s,
        step_idle=canary.idle,
        analysis=canary.analysis,
        retried_at=fleet.now if retried else fleet.memory.retried_at,
        labels_paid_at=fleet.memory.labels_paid_at,
    )
    labels = sum(isinstance(each, LabelPod) for each in decision.actions)
    memory = with_paid(new, fleet.now, labels)
    alarm = wake_at(situation, memory, progress, clock_runs=not stopped)
    # What is out of service is not for a person to wait for: agents bring it back by themselves.
    quiet = fleet.spec.mode is Mode.SUSPENDED
    return Plan((*decision.actions, *events), status, alarm, memory, quiet)


def _assess(fleet: Fleet, remembered: Mapping[str, PodMemory], goal: Goal) -> Situation:
    proven = proven_digests(fleet)
    pods = in_order(classify(fleet, goal, remembered, proven_digests=proven), fleet.revisions)
    prover = elect_prover(fleet, goal, pods)
    return Situation(fleet, goal, pods, proven, prover, canary_of(fleet, goal, pods, prover))


def _why_halted(situation: Situation, *, late: bool) -> Refusal | None:
    """A rollback that fails holds: there is nothing behind stable to go back to."""
    if not situation.goal.rolling_back or is_converged(situation):
        return None
    version = situation.goal.target.ref.version
    failed = too_many_failed(situation)
    left = [pod for pod in situation.pods if pod.state is not PodState.UPDATED]
    if not failed and left and all(pod.state is PodState.FAILED for pod in left):
        failed = tuple(left)
    if not failed and not late:
        return None
    seconds = situation.fleet.spec.progress_deadline_seconds
    names = tuple(pod.name for pod in failed)
    why = listed(names) or f"no progress for {seconds} seconds"
    return Refusal(
        HoldGate.VERDICT,
        HoldReason.ROLLBACK_FAILED,
        f"the way back to {version} failed ({why}): replace these pods or publish a new version",
        names,
    )
