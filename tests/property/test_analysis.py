"""An analysis is the same whenever passes come, whoever leads, and however often an answer is seen."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.api.analysis import Analysis
from weightrollout.api.status import AnalysisOutcome, AnalysisStatus, MeasurementOutcome
from weightrollout.rollout.analysis import begun, counted, judge, key_of
from weightrollout.rollout.fleet import Measurement

WORDS = st.lists(st.sampled_from(MeasurementOutcome), max_size=30)


@st.composite
def analyses(draw: st.DrawFn) -> Analysis:
    count = draw(st.integers(1, 8))
    return Analysis.model_validate(
        {
            "webhook": {"url": "http://judge/"},
            "count": count,
            "failureLimit": draw(st.integers(0, count - 1)),
            "inconclusiveLimit": draw(st.integers(0, 5)),
        }
    )


def in_order(analysis: Analysis, words: list[MeasurementOutcome]) -> AnalysisStatus:
    entry = begun(analysis, "9f31", 1, "t")
    for number, word in enumerate(words, start=1):
        entry = counted(entry, analysis, Measurement(key_of(entry), number, 0.0, said=word), "t")
    return entry


@settings(deadline=None)
@given(analyses(), WORDS, st.data())
def test_order_and_number_of_passes_are_nothing_to_it(
    analysis: Analysis, words: list[MeasurementOutcome], data: st.DataObject
) -> None:
    """Old answers come back, those of others come in between, and a leader that read an older status
    asks a question again."""
    entry = begun(analysis, "9f31", 1, "t")
    known = [
        Measurement(key_of(entry), number, 0.0, said=word)
        for number, word in enumerate(words, start=1)
    ]
    while entry.outcome is AnalysisOutcome.RUNNING and entry.taken < len(known):
        seen = data.draw(st.sampled_from([*known[: entry.taken + 1], None]))
        if seen is not None and data.draw(st.booleans()):
            seen = replace(
                seen, analysis=data.draw(st.sampled_from([seen.analysis, "0/1", "9f31/0"]))
            )
        entry = counted(entry, analysis, seen, "t")
        entry = AnalysisStatus.model_validate(entry.model_dump(mode="json", by_alias=True))
    assert entry == in_order(analysis, words)


@settings(deadline=None)
@given(analyses(), WORDS, WORDS)
def test_what_ended_stays_and_every_analysis_ends(
    analysis: Analysis, words: list[MeasurementOutcome], more: list[MeasurementOutcome]
) -> None:
    entry = in_order(analysis, words)
    assert entry.outcome is judge(entry, analysis)
    if entry.outcome is not AnalysisOutcome.RUNNING:
        assert in_order(analysis, words + more) == entry
    most = analysis.count + analysis.inconclusive_limit
    assert entry.taken <= most


@settings(deadline=None)
@given(analyses(), WORDS)
def test_nothing_is_promoted_that_nobody_measured(
    analysis: Analysis, words: list[MeasurementOutcome]
) -> None:
    entry = in_order(analysis, words)
    if entry.outcome is AnalysisOutcome.SUCCESSFUL:
        assert entry.successful >= analysis.count - analysis.failure_limit >= 1
    if entry.outcome is AnalysisOutcome.FAILED:
        assert entry.failed == analysis.failure_limit + 1
