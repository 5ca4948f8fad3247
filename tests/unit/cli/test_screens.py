"""Whole screens in a terminal of 80 and of 140 columns: small, big, and in trouble. `UPDATE_GOLDEN=1` rewrites them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from planning.stories import compare
from sights import V7, asked, condition, controller_revision, rollout, swapped
from weightrollout.api.names import LABEL_NAME
from weightrollout.cli import explaining, forecasting, listing, past
from weightrollout.cli.forecast import Live, forecast
from weightrollout.cli.past import own_records, past_of
from weightrollout.cli.render import LINES, Paper, tree
from weightrollout.cli.view import view_of
from weightrollout.cli.why import why_of
from weightrollout.kube.pods import Pod
from weightrollout.reading import read_spec, revision_of

Json = dict[str, Any]

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
GOLDENS = Path(__file__).parent / "goldens"
LONG = "recommendation-ranker-large-context-eu-west-1"
NEW, NEW_OF_BIG = asked(), asked(LONG)
STEPS = [{"updated": 1}, {"pause": {}}, {"updated": "50%"}, {"pause": {"durationSeconds": 300}}]


def small() -> tuple[Json, list[Pod]]:
    """At a step that a person must promote."""
    body = rollout(
        phase="Paused",
        message="waiting at step 2 of 4: kubectl weightrollout promote chat",
        desired=NEW,
        target=NEW,
        stable=V7,
        pods={"selected": 4, "updated": 1},
        step={"index": 1, "of": 4, "hash": "ab", "since": "2026-11-29T11:50:00Z"},
        hold={
            "gate": "Step",
            "reason": "StepPaused",
            "message": "waiting at step 2 of 4: kubectl weightrollout promote chat",
            "since": "2026-11-29T11:50:00Z",
        },
        pauseMillis={"last": 9, "p50": 9, "p99": 12, "max": 12},
        conditions=[condition("Ready", "Unknown")],
    )
    body["spec"]["strategy"] = {"steps": STEPS}
    return body, [swapped(f"chat-{each}", NEW if each == 0 else V7) for each in range(4)]


def trouble() -> tuple[Json, list[Pod]]:
    body = rollout(
        phase="RollingBack",
        message="v8 was rejected (TooManyFailed: 2 pods failed: chat-3, chat-5); going back: 9 of 12"
        " pods serve v7",
        desired=NEW,
        target=V7,
        stable=V7,
        pods={"selected": 12, "updated": 9, "failed": 2, "swapping": 1},
        hold={
            "gate": "Budget",
            "reason": "BudgetUsedByUnreadyPods",
            "message": "3 of 3 pods may be out (spec.strategy.maxUnavailable 25%), and all are not"
            " Ready for reasons of their own",
            "since": "2026-11-29T11:38:56Z",
            "pods": ["chat-0"],
        },
        pauseMillis={"last": 9, "p50": 9, "p99": 1250, "max": 1252},
        staging={"bytes": 5 << 30, "total": 15 << 30, "pods": 2},
        failures=[
            {
                "pod": "chat-3",
                "class": "Pod",
                "reason": "VerifyFailed",
                "message": "prompt '2+2=': expected an answer that contains '4', got 'the quick"
                " brown fox jumps over the lazy dog'",
                "attempts": 3,
                "time": "2026-11-29T11:30:00Z",
            }
        ],
        lastAction={
            "id": "x",
            "verb": "promote",
            "outcome": "Stale",
            "message": "it is at step 2, and this leaves step 1",
            "time": "2026-11-29T11:59:00Z",
        },
        conditions=[condition("Ready", "False")],
    )
    pods = [
        swapped(f"chat-{each}", NEW if each in (3, 5) else V7, ready=each not in (3, 4, 5))
        for each in range(12)
    ]
    return body, pods


def big() -> tuple[Json, list[Pod]]:
    body = rollout(
        phase="Progressing",
        message=f"80 of 200 pods serve v8; swapping {LONG}-81",
        desired=NEW_OF_BIG,
        target=NEW_OF_BIG,
        stable=V7,
        pods={"selected": 200, "updated": 80, "swapping": 1},
        pauseMillis={"last": 9, "p50": 9, "p99": 12, "max": 12},
        conditions=[condition("Ready", "False")],
    )
    body["metadata"]["name"] = LONG
    body["spec"]["strategy"] = {"maxUnavailable": "5%", "proveFirst": False}
    pods = [
        swapped(f"{LONG}-{each}", NEW_OF_BIG if each < 80 else V7, ready=each % 67 != 0)
        for each in range(200)
    ]
    return body, pods


FLEETS = {"small": small, "trouble": trouble, "big": big}


def live(fleet: str) -> Live:
    body, pods = FLEETS[fleet]()
    records = own_records(body["metadata"], history_of(fleet))
    return Live(body, tuple(map(revision_of, records)), tuple(pods), None)


def history_of(fleet: str) -> list[Json]:
    """Only in trouble the newest was rejected; else nobody can say yet."""
    new = NEW_OF_BIG if fleet == "big" else NEW
    name = LONG if fleet == "big" else "chat"
    why = ("Rejected", "TooManyFailed", "2 pods failed: chat-3, chat-5")
    second = controller_revision(2, new, *(why if fleet == "trouble" else ()), digest="")
    first = controller_revision(1, V7, "Verified", "AllPodsVerified", "all pods serve v7")
    for each in (first, second):
        each["metadata"]["labels"][LABEL_NAME] = name
    return [first, second]


def screens(fleet: str, paper: Paper) -> dict[str, Text]:
    seen = live(fleet)
    spec = read_spec(seen.rollout)
    ahead = forecast(seen, spec)
    lines = listing.lines_of([each()[0] for each in FLEETS.values()])
    return {
        "status": tree(view_of(seen.rollout, seen.pods), NOW, paper),
        "plan": forecasting.screen_of(ahead, paper),
        "explain": explaining.screen_of(why_of(seen, spec, ahead, NOW), NOW, paper),
        "history": past.screen_of(
            past_of(seen.rollout, history_of(fleet), seen.pods), NOW, paper.width
        ),
        "list": listing.screen_of(lines, NOW, namespaces=True, width=paper.width),
    }


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("fleet", FLEETS)
def test_a_screen_is_as_reviewed_and_no_line_is_wider_than_the_terminal(
    fleet: str, width: int
) -> None:
    told = ""
    for command, text in screens(fleet, Paper(LINES, width)).items():
        told += f"$ kubectl weightrollout {command}\n{text.plain}\n\n"
        assert max(map(len, text.plain.splitlines())) <= width
    compare(told, GOLDENS / f"{fleet}-{width}.txt")


@pytest.mark.parametrize(
    ("phase", "outcome", "shown"),
    [
        ("Progressing", "Accepted", True),
        ("Complete", "Accepted", False),
        ("RolledBack", "Accepted", False),
        ("Complete", "Stale", True),
    ],
)
def test_an_answer_that_has_had_its_effect_is_not_shown_any_more(
    phase: str, outcome: str, shown: bool
) -> None:
    asked_for = {"id": "1", "verb": "promote", "outcome": outcome, "message": "", "time": ""}
    view = view_of(rollout(phase=phase, lastAction=asked_for), ())
    assert ("ASKED" in tree(view, NOW, Paper(LINES)).plain) is shown


@pytest.mark.parametrize("fleet", FLEETS)
def test_a_pipe_gets_every_word_of_what_a_terminal_cuts(fleet: str) -> None:
    seen = live(fleet)
    said = tree(view_of(seen.rollout, seen.pods), NOW, Paper(LINES)).plain
    assert all(pod.name in said for pod in seen.pods)
    assert "…" not in said
    if fleet == "trouble":
        assert "jumps over the lazy dog" in said
