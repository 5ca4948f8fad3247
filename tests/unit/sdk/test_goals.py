"""What a wait has waited for: proven to serve it where the operator drives, reported where a trainer does."""

from collections.abc import Callable
from typing import Any

import pytest

from weightrollout.sdk.errors import Rejected, Superseded
from weightrollout.sdk.goals import how_far, is_reported, is_there, needed, refuse_hopeless
from weightrollout.sdk.state import FleetState, state_of


@pytest.mark.parametrize(
    ("pods", "of", "enough"),
    [("100%", 7, 7), ("50%", 7, 4), ("1%", 3, 1), (2, 7, 2), (9, 7, 9), ("100%", 0, 0)],
)
def test_percent_is_a_goal_and_rounds_up(pods: int | str, of: int, enough: int) -> None:
    assert needed(pods, of) == enough


@pytest.mark.parametrize("pods", [0, -1, "0%", "101%", "half", "", True])
def test_what_is_no_goal_is_refused(pods: int | str) -> None:
    with pytest.raises(ValueError, match="pods must be"):
        needed(pods, 5)


def fleet(
    driver: str, *loaded: tuple[str, int], asked: str = "exp.12", **status: Any
) -> FleetState:
    """Three pods, and a fleet that says that it is Complete at what is asked for."""
    weights = {"weights": {"version": asked}} if asked else {}
    told = {"version": asked, "revision": "r", "digest": "sha256:" + "a" * 64}
    content = dict.fromkeys(("desired", "target", "stable"), told) if asked else {}
    return state_of(
        {
            "metadata": {"name": "chat", "namespace": "ml", "generation": 3},
            "spec": {"driver": driver, **weights},
            "status": {
                "observedGeneration": 3,
                "phase": "Complete",
                "versions": [{"version": each, "pods": pods} for each, pods in loaded],
                "pods": {"selected": 3, "updated": 3},
                **content,
                **status,
            },
        }
    )


def named(version: str) -> Callable[[str], bool]:
    return lambda found: found == version


def test_pods_that_a_trainer_has_in_hand_are_not_said_to_hold_the_step() -> None:
    """Its last durable version is one thing, what its pods hold another."""
    state = fleet("Trainer", ("7", 2), ("exp.12", 1))
    assert state.in_hand
    assert not state.complete
    assert not is_there(state, "exp", 12, "100%")
    assert not is_there(state, "exp", 12, 2)
    assert is_there(state, "exp", 12, 1)


def test_step_is_there_where_pods_report_it_or_a_newer_one_of_its_run() -> None:
    state = fleet("Trainer", ("exp.12", 1), ("exp.13", 2), asked="")
    assert is_there(state, "exp", 12, "100%")
    assert is_there(state, "exp", 13, 2)
    assert not is_there(state, "exp", 13, "100%")
    assert not is_there(state, "other", 12, 1)


def test_nothing_in_the_spec_ends_a_wait_for_what_a_trainer_brings() -> None:
    refuse_hopeless(fleet("Trainer", asked=""), "exp", 12)
    refuse_hopeless(fleet("Trainer", phase="Failed"), "exp", 12)
    with pytest.raises(Superseded):
        refuse_hopeless(fleet("Operator", asked=""), "exp", 12)
    with pytest.raises(Rejected):
        refuse_hopeless(fleet("Operator", phase="Failed"), "exp", 12)


def test_any_name_that_a_trainer_gives_can_be_waited_for() -> None:
    """Those of RL clients are bare numbers."""
    state = fleet("Trainer", ("7", 2), ("8", 1), asked="")
    assert is_reported(state, 2, named("7"))
    assert not is_reported(state, "100%", named("7"))
    assert not is_reported(state, 1, named("9"))
    assert not is_reported(fleet("Trainer", pods={"selected": 0}), "100%", named("7"))


def test_fleet_of_the_operators_is_there_when_its_rollout_is_complete() -> None:
    state = fleet("Operator", ("exp.12", 3))
    assert state.complete
    assert not state.in_hand
    assert is_there(state, "exp", 12, "100%")
    assert not is_there(state, "exp", 13, 1)


def test_words_of_a_timeout_count_the_version_that_was_waited_for() -> None:
    state = fleet("Trainer", ("7", 2), ("8", 1), message="a trainer drives")
    assert how_far(state, named("8"), 5) == "1 of 3 pods report it after 5 s: a trainer drives"
    assert "does one run?" in how_far(fleet("Trainer", observedGeneration=2), named("8"), 5)
