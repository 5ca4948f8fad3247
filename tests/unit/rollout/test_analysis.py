"""What measurements lead to, case by case."""

from typing import Any

import pytest
from pydantic import ValidationError

from weightrollout.api.analysis import Analysis
from weightrollout.api.reasons import MeasurementReason as Why
from weightrollout.api.status import AnalysisOutcome as Ends
from weightrollout.api.status import AnalysisStatus
from weightrollout.api.status import MeasurementOutcome as Is
from weightrollout.rollout.analysis import (
    MOST_ANALYSES,
    MOST_MEASUREMENTS,
    begun,
    counted,
    key_of,
    left_behind,
    outcome_of,
    with_entry,
)
from weightrollout.rollout.arguments import Arguments, fill_in
from weightrollout.rollout.fleet import Measurement

G, B, N = Is.SUCCESSFUL, Is.FAILED, Is.INCONCLUSIVE


def analysis(**fields: Any) -> Analysis:
    return Analysis.model_validate({"webhook": {"url": "http://judge/"}, **fields})


def bounded(**bounds: float) -> Analysis:
    return Analysis.model_validate({"prometheus": {"query": "up", **bounds}})


def answers(given: Analysis, *said: Is) -> AnalysisStatus:
    entry = begun(given, "9f31", 1, "t=0")
    for number, word in enumerate(said, start=1):
        measurement = Measurement(key_of(entry), number, float(number), said=word)
        entry = counted(entry, given, measurement, f"t={number}")
    return entry


@pytest.mark.parametrize(
    ("fields", "said", "ends"),
    [
        ({}, [], Ends.RUNNING),
        ({}, [G], Ends.SUCCESSFUL),
        ({}, [B], Ends.FAILED),
        ({}, [N], Ends.RUNNING),
        ({}, [N, N, N], Ends.RUNNING),
        ({}, [N, N, N, N], Ends.INCONCLUSIVE),
        ({}, [N, N, N, G], Ends.SUCCESSFUL),
        ({"inconclusiveLimit": 0}, [N], Ends.INCONCLUSIVE),
        ({"count": 3}, [G, G], Ends.RUNNING),
        ({"count": 3}, [G, G, G], Ends.SUCCESSFUL),
        ({"count": 3}, [G, G, B], Ends.FAILED),
        ({"count": 3}, [N, G, N, G, N], Ends.RUNNING),
        ({"count": 3, "failureLimit": 1}, [B, G, G], Ends.SUCCESSFUL),
        ({"count": 3, "failureLimit": 1}, [B, B], Ends.FAILED),
        ({"count": 3, "failureLimit": 2}, [B, B], Ends.RUNNING),
        ({"count": 3, "failureLimit": 2}, [B, B, B], Ends.FAILED),
        ({"count": 3, "failureLimit": 2}, [B, B, G], Ends.SUCCESSFUL),
        ({"count": 2, "inconclusiveLimit": 1000}, [N] * 500, Ends.RUNNING),
    ],
)
def test_answers_lead_to(fields: dict[str, Any], said: list[Is], ends: Ends) -> None:
    assert answers(analysis(**fields), *said).outcome is ends


@pytest.mark.parametrize("ended", [[G], [B], [N] * 4])
@pytest.mark.parametrize("later", [G, B, N])
def test_what_ended_never_changes(ended: list[Is], later: Is) -> None:
    assert answers(analysis(), *ended, later) == answers(analysis(), *ended)


@pytest.mark.parametrize(
    ("bounds", "value", "found"),
    [
        ({"max": 1}, 1.0, (G, Why.WITHIN_BOUNDS)),
        ({"max": 1}, 1.1, (B, Why.OUT_OF_BOUNDS)),
        ({"max": 1}, -99.0, (G, Why.WITHIN_BOUNDS)),
        ({"min": 1}, 1.0, (G, Why.WITHIN_BOUNDS)),
        ({"min": 1}, 0.9, (B, Why.OUT_OF_BOUNDS)),
        ({"min": 1}, 99.0, (G, Why.WITHIN_BOUNDS)),
        ({"min": 0}, -0.1, (B, Why.OUT_OF_BOUNDS)),
        ({"max": 0}, 0.0, (G, Why.WITHIN_BOUNDS)),
        ({"min": 1, "max": 2}, 1.5, (G, Why.WITHIN_BOUNDS)),
        ({"min": 1, "max": 2}, 3.0, (B, Why.OUT_OF_BOUNDS)),
        ({"min": 1, "max": 2}, 0.0, (B, Why.OUT_OF_BOUNDS)),
        ({"max": 1, "failAbove": 2}, 1.5, (N, Why.BETWEEN_BOUNDS)),
        ({"max": 1, "failAbove": 2}, 2.0, (N, Why.BETWEEN_BOUNDS)),
        ({"max": 1, "failAbove": 2}, 2.1, (B, Why.OUT_OF_BOUNDS)),
        ({"min": 1, "failBelow": 0}, 0.5, (N, Why.BETWEEN_BOUNDS)),
        ({"min": 1, "failBelow": 0}, -0.5, (B, Why.OUT_OF_BOUNDS)),
        ({"min": 0, "max": 1, "failAbove": 9}, -1.0, (B, Why.OUT_OF_BOUNDS)),
        ({"min": 0, "max": 1, "failAbove": 9}, 5.0, (N, Why.BETWEEN_BOUNDS)),
    ],
)
def test_a_value_is_judged_by_its_bounds(
    bounds: dict[str, float], value: float, found: tuple[Is, Why]
) -> None:
    assert outcome_of(Measurement("k", 1, 0.0, value), bounded(**bounds)) == found


def test_no_value_says_nothing_whatever_the_bounds_are() -> None:
    missing = Measurement("k", 1, 0.0, reason=Why.NO_DATA)
    assert outcome_of(missing, bounded(min=-1e9, max=1e9)) == (N, Why.NO_DATA)


@pytest.mark.parametrize(
    "other",
    [
        Measurement("9f31/1", 1, 9.0, said=B),  # seen again
        Measurement("9f31/1", 3, 9.0, said=B),  # of a leader that was ahead
        Measurement("9f31/0", 2, 9.0, said=B),  # of the step before
        Measurement("0000/1", 2, 9.0, said=B),  # of other steps
        None,
    ],
)
def test_only_the_answer_to_its_next_question_is_counted(other: Measurement | None) -> None:
    given = analysis(count=5)
    entry = answers(given, G)
    assert counted(entry, given, other, "t=9") == entry


def test_results_are_bounded() -> None:
    given = analysis(count=50)
    entry = answers(given, *[G] * 40)
    assert len(entry.measurements) == MOST_MEASUREMENTS
    assert entry.measurements[0].time == "t=40"
    assert entry.taken == 40
    long = Measurement(key_of(entry), 41, 0.0, said=G, message="x" * 10_000)
    assert len(counted(entry, given, long, "t").measurements[0].message) <= 256
    entries: tuple[AnalysisStatus, ...] = ()
    for index in range(32):
        entries = with_entry(entries, begun(given, "9f31", index, "t"))
    assert [each.index for each in entries] == list(range(31, 31 - MOST_ANALYSES, -1))


def test_one_that_a_person_left_is_skipped_and_one_that_ended_is_not() -> None:
    given = analysis()
    entries = (begun(given, "9f31", 2, "t"), answers(given, B), begun(given, "9f31", 0, "t"))
    assert [each.outcome for each in left_behind(entries, 2)] == [
        *(Ends.RUNNING, Ends.FAILED, Ends.SKIPPED)
    ]


ARGUMENTS = Arguments("chat", "team", "chat-1", "b-1.2", "default", ("chat-1", "chat.0"), ())


@pytest.mark.parametrize(
    ("query", "filled"),
    [
        ('x{v="$(version)"}', 'x{v="b-1.2"}'),
        ('x{v="$(previousVersion)"}', 'x{v="default"}'),
        ('x{pod=~"$(pods)"}', 'x{pod=~"chat-1|chat[.]0"}'),
        ('x{pod=~"$(previousPods)"}', 'x{pod=~"-"}'),
        ("$(name) $(namespace) $(name)", "chat team chat"),
        ('x{a=~"^y$"} $x ($y)', 'x{a=~"^y$"} $x ($y)'),
    ],
)
def test_arguments_are_put_in(query: str, filled: str) -> None:
    assert fill_in(query, ARGUMENTS) == filled


@pytest.mark.parametrize("query", ["$(pod)", "$()", "$(pods", "$( pods)", "$(Version)"])
def test_an_argument_that_there_is_not_is_refused(query: str) -> None:
    with pytest.raises(ValidationError, match="is no argument"):
        Analysis.model_validate({"prometheus": {"query": query, "max": 1}})


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"prometheus": {"query": "up", "max": 1}, "webhook": {"url": "http://x/"}},
        {"prometheus": {"query": "up"}},
        {"prometheus": {"query": "", "max": 1}},
        {"prometheus": {"query": "up", "min": 2, "max": 1}},
        {"prometheus": {"query": "up", "max": 1, "failAbove": 0}},
        {"prometheus": {"query": "up", "max": 1, "failBelow": 0}},
        {"prometheus": {"query": "up", "min": 1, "failBelow": 2}},
        {"prometheus": {"query": "up", "max": float("nan")}},
        {"prometheus": {"query": "up", "max": float("inf")}},
        {"prometheus": {"query": "up", "max": 1, "address": "prometheus:9090"}},
        {"webhook": {"url": "http://user:pass@x/"}},
        {"webhook": {"url": "http://x y/"}},
        {"webhook": {"url": "file:///etc"}},
        {"webhook": {"url": "http://x/"}, "count": 2, "failureLimit": 2},
        {"webhook": {"url": "http://x/"}, "count": 0},
        {"webhook": {"url": "http://x/"}, "intervalSeconds": 0},
    ],
)
def test_an_analysis_that_could_not_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Analysis.model_validate(wrong)
