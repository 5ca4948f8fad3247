"""Without an operator: what to do about an engine that is not in service. Pure.

What the agent knows gives one step, or none with its reason. An engine that serves is never touched.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from weightrollout.agent.reasons import AloneReason, NotReadyReason
from weightrollout.agent.stable import Stable
from weightrollout.api.names import TRAINER_REVISION
from weightrollout.swap.book import Book
from weightrollout.swap.records import Content

#: The default repair.retries allows three: one is left for the operator.
MAX_ATTEMPTS: Final = 2


class Step(StrEnum):
    NOTHING = "Nothing"
    STAGE = "Stage"
    SWAP = "Swap"
    RESTART = "Restart"


@dataclass(frozen=True, slots=True)
class View:
    """All that the decision looks at."""

    silent: bool  # no operator for --alone-after-seconds
    out: NotReadyReason | None  # why the readiness port says 503; None: the engine serves
    left: bool  # out for so long that nobody sends it requests
    driven: bool  # by a trainer
    goal: Content | None  # None: nobody knows
    read_back: bool  # the engine was asked what it holds
    fit: bool  # it can be swapped at all
    staged: bool  # the goal
    attempts: int  # with the goal, that reached the pause and failed
    backing_off: bool
    asked_to_end: bool  # this engine process


@dataclass(frozen=True, slots=True)
class Decision:
    step: Step
    reason: AloneReason | NotReadyReason


def decide(view: View) -> Decision:
    """The first row that holds; the order is that of what forbids most."""
    if not view.silent:
        return Decision(Step.NOTHING, AloneReason.OPERATOR_THERE)
    if view.out is None:
        return Decision(Step.NOTHING, AloneReason.IN_SERVICE)
    match view.out:
        case (
            NotReadyReason.ENGINE_UNREACHABLE  # it starts, or the kubelet restarts it
            | NotReadyReason.SWAPPING
            | NotReadyReason.RESERVED  # ends by its ttl
            | NotReadyReason.ENGINE_PAUSED  # by a person, who resumes it
            | NotReadyReason.LEAVING  # the kubelet ends it
            | NotReadyReason.HELD_BY_TRAINER
        ):
            return Decision(Step.NOTHING, view.out)
        case (
            NotReadyReason.POISONED
            | NotReadyReason.SERVING_UNKNOWN
            | NotReadyReason.STABLE_UNREADABLE
            | NotReadyReason.NOT_SERVING_TOLD
            | NotReadyReason.AWAITS_TRAINER
        ):
            return _converge(view, view.out)
        case _:
            assert_never(view.out)


def _converge(view: View, out: NotReadyReason) -> Decision:
    if view.goal is None:
        why = AloneReason.NOTHING_PROVEN if view.driven else AloneReason.GOAL_UNKNOWN
        return Decision(Step.NOTHING, why)
    if not view.left:
        return Decision(Step.NOTHING, AloneReason.LEAVING)
    if view.attempts >= MAX_ATTEMPTS:
        return Decision(Step.NOTHING, AloneReason.GAVE_UP)
    if view.backing_off:
        return Decision(Step.NOTHING, AloneReason.BACK_OFF)
    poisoned = out is NotReadyReason.POISONED
    if not poisoned and not view.read_back:
        return Decision(Step.NOTHING, AloneReason.NOT_READ_BACK)
    if poisoned or view.goal.is_baseline:
        if view.asked_to_end:
            return Decision(Step.NOTHING, AloneReason.ASKED_TO_END)
        why = AloneReason.POISONED if poisoned else AloneReason.BACK_TO_BASELINE
        return Decision(Step.RESTART, why)
    if view.goal.revision == TRAINER_REVISION:
        return Decision(Step.NOTHING, AloneReason.TRAINERS)
    if not view.fit:
        return Decision(Step.NOTHING, AloneReason.INCOMPATIBLE)
    if not view.staged:
        return Decision(Step.STAGE, AloneReason.NOT_STAGED)
    return Decision(Step.SWAP, AloneReason.STAGED)


def goal(book: Book, stable: Stable, *, trainer_drives: bool = False) -> Content | None:
    """What is stable, unless the pod has an order that a newer leader may have given.

    No stable version is not an order to go back to the baseline: the ConfigMap may be gone. Where a trainer
    drives, what is published is the last of its durable versions that a pod has loaded, and the base weights are
    nobody's goal.
    """
    if trainer_drives:
        durable = stable.content
        return None if durable is None or durable.is_baseline else durable
    told = book.told or (book.serving.content if book.serving else None)
    published = stable.content
    if published is None or told is None:
        return told or published
    same_owner = stable.owner_uid == book.owner_uid
    newest = same_owner and stable.epoch >= book.epoch
    return published if newest and not published.is_baseline else told
