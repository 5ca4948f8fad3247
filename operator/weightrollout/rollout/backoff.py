"""When something that failed may be tried again. All times are Fleet.now seconds."""

from typing import Final

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


def swap_again_at(pod: Pod, want: Ref) -> float | None:
    """None: no attempt with these weights failed last."""
    memory = pod.memory
    if f"/{want.revision}/" not in memory.failed_txn:
        return None
    tried = pod.agent.attempts.get(want.digest or "") if pod.agent else None
    count = max(memory.failures, tried.attempts if tried else 0)
    return memory.failed_at + min(SWAP_FIRST_S * 2.0 ** min(max(count - 1, 0), 16), SWAP_LONGEST_S)


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
    for failure in fleet.failures:
        same = failure.doing is doing and failure.pod_uid == pod_uid
        if same and fleet.now < call_again_at(failure):
            return failure
    return None


def call_again_at(failure: ActionFailure) -> float:
    return failure.at + (EVICT_S if failure.doing is Doing.EVICT else CALL_S)


def is_environment(failure_class: FailureClass | None) -> bool:
    return failure_class is FailureClass.ENVIRONMENT
