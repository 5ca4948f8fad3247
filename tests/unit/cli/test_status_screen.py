"""The whole screen, as a person sees it: without colour, and with the lines of a good terminal."""

from datetime import UTC, datetime
from textwrap import dedent

import pytest

from sights import V7, V8, condition, pod, rollout
from weightrollout.cli.render import ASCII, LINES, Glyphs, Paper, tree
from weightrollout.cli.view import view_of
from weightrollout.kube.pods import Pod

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)

HALFWAY = rollout(
    phase="Progressing",
    message="1 of 4 pods serve v8; swapping chat-2",
    desired=V8,
    target=V8,
    stable=V7,
    pods={"selected": 4, "updated": 1},
    pauseMillis={"last": 9, "p50": 9, "p99": 12, "max": 12},
    hold={
        "gate": "Budget",
        "reason": "BudgetInUse",
        "message": "1 of 1 pods may be out (spec.strategy.maxUnavailable 25%)",
        "since": "2026-11-29T11:58:56Z",
        "pods": ["chat-0", "chat-1"],
    },
    conditions=[condition("Ready", "False")],
)
HALFWAY_PODS = (
    pod("chat-0", "v7"),
    pod("chat-1", "v7"),
    pod("chat-2", "v7", ready=False),
    pod("chat-3", "v8"),
)


def screen(body: object, pods: tuple[Pod, ...], glyphs: Glyphs = ASCII) -> str:
    assert isinstance(body, dict)
    return tree(view_of(body, pods), NOW, Paper(glyphs)).plain


def golden(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_rollout_on_its_way_says_what_it_waits_for() -> None:
    assert screen(HALFWAY, HALFWAY_PODS) == golden(
        """
        ROLLOUT chat   Progressing   v7 -> v8   1/4 updated   paused 12 ms (p99)
        1 of 4 pods serve v8; swapping chat-2
        HOLD BudgetInUse   for 1 min 4 s   1 of 1 pods may be out (spec.strategy.maxUnavailable 25%)
        |-- v8   target, desired   sha256:8b8b8b8b8b8b..   (1 pod)
        |   `-- chat-3   Updated
        `-- v7   stable   sha256:7a7a7a7a7a7a..   (3 pods)
            |-- chat-0   Serving   BudgetInUse
            |-- chat-1   Serving   BudgetInUse
            `-- chat-2   Out
        """
    )


def test_a_good_terminal_gets_lines() -> None:
    assert screen(HALFWAY, HALFWAY_PODS, LINES).splitlines()[3:6] == [
        "├── v8   target, desired   sha256:8b8b8b8b8b8b..   (1 pod)",
        "│   └── chat-3   Updated",
        "└── v7   stable   sha256:7a7a7a7a7a7a..   (3 pods)",
    ]


def test_a_long_version_is_cut_in_its_middle_and_its_pods_are_counted_all_the_same() -> None:
    long = {**V8, "version": "release-candidate-of-the-reward-model-step-000120000"}
    body = rollout(phase="Complete", desired=long, target=long, pods={"selected": 1})
    shown = tree(view_of(body, [pod("chat-0", long["version"])]), NOW, Paper(LINES, 66)).plain
    (line,) = (line for line in shown.splitlines() if line.startswith("└── rel"))
    assert len(line) == 66
    assert line.endswith("…0000   target, desired   sha256:8b8b8b8b8b8b..   (1 pod)")


def test_an_analysis_says_what_it_measured() -> None:
    ended = {
        "index": 1,
        "hash": "9f31",
        "outcome": "Successful",
        "message": "3 of 3 answers, 0 bad; newest: 0.004 (max 0.01)",
    }
    running = {
        "index": 3,
        "hash": "9f31",
        "outcome": "Running",
        "dryRun": True,
        "message": "0 of 5 answers, 0 bad",
    }
    body = rollout(phase="Progressing", target=V8, analysis=[running, ended], warpSpeed=9)
    assert screen(body, ()).splitlines()[1:] == [
        "ANALYSIS step 4 (dry run)   Running   0 of 5 answers, 0 bad",
        "ANALYSIS step 2   Successful   3 of 3 answers, 0 bad; newest: 0.004 (max 0.01)",
    ]


def test_a_rollback_names_what_was_left_and_why_the_pod_failed() -> None:
    body = rollout(
        phase="RolledBack",
        message="v8 was rejected: PromptFailed on chat-3; all 2 pods serve v7",
        desired=V8,
        target=V7,
        stable=V7,
        pods={"selected": 2, "updated": 1, "failed": 1},
        failures=[
            {"pod": "chat-1", "class": "Weights", "reason": "PromptFailed", "message": "newest"},
            {"pod": "chat-1", "class": "Weights", "reason": "Older", "message": "older"},
            {"pod": "chat-0", "class": "Pod", "reason": "Repaired", "message": "is fine again"},
        ],
        conditions=[condition("Stalled", "True")],
    )
    assert screen(body, (pod("chat-0", "v7"), pod("chat-1", "v6", ready=False))) == golden(
        """
        ROLLOUT chat   RolledBack   v8 -> v7 (rollback)   1/2 updated
        v8 was rejected: PromptFailed on chat-3; all 2 pods serve v7
        |-- v7   target, stable   sha256:7a7a7a7a7a7a..   (1 pod)
        |   `-- chat-0   Updated
        `-- v6   (1 pod)
            `-- chat-1   Out       PromptFailed: newest
        """
    )


def test_staging_shows_bytes_and_new_pods_are_seen_before_they_have_a_version() -> None:
    body = rollout(
        phase="Progressing",
        message="staging v8",
        desired=V8,
        target=V8,
        pods={"selected": 2, "updated": 0},
        staging={"bytes": 938_000_000, "total": 1_503_264_768, "pods": 2},
    )
    pods = (
        pod("chat-a"),
        pod("chat-b", phase="Pending", ready=False),
        pod("chat-c", ready=False, terminating=True),
        pod("chat-evicted", phase="Failed", ready=False),
    )
    assert screen(body, pods) == golden(
        """
        ROLLOUT chat   Progressing   v8   0/2 updated
        staging v8
        STAGING 62 %   894.5 MiB of 1.4 GiB   on 2 pods
        `-- no version yet   (3 pods)
            |-- chat-a   Serving
            |-- chat-b   Starting
            `-- chat-c   Ending
        """
    )


@pytest.mark.parametrize(("rate", "shown"), [(104_857_600, "   100.0 MiB/s"), (0, "")])
def test_staging_shows_how_fast_it_reads(rate: int, shown: str) -> None:
    staging = {"bytes": 1 << 30, "total": 1 << 31, "pods": 1, "bytesPerSecond": rate}
    said = screen(rollout(phase="Progressing", staging=staging), ())
    assert f"STAGING 50 %   1.0 GiB of 2.0 GiB{shown}   on 1 pod" in said


def test_a_rollout_that_nobody_looks_at_says_so() -> None:
    assert screen(rollout(), ()) == golden(
        """
        ROLLOUT chat   Pending   0/0 updated
        no status yet: does an operator run for this namespace?
        """
    )


def test_a_hold_is_not_explained_twice() -> None:
    why = "no pod has the label weightrollout.dev/name: chat"
    hold = {"gate": "Pods", "reason": "NoPods", "message": why, "since": "2026-11-29T12:00:00Z"}
    body = rollout(phase="Pending", message=f"0 of 0 pods serve v8; {why}", hold=hold)
    assert screen(body, ()).splitlines()[1:] == [
        f"0 of 0 pods serve v8; {why}",
        "HOLD NoPods   for 0 s",
    ]


@pytest.mark.parametrize(
    ("since", "shown"),
    [
        ("2026-11-29T11:59:56Z", "for 4 s"),
        ("2026-11-29T09:55:00Z", "for 2 h 5 min"),
        ("2026-11-26T10:00:00Z", "for 3 d 2 h"),
        ("2026-11-29T12:00:09Z", "for 0 s"),  # their clock is ahead of ours
        ("soon", ""),
    ],
)
def test_the_age_of_a_hold(since: str, shown: str) -> None:
    hold = {"gate": "Mode", "reason": "ModePaused", "message": "", "since": since, "pods": []}
    line = screen(rollout(phase="Paused", hold=hold), ()).splitlines()[1]
    assert line == f"HOLD ModePaused   {shown}".rstrip()


def test_a_fleet_that_a_trainer_drives_says_so_and_calls_nothing_outdated() -> None:
    body = rollout(
        phase="Complete",
        message="a trainer drives: 2 of 3 pods hold what it gave them; it holds chat-2 now",
        desired=V8,
        target=V8,
        stable=V7,
        pods={"selected": 3, "updated": 2},
        trainer={"drives": True, "serving": 1, "held": 1, "guard": "AutoPause"},
        conditions=[condition("Ready", "True")],
    )
    pods = (pod("chat-0", "412"), pod("chat-1", "v8"), pod("chat-2", "411", ready=False))
    assert screen(body, pods) == golden(
        """
        ROLLOUT chat   Complete   durable v8   2/3 updated
        a trainer drives: 2 of 3 pods hold what it gave them; it holds chat-2 now
        DRIVER a trainer   its versions on 1 pod   holds 1 pod now   guard AutoPause
        |-- v8   target, desired   sha256:8b8b8b8b8b8b..   (1 pod)
        |   `-- chat-1   Updated
        |-- 411   (1 pod)
        |   `-- chat-2   Out
        `-- 412   (1 pod)
            `-- chat-0   Updated
        """
    )
