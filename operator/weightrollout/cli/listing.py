"""All WeightRollouts at a glance: one line each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from weightrollout.cli.render import OUTCOME_STYLE
from weightrollout.cli.table import Cell, table
from weightrollout.cli.view import Json, Outcome, view_of
from weightrollout.cli.words import age


@dataclass(frozen=True, slots=True)
class Line:
    namespace: str
    name: str
    outcome: Outcome
    phase: str
    version: str
    updated: int
    selected: int
    step: str  # such as 2/4; "" without steps
    hold: str  # its reason; "" where nothing holds it
    pause_p99_millis: int | None
    since: str  # of the hold, else of its creation; RFC 3339
    message: str


def lines_of(bodies: Iterable[Json]) -> tuple[Line, ...]:
    return tuple(
        sorted((_line(each) for each in bodies), key=lambda line: (line.namespace, line.name))
    )


def _line(body: Json) -> Line:
    view = view_of(body, ())
    step = view.step
    weights = (body.get("spec") or {}).get("weights") or {}
    return Line(
        namespace=view.namespace,
        name=view.name,
        outcome=view.outcome,
        phase=view.phase,
        version=weights.get("version", ""),
        updated=view.updated,
        selected=view.selected,
        step=f"{min(step.index + 1, step.of)}/{step.of}" if step else "",
        hold=view.hold.reason if view.hold else "",
        pause_p99_millis=view.pause_millis.p99 if view.pause_millis else None,
        since=view.hold.since if view.hold else body["metadata"].get("creationTimestamp", ""),
        message=view.message,
    )


def screen_of(lines: Sequence[Line], now: datetime, *, namespaces: bool, width: int | None) -> Text:
    """`namespaces`: they differ, so each line says its own."""
    heads = ("NAMESPACE", "NAME", "VERSION", "PHASE", "UPDATED", "STEP", "PAUSE", "FOR", "HOLD")
    rows = [
        (
            Cell(line.namespace if namespaces else ""),
            Cell(line.name),
            Cell(line.version),
            Cell(line.phase, OUTCOME_STYLE[line.outcome]),
            Cell(f"{line.updated}/{line.selected}"),
            Cell(line.step),
            Cell("" if line.pause_p99_millis is None else f"{line.pause_p99_millis} ms"),
            Cell(age(line.since, now)),
            Cell(line.hold, "yellow"),
        )
        for line in lines
    ]
    return table(heads, rows, width, spare=("PAUSE", "FOR", "STEP", "VERSION"))
