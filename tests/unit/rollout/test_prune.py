"""The history forgets only what nobody could miss."""

from dataclasses import replace

import pytest

from planning.worlds import new_pod, ref_of, serving, spec, uri, weights
from weightrollout.api.spec import Supersede, WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus, WeightsRef
from weightrollout.api.swap import FailureClass
from weightrollout.rollout.actions import AdoptRevision, PruneRevision
from weightrollout.rollout.fleet import (
    ActionFailure,
    AgentFault,
    Doing,
    Fleet,
    Ref,
    Revision,
    Work,
)
from weightrollout.rollout.plan import plan
from weightrollout.rollout.prune import BATCH
from weightrollout.rollout.revisions import revision_name
from weightrollout.rollout.simulate import ToyWorld

HISTORY = WeightRolloutSpec().revision_history_limit
MORE = 3


def fleet_with_a_long_history() -> Fleet:
    """Serves a, its oldest revision, and tried `HISTORY + MORE` others since."""
    world = serving(ToyWorld(spec(None), [new_pod(0)], {}), "a")
    later = tuple(_revision(number) for number in range(2, 2 + HISTORY + MORE))
    return replace(world.observe(), revisions=(*world.revisions, *later))


def _revision(number: int) -> Revision:
    version = f"v{number:02}"
    ref = Ref(revision_name("chat", weights(version)), version, uri(version))
    return Revision(ref, number, digest_given=False)


def pruned(fleet: Fleet) -> list[int]:
    return [each.number for each in plan(fleet).actions if isinstance(each, PruneRevision)]


def silent(fleet: Fleet, *, put_in_txn: str = "", version_label: str = "") -> Fleet:
    """The same fleet with one more pod, whose agent does not answer."""
    pod = replace(
        new_pod(7).view(None),
        agent=AgentFault.UNREACHABLE,
        put_in_txn=put_in_txn,
        version_label=version_label,
    )
    return replace(fleet, pods=(*fleet.pods, pod))


def test_the_oldest_go_first_and_what_is_served_stays() -> None:
    assert pruned(fleet_with_a_long_history()) == [2, 3, 4]


def test_a_very_long_history_shrinks_in_small_batches() -> None:
    fleet = fleet_with_a_long_history()
    more = tuple(_revision(number) for number in range(30, 60))
    assert len(pruned(replace(fleet, revisions=(*fleet.revisions, *more)))) == BATCH


def test_a_short_history_is_kept_whole() -> None:
    fleet = fleet_with_a_long_history()
    assert pruned(replace(fleet, revisions=fleet.revisions[: HISTORY + 1])) == []


def test_what_a_silent_pod_was_last_put_in_with_stays() -> None:
    note = f"cr/{_revision(2).ref.revision}/pod-7/1"
    assert pruned(silent(fleet_with_a_long_history(), put_in_txn=note)) == [3, 4]


def test_what_the_label_of_a_silent_pod_names_stays() -> None:
    assert pruned(silent(fleet_with_a_long_history(), version_label="v03")) == [2, 4]


def test_what_new_pods_would_start_from_stays_when_the_status_is_lost() -> None:
    fleet = fleet_with_a_long_history()
    published = replace(fleet, pods=(), published=_revision(2).ref)
    assert 2 not in pruned(published)
    assert ref_of("a").revision not in {
        each.revision for each in plan(published).actions if isinstance(each, PruneRevision)
    }


def test_what_waits_for_its_turn_stays() -> None:
    """An old version comes back and is queued, with supersede AfterComplete; what the history says
    of it, such as Rejected, would be lost with it."""
    fleet = fleet_with_a_long_history()
    newest = fleet.revisions[-1].ref
    under_way = WeightsRef(version=newest.version, revision=newest.revision)
    policy = fleet.spec.strategy.model_copy(update={"supersede": Supersede.AFTER_COMPLETE})
    wanted = {"weights": weights("v02"), "strategy": policy}
    queued = replace(
        fleet,
        spec=fleet.spec.model_copy(update=wanted),
        status=WeightRolloutStatus(target=under_way),
    )
    assert plan(queued).status.target == under_way
    assert pruned(queued) == [3]


def test_nothing_is_deleted_while_the_history_is_being_written_or_deleted() -> None:
    fleet = fleet_with_a_long_history()
    for doing in (Doing.RECORD_REVISION, Doing.PRUNE_REVISION):
        assert pruned(replace(fleet, work=frozenset({Work(doing, revision="x")}))) == []


def test_an_operator_that_may_not_delete_never_holds_the_rollout_for_it() -> None:
    fleet = fleet_with_a_long_history()
    failure = ActionFailure(
        Doing.PRUNE_REVISION, "", FailureClass.ENVIRONMENT, "ApiServerForbidden", "no", fleet.now
    )
    refused = replace(fleet, failures=(failure,))
    assert pruned(refused) == []
    assert plan(refused).status.hold == plan(fleet).status.hold


def after_pruning(fleet: Fleet) -> Fleet:
    while gone := pruned(fleet):
        left = tuple(each for each in fleet.revisions if each.number not in gone)
        fleet = replace(fleet, revisions=left)
    return fleet


def limited(fleet: Fleet, limit: int) -> Fleet:
    spec = fleet.spec.model_copy(update={"revision_history_limit": limit})
    return replace(fleet, spec=spec)


@pytest.mark.parametrize("limit", [0, 1, HISTORY - 1, HISTORY + MORE - 1])
def test_as_many_are_left_as_the_spec_says_beside_those_in_use(limit: int) -> None:
    fleet = fleet_with_a_long_history()
    left = after_pruning(limited(fleet, limit)).revisions
    newest = fleet.revisions[len(fleet.revisions) - max(limit, 1) :]  # its number is never lost
    assert left == (fleet.revisions[0], *newest)


def test_history_of_nothing_keeps_what_an_abort_of_stable_goes_back_to() -> None:
    """Also where no pod holds it any more, and after others that came to nothing."""
    world = serving(ToyWorld(spec("b"), [new_pod(0)], {}), "a")
    others = tuple(_revision(number) for number in range(2, 2 + HISTORY))
    world.revisions = (*world.revisions, *others)
    fleet = limited(serving(world, "b").observe(), 0)
    assert {each.ref.version for each in after_pruning(fleet).revisions} == {"a", "b"}


def adopted(fleet: Fleet) -> list[int]:
    return [each.number for each in plan(fleet).actions if isinstance(each, AdoptRevision)]


def without_owners(fleet: Fleet) -> Fleet:
    return replace(fleet, revisions=tuple(replace(each, owned=False) for each in fleet.revisions))


def test_history_of_nothing_keeps_its_newest_number() -> None:
    """Else the next revision would have the number of one that was told of already."""
    fleet = fleet_with_a_long_history()
    short = replace(fleet, spec=fleet.spec.model_copy(update={"revision_history_limit": 0}))
    newest = max(each.number for each in short.revisions)
    some_left = replace(short, revisions=(short.revisions[0], short.revisions[-1]))
    assert newest not in pruned(short)
    assert pruned(some_left) == []


def test_history_that_was_left_behind_is_taken_over_in_small_batches_before_it_is_pruned() -> None:
    fleet = without_owners(fleet_with_a_long_history())
    highest = len(fleet.revisions)
    assert adopted(fleet) == list(range(highest, highest - BATCH, -1))
    assert pruned(fleet) == []


def test_nothing_is_adopted_while_the_history_is_being_written() -> None:
    fleet = without_owners(fleet_with_a_long_history())
    for doing in (Doing.RECORD_REVISION, Doing.PRUNE_REVISION, Doing.ADOPT_REVISION):
        assert adopted(replace(fleet, work=frozenset({Work(doing, revision="x")}))) == []


def test_operator_that_may_not_adopt_never_holds_the_rollout_for_it() -> None:
    fleet = without_owners(fleet_with_a_long_history())
    failure = ActionFailure(
        Doing.ADOPT_REVISION, "", FailureClass.ENVIRONMENT, "ApiServerForbidden", "no", fleet.now
    )
    refused = replace(fleet, failures=(failure,))
    assert adopted(refused) == []
    assert plan(refused).status.hold == plan(fleet).status.hold
