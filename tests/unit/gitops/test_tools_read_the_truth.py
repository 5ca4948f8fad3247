"""kstatus (Flux, Helm, kpt) and Argo CD say about each state what a person would say."""

import pytest

from gitops.judge import Judgement, judged
from gitops.objects import Recorded, recorded
from weightrollout.api.status import Phase

Judgements = dict[str, tuple[Recorded, Judgement]]

SAID = {
    "just applied": ("InProgress", "Progressing"),
    "no pods": ("InProgress", "Progressing"),
    "pods that start": ("InProgress", "Progressing"),
    "pods that move": ("InProgress", "Progressing"),
    "a person's pause": ("InProgress", "Suspended"),
    "a step that waits for a person": ("InProgress", "Suspended"),
    "a step that waits for time": ("InProgress", "Progressing"),
    "an analysis that nobody answers": ("InProgress", "Suspended"),
    "suspended": ("InProgress", "Suspended"),
    "complete": ("Current", "Healthy"),
    "scaled to zero": ("Current", "Healthy"),
    "on its way back": ("InProgress", "Progressing"),
    "rolled back": ("Failed", "Degraded"),
    "held after a failure": ("Failed", "Degraded"),
    "a way back that failed": ("Failed", "Degraded"),
    "a version with another digest": ("Failed", "Degraded"),
    "a spec that nobody can read": ("Failed", "Degraded"),
    "a newer spec, not seen yet": ("InProgress", "Progressing"),
    "being deleted": ("Terminating", "Progressing"),
}


def test_every_state_is_recorded_and_every_phase_occurs() -> None:
    assert [each.name for each in recorded()] == list(SAID)
    assert {each.phase for each in recorded()} == {None, *Phase}


@pytest.mark.parametrize("name", SAID)
def test_tools_say_what_is_the_case(judgements: Judgements, name: str) -> None:
    _, said = judgements[name]
    assert (said.kstatus, said.argo) == SAID[name]


def test_none_says_done_before_it_is_and_both_say_it_then(judgements: Judgements) -> None:
    for name, (object_, said) in judgements.items():
        done = object_.is_done and name != "being deleted"
        assert (said.kstatus == "Current", said.argo == "Healthy") == (done, done), name


def test_a_failure_and_a_pause_are_told_with_the_way_on(judgements: Judgements) -> None:
    assert "publish a new version" in judgements["rolled back"][1].argo_message
    paused = judgements["a step that waits for a person"][1].argo_message
    assert "kubectl weightrollout promote chat" in paused


def test_without_the_default_of_the_status_kstatus_would_say_done_too_early(
    judgements: Judgements,
) -> None:
    """The reason for it: where this changes upstream, it can go."""
    bare = {
        key: value for key, value in judgements["just applied"][0].body.items() if key != "status"
    }
    (said,) = judged([bare])
    assert (said.kstatus, said.argo) == ("Current", "Progressing")
