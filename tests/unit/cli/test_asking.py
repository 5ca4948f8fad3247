"""A verb names what the person saw, so that it is Stale and not dangerous anywhere else."""

from datetime import UTC, datetime

import pytest

from sights import V7, V8, rollout
from weightrollout.api.reasons import HoldGate
from weightrollout.cli.access import NotPossible
from weightrollout.cli.asking import Answer, abort_of, desired, exit_of_answer, told, worked_on
from weightrollout.cli.exits import Exit
from weightrollout.cli.forecast import Live, forecast
from weightrollout.cli.view import view_of
from weightrollout.cli.why import ENDS, Source, why_of
from weightrollout.reading import read_spec
from weightrollout.rollout.verbs import VerbName, parse, spell


def test_abort_names_what_runs_and_in_a_way_back_what_was_left() -> None:
    running = view_of(rollout(phase="Progressing", desired=V8, target=V7), ())  # v8 is queued
    assert worked_on(running).revision == V7["revision"]
    left = view_of(rollout(phase="RollingBack", desired=V8, target=V7), ())
    assert worked_on(left).revision == V8["revision"]
    assert abort_of(left, "n1") == f"abort:{V8['revision']}@n1"


def test_without_a_status_there_is_nothing_to_steer() -> None:
    with pytest.raises(NotPossible, match="does an operator run"):
        worked_on(view_of(rollout(), ()))
    with pytest.raises(NotPossible, match="nothing is desired"):
        desired(view_of(rollout(phase="Pending"), ()))


def test_a_status_of_a_newer_operator_is_steered_too() -> None:
    body = rollout(phase="Paused", target={**V8, "of-tomorrow": 1}, desired=V8, novelty={"a": 1})
    assert worked_on(view_of(body, ())).revision == V8["revision"]


@pytest.mark.parametrize(
    ("name", "step", "full"),
    [
        (VerbName.PROMOTE, "", False),
        (VerbName.PROMOTE, "1.9f31", False),
        (VerbName.PROMOTE, "", True),
        (VerbName.ABORT, "", False),
        (VerbName.RETRY, "", False),
    ],
)
def test_what_is_written_is_what_the_planner_reads(name: VerbName, step: str, full: bool) -> None:
    verb = parse(spell(name, "chat-1a2b3c4d5e", "0a1b2c", step=step, full=full))
    assert verb is not None
    assert (verb.name, verb.revision, verb.full) == (name, "chat-1a2b3c4d5e", full)
    assert (verb.step, verb.hash) == ((1, "9f31") if step else (None, ""))


@pytest.mark.parametrize(
    ("outcome", "waited", "code", "said"),
    [
        ("Accepted", True, Exit.COMPLETE, "accepted: step 2 of 4 is left"),
        ("Stale", True, Exit.STALLED, "not done (Stale): step 2 of 4 is left"),
        ("", True, Exit.UNDER_WAY, "no answer within 30 s"),
        ("", False, Exit.COMPLETE, "asked"),
    ],
)
def test_the_answer_is_told_and_so_is_that_there_is_none(
    outcome: str, waited: bool, code: Exit, said: str
) -> None:
    answer = Answer("chat", "promote", "x", outcome, "step 2 of 4 is left")
    assert exit_of_answer(answer, waited=waited) is code
    assert said in told(answer, 30.0 if waited else 0.0).plain


def test_explain_says_which_rules_are_the_objects_and_which_the_profiles() -> None:
    body = rollout()
    body["spec"] |= {
        "profile": "Training",
        "swap": {"takeOut": "Endpoint", "pauseMode": "Keep"},
    }
    live, spec = Live(body, (), (), None), read_spec(body)
    why = why_of(live, spec, forecast(live, spec), datetime(2026, 11, 29, tzinfo=UTC))
    told = {each.field: (each.value, each.source) for each in why.policy}
    assert told["profile"] == ("Training", Source.OBJECT)
    assert told["swap.takeOut"] == ("Endpoint", Source.OBJECT)
    assert told["swap.drainSeconds"] == ("0", Source.PROFILE)
    assert told["strategy.supersede"] == ("AfterComplete", Source.PROFILE)
    assert told["strategy.maxFailed"][1] is Source.DEFAULT


def test_explain_knows_who_ends_every_hold() -> None:
    assert set(ENDS) == set(HoldGate)
