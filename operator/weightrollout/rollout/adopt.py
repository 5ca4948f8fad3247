"""Which revisions of the history have no owner and become ours.

`kubectl delete --cascade=orphan` leaves them behind, and whoever is created under the same name goes on
from them. Without an owner nobody would ever delete them.
"""

from typing import Final

from weightrollout.rollout.actions import AdoptRevision
from weightrollout.rollout.fleet import Doing
from weightrollout.rollout.situation import Situation

#: Ours in flight that write to the history: one kind at a time.
HISTORY: Final = frozenset({Doing.RECORD_REVISION, Doing.PRUNE_REVISION, Doing.ADOPT_REVISION})
#: Adoptions in one pass: a long history is taken over without a burst on the API server.
BATCH: Final = 5


def adoptable(situation: Situation) -> tuple[AdoptRevision, ...]:
    """The newest first. None while the history is written, or an adoption failed lately: nothing waits for it."""
    fleet = situation.fleet
    if any(work.doing in HISTORY for work in fleet.work):
        return ()
    if any(failure.doing is Doing.ADOPT_REVISION for failure in fleet.failures):
        return ()
    alone = (each for each in fleet.revisions if not each.owned)
    newest = sorted(alone, key=lambda each: each.number, reverse=True)
    return tuple(
        AdoptRevision(
            each.ref.revision,
            each.number,
            "Orphaned",
            f"version {each.ref.version} was left behind by a WeightRollout of this name",
        )
        for each in newest[:BATCH]
    )
