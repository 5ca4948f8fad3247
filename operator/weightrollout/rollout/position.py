"""Where a canary is on its way through the steps: what status.step remembers."""

import hashlib
import json
from dataclasses import dataclass
from typing import Final

from weightrollout.rollout.fleet import Fleet, Verdict
from weightrollout.rollout.target import Goal

HASH_LENGTH: Final = 10


@dataclass(frozen=True, slots=True)
class Position:
    index: int  # steps that are passed
    of: int
    hash: str  # of revision, try and steps
    known: bool  # status.step was about just these steps
    since: str  # RFC 3339

    @property
    def over(self) -> bool:
        return self.index >= self.of


def position_of(fleet: Fleet, goal: Goal) -> Position | None:
    """As it was remembered; None: the target goes through no steps.

    Other steps, another revision and another try begin at the first step. Levels that are reached
    are passed again at once, so that no pod goes back, and each pause counts anew. What the whole
    fleet verified before goes straight through: that is an undo.
    """
    steps = fleet.spec.strategy.steps
    verified = goal.desired is not None and goal.desired.verdict is Verdict.VERIFIED
    if not steps or not goal.on_target_content or verified:
        return None
    now = _hash(fleet, goal)
    was = fleet.status.step
    if was is None or was.hash != now:
        return Position(0, len(steps), now, known=False, since=fleet.wall)
    return Position(min(was.index, len(steps)), len(steps), now, known=True, since=was.since)


def _hash(fleet: Fleet, goal: Goal) -> str:
    steps = [
        step.model_dump(mode="json", by_alias=True, exclude_none=True)
        for step in fleet.spec.strategy.steps
    ]
    what = [goal.target.ref.revision, goal.target.tries, steps]
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
