"""What a profile chooses, and that it never overrides what somebody said."""

from dataclasses import replace
from typing import Any

import pytest

from planning.stories import Story
from planning.worlds import weights, world_of
from weightrollout.api.profiles import TRAINING_BY_PATH
from weightrollout.api.schema import object_schema
from weightrollout.api.spec import Supersede, TakeOut, WeightRolloutSpec
from weightrollout.api.status import Phase
from weightrollout.rollout.actions import Plan
from weightrollout.rollout.profile import resolved
from weightrollout.rollout.simulate import ToyWorld

#: What somebody may say about each field that a profile chooses, and that neither profile would choose.
SAID: dict[str, dict[str, Any]] = {
    "staging": {"maxConcurrent": 3},
    "swap": {"takeOut": "Endpoint", "drainSeconds": 7},
    "strategy": {"maxUnavailable": 2, "supersede": "Immediate"},
}


def training(**said: Any) -> WeightRolloutSpec:
    return resolved(WeightRolloutSpec.model_validate({"profile": "Training", **said}))


def values(spec: WeightRolloutSpec) -> dict[str, Any]:
    plain = spec.model_dump(by_alias=True)
    return {
        path: plain[section][field]
        for path in TRAINING_BY_PATH
        for _, section, field in [path.split(".")]
    }


def test_serving_is_what_nobody_chose() -> None:
    spec = WeightRolloutSpec()
    assert resolved(spec) == spec == resolved(WeightRolloutSpec.model_validate({}))
    assert set(values(spec).values()).isdisjoint(TRAINING_BY_PATH.values())


def test_training_chooses_every_field_that_nobody_set() -> None:
    assert values(training()) == dict(TRAINING_BY_PATH)


@pytest.mark.parametrize("path", TRAINING_BY_PATH)
def test_what_was_said_holds_and_the_profile_chooses_the_rest(path: str) -> None:
    _, section, field = path.split(".")
    said = SAID[section][field]
    expected = dict(TRAINING_BY_PATH) | {path: said}
    assert values(training(**{section: {field: said}})) == expected


def test_what_was_said_holds_also_where_it_is_the_default_of_serving() -> None:
    """Else nobody could ask for it."""
    spec = training(swap={"takeOut": "Endpoint"}, strategy={"maxUnavailable": "25%"})
    assert spec.swap.take_out is TakeOut.ENDPOINT
    assert spec.strategy.max_unavailable == "25%"


def test_a_profile_touches_nothing_else() -> None:
    changed = training().model_dump(by_alias=True)
    plain = WeightRolloutSpec().model_dump(by_alias=True)
    for section, fields in SAID.items():
        for field in fields:
            del changed[section][field], plain[section][field]
    assert changed == plain | {"profile": "Training"}


def test_resolved_twice_is_the_same() -> None:
    spec = training(swap={"drainSeconds": 7})
    assert resolved(spec) == spec


def test_no_default_of_a_profile_is_stored_in_the_object() -> None:
    """Stored, it could not be told from somebody's word, and another profile would change nothing."""
    spec = object_schema()["properties"]["spec"]
    for path, value in TRAINING_BY_PATH.items():
        _, section, field = path.split(".")
        node = spec["properties"][section]["properties"][field]
        assert "default" not in node
        assert f"with profile Training {value}." in node["description"]


def in_training(count: int, **said: Any) -> ToyWorld:
    world = world_of("b", count, on="a")
    world.spec = policy_of(world, training(**said))
    return world


def policy_of(world: ToyWorld, spec: WeightRolloutSpec) -> WeightRolloutSpec:
    return spec.model_copy(update={"weights": world.spec.weights})


def told(world: ToyWorld) -> tuple[Story, Plan]:
    story = Story(world)
    return story, story.until(lambda plan: plan.status.phase is Phase.COMPLETE)


def test_in_training_all_pods_swap_at_once_behind_the_first_and_none_leaves_its_endpoints() -> None:
    world = in_training(8)
    story, _ = told(world)
    together = [line for line in story.lines if "goes to b" in line and "of 8 in use" in line]
    assert len(together) == 8
    assert all(pod.ready for pod in world.pods)
    assert world.now < 10  # staged at once, swapped twice


def test_in_training_a_version_that_is_under_way_ends_before_the_next_begins() -> None:
    world = in_training(3)
    story = Story(world)
    story.until(lambda plan: plan.status.pods.updated == 1)
    world.change_spec(weights=weights("c"))
    half = story.until(
        lambda plan: plan.status.stable is not None and plan.status.stable.version == "b"
    )
    assert [(each.version, each.pods) for each in half.status.versions] == [("b", 3)]
    story.until(lambda plan: plan.status.stable is not None and plan.status.stable.version == "c")
    assert world.spec.strategy.supersede is Supersede.AFTER_COMPLETE


@pytest.mark.parametrize(
    ("said", "warned"),
    [({}, False), ({"swap": {"takeOut": "Endpoint"}}, True)],
)
def test_status_warns_of_a_fleet_of_one_by_what_holds(said: dict[str, Any], warned: bool) -> None:
    world = in_training(1, **said)
    plan = world.one_pass()
    assert plan.status.phase is Phase.PROGRESSING
    assert ("away during its swap" in plan.status.message) == warned


def test_a_change_of_profile_begins_no_rollout() -> None:
    world = world_of("b", 3, on="a")
    Story(world).until(lambda plan: plan.status.phase is Phase.COMPLETE)
    was = world.one_pass().status
    before = replace(world.observe(), status=was)
    world.spec, world.generation = policy_of(world, training()), 2
    after = world.one_pass()
    assert after.status.target == before.status.target
    assert after.status.phase is Phase.COMPLETE
    assert not after.actions
