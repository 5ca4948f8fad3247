"""When something that failed may be tried again. All times are Fleet.now seconds."""

from typing import Final

from weightrollout.api.spec import PauseMode, Swap
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.classify import RESTART_AGAIN_S, Pod
from weightrollout.rollout.fleet import ActionFailure, Doing, Fleet, Ref
from weightrollout.rollout.memory import LONGEST_BACK_OFF_S

SWAP_FIRST_S: Final = 5.0
SWAP_LONGEST_S: Final = LONGEST_BACK_OFF_S
STAGE_FIRST_S: Final = 5.0
STAGE_LONGEST_S: Final = 60.0
EVICT_S: Final = 30.0  # an eviction that was refused: a budget or a right comes back slowly
CALL_S: Final = 5.0  # an API or agent call of ours that failed: short, it changed nothing


def swap_again_at(pod: Pod, want: Ref, swap: Swap) -> float | None:
    """None: no attempt with these weights failed last, or gave up.

    A pod that was put back because its requests ran on serves at least as long as it was drained.
    """
    memory = pod.memory
    if f"/{want.revision}/" not in memory.failed_txn:
        return None
    if memory.gave_up:
        first = max(SWAP_FIRST_S, float(swap.drain_seconds))
        doubled = first * 2.0 ** min(memory.gave_up - 1, 16)
        again = memory.failed_at + min(doubled, max(first, SWAP_LONGEST_S))
        return again if gave_up(pod, want, swap) else None
    tried = pod.agent.attempts.get(want.digest or "") if pod.agent else None
    count = max(memory.failures, tried.attempts if tried else 0)
    return memory.failed_at + min(SWAP_FIRST_S * 2.0 ** min(max(count - 1, 0), 16), SWAP_LONGEST_S)


def gave_up(pod: Pod, want: Ref, swap: Swap) -> bool:
    """Its newest attempt with these weights was given up for its requests, which still count."""
    mine = pod.memory.gave_up > 0 and f"/{want.revision}/" in pod.memory.failed_txn
    return mine and swap.pause_mode is PauseMode.GIVE_UP


def stage_again_at(pod: Pod, want: Ref) -> float | None:
    """None: staging these weights did not fail last."""
    staging = pod.memory.staging
    if staging is None or staging.revision != want.revision or staging.failure_class is None:
        return None
    doubled = STAGE_FIRST_S * 2.0 ** min(staging.failures - 1, 16)
    return staging.failed_at + min(doubled, STAGE_LONGEST_S)


def restart_again_at(pod: Pod) -> float | None:
    """None: nobody was asked, or the call was lost. Asking twice is safe: it names one instance."""
    if pod.memory.restart_lost:
        return None
    at = pod.memory.restarted_at
    return None if at is None else at + RESTART_AGAIN_S


def call_failure(fleet: Fleet, doing: Doing, pod_uid: str = "") -> ActionFailure | None:
    """The newest failure of this call, while it is too young to be repeated."""
    failure = fleet.failure_of(doing, pod_uid)
    return failure if failure is not None and fleet.now < call_again_at(failure) else None


def call_again_at(failure: ActionFailure) -> float:
    return failure.at + (EVICT_S if failure.doing is Doing.EVICT else CALL_S)


def is_environment(failure_class: FailureClass | None) -> bool:
    return failure_class is FailureClass.ENVIRONMENT
