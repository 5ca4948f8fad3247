"""What the exit code and the JSON promise."""

import json
from typing import Any

import pytest

from sights import GENERATION, V7, V8, condition, pod, rollout
from weightrollout.cli.exits import Exit, exit_of
from weightrollout.cli.output import Output, document
from weightrollout.cli.view import NOT_SEEN, view_of

READY = condition("Ready", "True")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({}, Exit.UNDER_WAY, id="no status yet"),
        pytest.param({"conditions": [READY]}, Exit.COMPLETE, id="complete"),
        pytest.param(
            {"conditions": [condition("Ready", "False")]}, Exit.UNDER_WAY, id="progressing"
        ),
        pytest.param({"conditions": [condition("Ready", "Unknown")]}, Exit.UNDER_WAY, id="paused"),
        pytest.param(
            {"conditions": [condition("Ready", "False"), condition("Stalled", "True")]},
            Exit.STALLED,
            id="rolled back",
        ),
    ],
)
def test_the_exit_code_says_how_it_stands(status: dict[str, Any], expected: Exit) -> None:
    assert exit_of(view_of(rollout(**status), ()).outcome) is expected


@pytest.mark.parametrize("kind", ["Ready", "Stalled"])
def test_a_new_spec_is_never_complete_by_the_word_about_the_old_one(kind: str) -> None:
    old = GENERATION - 1
    body = rollout(observedGeneration=old, conditions=[condition(kind, "True", old)])
    view = view_of(body, ())
    assert exit_of(view.outcome) is Exit.UNDER_WAY
    assert view.message == NOT_SEEN


def test_json_is_the_same_view_with_numbers_as_numbers() -> None:
    body = rollout(
        phase="Complete",
        message="all 1 pods serve v8",
        desired=V8,
        target=V8,
        stable=V8,
        pods={"selected": 1, "updated": 1},
        pauseMillis={"last": 9, "p50": 9, "p99": 12, "max": 12},
        conditions=[READY],
    )
    assert json.loads(document(view_of(body, [pod("chat-0", "v8")]), Output.JSON)) == {
        "name": "chat",
        "namespace": "prod",
        "outcome": "Complete",
        "phase": "Complete",
        "message": "all 1 pods serve v8",
        "desired": V8,
        "target": V8,
        "stable": V8,
        "updated": 1,
        "selected": 1,
        "swapping": 0,
        "hold": None,
        "pauseMillis": {"last": 9, "p50": 9, "p99": 12, "max": 12},
        "staging": None,
        "analysis": [],
        "step": None,
        "lastAction": None,
        "trainer": None,
        "versions": [
            {
                "version": "v8",
                "digest": V8["digest"],
                "roles": ["target", "stable", "desired"],
                "pods": [{"name": "chat-0", "state": "Updated", "reason": "", "message": ""}],
            }
        ],
    }


def test_a_pod_whose_draft_failed_is_updated_and_says_so() -> None:
    failure = {"pod": "chat-0", "reason": "DraftFailed", "message": "torn"}
    old = {"pod": "chat-1", "reason": "TransferFailed", "message": "over and done"}
    body = rollout(phase="Complete", target=V8, failures=[failure, old])
    (group,) = view_of(body, [pod("chat-0", "v8"), pod("chat-1", "v8")]).versions
    assert [(line.state, line.reason) for line in group.pods] == [
        ("Updated", "DraftFailed"),
        ("Updated", ""),
    ]


def test_words_of_a_newer_operator_are_passed_over() -> None:
    body = rollout(phase="Soaking", step={"index": 1}, target={**V8, "draft": "x"}, analysis=[])
    assert view_of(body, ()).phase == "Soaking"


def test_a_pod_without_a_version_is_not_updated_where_nothing_is_desired() -> None:
    (group,) = view_of(rollout(phase="Pending", stable=V7), [pod("chat-0")]).versions
    assert group.pods[0].state == "Serving"


def test_pods_stand_under_what_their_agents_report_while_labels_are_late() -> None:
    """As with takeOut None: the rollout is over, and one label has not followed yet."""
    loaded = [{"version": "v8", "digest": V8["digest"], "pods": 2}]
    body = rollout(phase="Complete", target=V8, stable=V8, versions=loaded)
    (group,) = view_of(body, [pod("chat-0", "v8"), pod("chat-1", "v7")]).versions
    assert (group.version, [line.state for line in group.pods]) == ("v8", ["Updated", "Updated"])


@pytest.mark.parametrize(
    "loaded",
    [
        pytest.param([("v8", 1), ("v7", 1)], id="which pod holds which is not said"),
        pytest.param([("v8", 1)], id="of one pod nobody can speak"),
        pytest.param([], id="of none"),
    ],
)
def test_labels_say_it_where_agents_do_not_all_report_one_version(
    loaded: list[tuple[str, int]],
) -> None:
    versions = [{"version": version, "pods": pods} for version, pods in loaded]
    body = rollout(phase="Progressing", target=V8, stable=V7, versions=versions)
    groups = view_of(body, [pod("chat-0", "v8"), pod("chat-1", "v7")]).versions
    assert [(group.version, len(group.pods)) for group in groups] == [("v8", 1), ("v7", 1)]


def test_pod_that_took_the_name_of_one_that_was_counted_has_no_version_yet() -> None:
    body = rollout(phase="Complete", target=V8, versions=[{"version": "v8", "pods": 2}])
    groups = view_of(body, [pod("chat-0", "v8"), pod("chat-1")]).versions
    assert [(group.version, len(group.pods)) for group in groups] == [("v8", 1), ("", 1)]
