"""kstatus (Flux, Helm, kpt) and Argo CD say about each state what a person would say."""

import re
from pathlib import Path

import pytest

from gitops.judge import Judgement, judged
from gitops.objects import Recorded, recorded
from weightrollout.api.status import Phase

Judgements = dict[str, tuple[Recorded, Judgement]]

PAPER = Path(__file__).resolve().parents[3] / "docs" / "gitops.md"
_ROW = re.compile(r"\| ([a-z][^|]+) \| (\w+) \| (\w+) \|")

#: What is the case -> what kstatus and Argo CD say, as the documentation promises it.
SAID = {name: (kstatus, argo) for name, kstatus, argo in _ROW.findall(PAPER.read_text())}


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
