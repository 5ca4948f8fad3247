"""Identity of a revision: a new release must never start a rollout by itself."""

import pytest

from planning.worlds import digest, serving, spec, weights, world_of
from weightrollout.api.spec import FROM_TARGET, Metadata, Weights
from weightrollout.rollout.actions import Announce, RecordRevision
from weightrollout.rollout.fleet import Verdict
from weightrollout.rollout.plan import plan
from weightrollout.rollout.revisions import canonical, revision_name
from weightrollout.rollout.target import choose_goal


def test_canonical_form_never_changes() -> None:
    given = weights("2026-11-29.1", digest("a"))
    assert canonical(given) == (
        '{"schema":1,"weights":{"digest":"sha256:' + "a" * 64 + '",'
        '"uri":"file:///models/2026-11-29.1/","version":"2026-11-29.1"}}'
    )
    assert revision_name("chat", given) == "chat-47d88fc234"
    assert revision_name("chat", weights("v1")) == "chat-04f65f121c"


def test_draft_counts_only_where_it_is_given() -> None:
    given = weights("v1").model_copy(update={"draft": FROM_TARGET})
    asked = Weights.model_validate(given.model_dump(by_alias=True, exclude_none=True))
    assert canonical(asked) == (
        '{"schema":1,"weights":{"draft":{"from":"Target"},'
        '"uri":"file:///models/v1/","version":"v1"}}'
    )
    assert revision_name("chat", asked) != revision_name("chat", weights("v1"))


def test_fields_that_the_user_left_out_do_not_count() -> None:
    left_out = Weights(version="v1", uri="file:///m/")
    set_to_default = Weights(version="v1", uri="file:///m/", digest=None)
    assert canonical(left_out) == canonical(set_to_default)
    assert "digest" not in canonical(left_out)


def test_default_that_a_newer_api_server_fills_in_starts_no_rollout() -> None:
    filled_in = Weights(version="v1", uri="file:///m/", metadata=Metadata.REQUIRE)
    assert canonical(filled_in) == canonical(Weights(version="v1", uri="file:///m/"))


def test_ignoring_metadata_is_another_revision_of_the_same_content() -> None:
    ignoring = Weights(version="v1", uri="file:///m/", metadata=Metadata.IGNORE)
    assert canonical(ignoring) == (
        '{"schema":1,"weights":{"metadata":"Ignore","uri":"file:///m/","version":"v1"}}'
    )


def test_policy_edits_never_start_a_rollout() -> None:
    world = world_of("a", 2, on="a")
    world.one_pass()
    world.change_spec(soak_seconds=5, pod_deadline_seconds=77)
    planned = plan(world.observe())
    assert [action for action in planned.actions if isinstance(action, RecordRevision)] == []


def test_old_content_gets_the_highest_number_and_keeps_its_verdict() -> None:
    world = serving(world_of("a", 1, on="a"), "b")
    (record,) = [a for a in plan(world.observe()).actions if isinstance(a, RecordRevision)]
    assert (record.ref.version, record.number, record.verdict) == ("a", 3, Verdict.VERIFIED)


@pytest.mark.parametrize("claimed", ["a", "b"])
def test_stable_is_what_status_says_where_the_history_agrees(claimed: str) -> None:
    world = serving(world_of("b", 1, on="a"), "b")
    world.published = None
    world.spec = spec(claimed)
    world.status = plan(world.observe()).status
    stable = choose_goal(world.observe()).stable
    assert stable is not None
    assert stable.ref.version in ("a", "b")


def test_lost_status_and_configmap_find_stable_in_the_history() -> None:
    world = serving(world_of("b", 1, on="a"), "b")
    world.published = None
    goal = choose_goal(world.observe())
    assert goal.stable is not None
    assert goal.stable.ref.version == "b"


def test_name_that_does_not_fit_into_labels_is_refused() -> None:
    world = world_of("b", 2, on="a")
    world.name = "x" * 53
    planned = plan(world.observe())
    assert planned.status.phase == "Failed"
    assert planned.status.hold is not None
    assert planned.status.hold.reason == "NameTooLong"
    assert not [action for action in planned.actions if not isinstance(action, Announce)]
