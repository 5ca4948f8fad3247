"""The earliest moment at which time alone changes the plan."""

from collections.abc import Iterator

from weightrollout.rollout.backoff import (
    call_again_at,
    restart_again_at,
    stage_again_at,
    swap_again_at,
)
from weightrollout.rollout.classify import Pod
from weightrollout.rollout.disruption import FOLLOWS_WITHIN_S
from weightrollout.rollout.fleet import Memory
from weightrollout.rollout.labels import label_again_at, room_at
from weightrollout.rollout.podstep import (
    READY_FOLLOWS_WITHIN_S,
    comes_back_by,
    late_labels,
    settled_at,
)
from weightrollout.rollout.progress import Progress
from weightrollout.rollout.repair import comes_back_until
from weightrollout.rollout.situation import Situation, wanted_by


def wake_at(
    situation: Situation, memory: Memory, progress: Progress, *, clock_runs: bool
) -> float | None:
    """None: only a new observation can change anything. `memory`: after this pass."""
    now = situation.fleet.now
    times = [time for pod in situation.pods for time in _times_of(pod, situation)]
    times += [call_again_at(failure) for failure in situation.fleet.failures]
    times += [
        max(label_again_at(memory.pods[pod.uid]), room_at(memory))
        for pod, _ in late_labels(situation)
    ]
    if situation.canary.verdict.wake_at is not None:
        times.append(situation.canary.verdict.wake_at)
    if clock_runs:
        times.append(progress.deadline)
    return min((time for time in times if time > now), default=None)


def _times_of(pod: Pod, situation: Situation) -> Iterator[float]:
    if pod.agent is not None and pod.agent.reserved_txn is not None and pod.running is None:
        yield settled_at(pod, situation)
        yield pod.memory.reserved_since + READY_FOLLOWS_WITHIN_S
    back_by = comes_back_by(pod)
    if back_by is not None:
        yield back_by
    if pod.memory.silent_since is not None:
        yield pod.memory.silent_since + situation.fleet.spec.pod_deadline_seconds
    if situation.fleet.disruption_budgets and pod.view.ready:
        yield pod.memory.ready_since + FOLLOWS_WITHIN_S
    if pod.soak_until is not None:
        yield pod.soak_until
    want = wanted_by(pod, situation)
    target = situation.goal.target.ref
    for ref in {target.revision: target, **({want.revision: want} if want else {})}.values():
        swap = situation.fleet.spec.swap
        for again in (swap_again_at(pod, ref, swap), stage_again_at(pod, ref)):
            if again is not None:
                yield again
    again = restart_again_at(pod)
    if again is not None:
        yield again
    if pod.memory.restarted_at is not None:
        yield comes_back_until(pod.memory.restarted_at, situation)
