"""What measurements say about a canary, and when the next one is due.

    Successful     `count` answers, of which at most failureLimit were bad
    Failed         one bad answer more: the weights are refuted, as by a check of their own
    Inconclusive   more than inconclusiveLimit questions without an answer: a person promotes or aborts

What cannot be asked, is not answered or has no data says nothing about the weights. It is never
taken for a bad answer, so that an outage of the monitoring rolls nothing back, and never for a good
one, so that no version is promoted because nobody looked.

Measurements are numbered. Only the one that comes next is counted, once, however often it is seen;
so the order of passes is nothing to it, and what ended never changes. Entries live in the memory of
a leader and in `status.analysis`, from where the next leader goes on. They belong to one hash of
revision, try and steps: other steps begin again.
"""

from typing import Final

from weightrollout.api.analysis import Analysis, Prometheus
from weightrollout.api.reasons import MeasurementReason
from weightrollout.api.status import (
    AnalysisOutcome,
    AnalysisStatus,
    MeasurementOutcome,
    MeasurementStatus,
)
from weightrollout.rollout.actions import AskPrometheus, Measure, PostWebhook
from weightrollout.rollout.arguments import Arguments, fill_in
from weightrollout.rollout.fleet import Fleet, Measurement

MOST_ANALYSES: Final = 10
MOST_MEASUREMENTS: Final = 5
LONGEST_MESSAGE: Final = 256


def entries_of(fleet: Fleet, step_hash: str) -> tuple[AnalysisStatus, ...]:
    """Of this canary. The memory is ahead of the status until that is written and read again."""
    for entries in (fleet.memory.analysis, fleet.status.analysis):
        mine = tuple(each for each in entries if each.hash == step_hash)
        if mine:
            return mine
    return ()


def last_entries(fleet: Fleet) -> tuple[AnalysisStatus, ...]:
    """Where no canary is under way: those of the last one, so that a rejection can be read."""
    return (fleet.memory.analysis or fleet.status.analysis) if fleet.spec.strategy.steps else ()


def entry_of(entries: tuple[AnalysisStatus, ...], index: int) -> AnalysisStatus | None:
    return next((each for each in entries if each.index == index), None)


def begun(analysis: Analysis, step_hash: str, index: int, wall: str) -> AnalysisStatus:
    entry = AnalysisStatus(
        index=index,
        hash=step_hash,
        outcome=AnalysisOutcome.RUNNING,
        dry_run=analysis.dry_run,
        since=wall,
    )
    return entry.model_copy(update={"message": told(entry, analysis, entry.outcome)})


def has_ended(entry: AnalysisStatus) -> bool:
    return entry.outcome is not AnalysisOutcome.RUNNING


def with_entry(
    entries: tuple[AnalysisStatus, ...], entry: AnalysisStatus
) -> tuple[AnalysisStatus, ...]:
    """Newest first, at most ten."""
    others = tuple(each for each in entries if each.index != entry.index)
    ordered = sorted((*others, entry), key=lambda each: each.index, reverse=True)
    return tuple(ordered[:MOST_ANALYSES])


def left_behind(entries: tuple[AnalysisStatus, ...], index: int) -> tuple[AnalysisStatus, ...]:
    """One that runs at a step that is passed by now was left by a person."""
    return tuple(
        each.model_copy(
            update={"outcome": AnalysisOutcome.SKIPPED, "message": "promoted by a person"}
        )
        if each.index < index and each.outcome is AnalysisOutcome.RUNNING
        else each
        for each in entries
    )


def key_of(entry: AnalysisStatus) -> str:
    """Names the analysis that a measurement is for."""
    return f"{entry.hash}/{entry.index}"


def counted(
    entry: AnalysisStatus, analysis: Analysis, measurement: Measurement | None, wall: str
) -> AnalysisStatus:
    """With the measurement, if it is the next of this one and it runs; else as it was."""
    if measurement is None or measurement.analysis != key_of(entry):
        return entry
    if has_ended(entry) or measurement.number != entry.taken + 1:
        return entry
    outcome, reason = outcome_of(measurement, analysis)
    seen = MeasurementStatus(
        outcome=outcome,
        value=measurement.value,
        reason=reason,
        message=measurement.message[:LONGEST_MESSAGE],
        time=wall,
    )
    tally = outcome.value.lower()
    entry = entry.model_copy(
        update={
            tally: getattr(entry, tally) + 1,
            "measurements": (seen, *entry.measurements)[:MOST_MEASUREMENTS],
        }
    )
    ended = judge(entry, analysis)
    return entry.model_copy(update={"outcome": ended, "message": told(entry, analysis, ended)})


def judge(entry: AnalysisStatus, analysis: Analysis) -> AnalysisOutcome:
    """By the tallies alone."""
    if entry.failed > analysis.failure_limit:
        return AnalysisOutcome.FAILED
    if entry.inconclusive > analysis.inconclusive_limit:
        return AnalysisOutcome.INCONCLUSIVE
    if entry.successful + entry.failed >= analysis.count:
        return AnalysisOutcome.SUCCESSFUL
    return AnalysisOutcome.RUNNING


def outcome_of(measurement: Measurement, analysis: Analysis) -> tuple[MeasurementOutcome, str]:
    """Outcome and reason of one. Without a value or a word it is Inconclusive, by its own reason."""
    if measurement.said is not None:
        return measurement.said, measurement.reason or MeasurementReason.SAID
    if measurement.value is None or analysis.prometheus is None:
        return MeasurementOutcome.INCONCLUSIVE, measurement.reason
    return _against(measurement.value, analysis.prometheus)


def _against(value: float, bounds: Prometheus) -> tuple[MeasurementOutcome, str]:
    good = (bounds.min is None or value >= bounds.min) and (
        bounds.max is None or value <= bounds.max
    )
    if good:
        return MeasurementOutcome.SUCCESSFUL, MeasurementReason.WITHIN_BOUNDS
    lowest = bounds.fail_below if bounds.fail_below is not None else bounds.min
    highest = bounds.fail_above if bounds.fail_above is not None else bounds.max
    if (lowest is not None and value < lowest) or (highest is not None and value > highest):
        return MeasurementOutcome.FAILED, MeasurementReason.OUT_OF_BOUNDS
    return MeasurementOutcome.INCONCLUSIVE, MeasurementReason.BETWEEN_BOUNDS


def next_due(entry: AnalysisStatus, analysis: Analysis, fleet: Fleet, began_at: float) -> float:
    """Fleet.now seconds of the next measurement. The clock of a new leader starts again.

    `began_at`: when this leader saw the step begin.
    """
    if entry.taken == 0:
        return began_at + analysis.initial_delay_seconds
    last = fleet.measurement
    mine = last is not None and last.analysis == key_of(entry)
    at = last.at if mine and last is not None else began_at
    return at + analysis.interval_seconds


def next_question(entry: AnalysisStatus, analysis: Analysis, arguments: Arguments) -> Measure:
    number = entry.taken + 1
    question: AskPrometheus | PostWebhook
    if analysis.prometheus is not None:
        asked = analysis.prometheus
        question = AskPrometheus(asked.address, fill_in(asked.query, arguments))
    else:
        assert analysis.webhook is not None, "the type has exactly one of them"
        question = PostWebhook(analysis.webhook.url, arguments)
    message = f"question {number} about {arguments.version}"
    return Measure(key_of(entry), number, arguments.revision, question, "MeasurementDue", message)


def told(entry: AnalysisStatus, analysis: Analysis, outcome: AnalysisOutcome) -> str:
    """One line for people."""
    answers = entry.successful + entry.failed
    newest = f"; newest: {_shown(entry.measurements[0], analysis)}" if entry.measurements else ""
    match outcome:
        case AnalysisOutcome.FAILED:
            return f"{entry.failed} of {answers} answers bad, failureLimit is {analysis.failure_limit}{newest}"
        case AnalysisOutcome.INCONCLUSIVE:
            return (
                f"{entry.inconclusive} questions without an answer, inconclusiveLimit is"
                f" {analysis.inconclusive_limit}{newest}"
            )
        case _:
            without = f", {entry.inconclusive} without an answer" if entry.inconclusive else ""
            return f"{answers} of {analysis.count} answers, {entry.failed} bad{without}{newest}"


def _shown(seen: MeasurementStatus, analysis: Analysis) -> str:
    if seen.value is not None:
        return f"{seen.value:g}{_bounds(analysis)}"
    return f"{seen.reason}: {seen.message}" if seen.message else seen.reason


def _bounds(analysis: Analysis) -> str:
    if analysis.prometheus is None:
        return ""
    named = (("min", analysis.prometheus.min), ("max", analysis.prometheus.max))
    given = [f"{name} {bound:g}" for name, bound in named if bound is not None]
    return f" ({', '.join(given)})"
