"""Who has to do something: nobody is sent for where it goes on by itself."""

from datetime import UTC, datetime

import pytest

from sights import V7, asked, condition, rollout, swapped
from weightrollout.cli.forecast import Live, forecast
from weightrollout.cli.why import OPERATOR, YOU, Why, why_of
from weightrollout.reading import read_spec

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


def held_at_a_step(reason: str) -> Why:
    body = rollout(
        phase="Progressing",
        desired=asked(),
        target=asked(),
        stable=V7,
        pods={"selected": 2, "updated": 1},
        hold={"gate": "Step", "reason": reason, "message": "step 2 of 2", "since": ""},
        conditions=[condition("Ready", "False")],
    )
    pods = (swapped("chat-0", asked()), swapped("chat-1", V7))
    live = Live(body, (), pods, None)
    spec = read_spec(body)
    return why_of(live, spec, forecast(live, spec), NOW)


@pytest.mark.parametrize("reason", ["AnalysisRunning", "StepTimed"])
def test_a_step_that_ends_by_itself_waits_for_the_operator(reason: str) -> None:
    why = held_at_a_step(reason)
    assert why.waits_for == OPERATOR
    assert "at once with 'kubectl weightrollout promote chat'" in why.ends
    assert "you say so" not in why.when


@pytest.mark.parametrize("reason", ["AnalysisInconclusive", "StepPaused"])
def test_a_step_that_a_person_must_leave_waits_for_you(reason: str) -> None:
    why = held_at_a_step(reason)
    assert (why.waits_for, why.when) == (YOU, "not before you say so")
