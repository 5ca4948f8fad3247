"""Who may act: the Lease says which process, the epoch says which of its commands.

At the first pass of a term over a rollout its epoch is raised by compare-and-swap in the status; every
mutating agent call carries it, and agents refuse a lower one. A higher epoch in the status than ours
means that somebody else leads: we step down, whatever the Lease says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weightrollout.kube.client import Json
from weightrollout.kube.rollouts import RolloutsOf, key_of_body


class NotLeading(Exception):
    """This process must not write any more. Never a failure of what it was about to do."""

    reason = "NotLeading"


@dataclass(frozen=True, slots=True)
class Fence:
    """Goes with every mutating call to an agent."""

    owner_uid: str
    epoch: int


class Guard:
    """Asked right before every write and every mutating call of one term; raises `NotLeading`."""

    def __init__(self, leading: Callable[[], bool], step_down: Callable[[str], None]) -> None:
        self._leading = leading
        self._step_down = step_down
        self._revoked = False

    def __call__(self) -> None:
        if self._revoked or not self._leading():
            raise NotLeading

    def revoke(self) -> None:
        """The term is over: its stragglers stay out also when this process leads again."""
        self._revoked = True

    def step_down(self, why: str) -> NotLeading:
        """Returns what to raise."""
        self._step_down(why)
        return NotLeading(why)


class Epochs:
    """The epochs that this term holds, by rollout uid."""

    def __init__(self, rollouts: RolloutsOf, guard: Guard) -> None:
        self._rollouts = rollouts
        self._guard = guard
        self._held: dict[str, int] = {}

    async def fence(self, body: Json, highest_refused: int) -> Fence:
        """The fence for a rollout, raised first where this term does not hold one.

        `highest_refused`: the epoch that agents answered StaleEpoch with; 0 for none. It is above ours
        only when the status was lost, since a living rival's epoch shows in the status.
        Raises Conflict when the body is not the newest, NotLeading when somebody else leads.
        """
        key, uid = key_of_body(body), body["metadata"]["uid"]
        said = epoch_of(body)
        held = self._held.get(uid)
        if held is not None:
            if said > held:
                raise self._guard.step_down(f"{key} is led with epoch {said}, ours is {held}")
            if highest_refused <= held:
                return Fence(uid, held)
        epoch = max(said, highest_refused) + 1
        self._guard()
        await self._rollouts.write_status(body, {**(body.get("status") or {}), "epoch": epoch})
        self._held[uid] = epoch
        return Fence(uid, epoch)

    def forget(self, uid: str) -> None:
        self._held.pop(uid, None)


def epoch_of(body: Json) -> int:
    status: dict[str, Any] = body.get("status") or {}
    return int(status.get("epoch") or 0)
