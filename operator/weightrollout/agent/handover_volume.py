"""What the plugin has left in the handover volume: reports, and answers to earlier swaps. Blocks."""

import logging
from dataclasses import dataclass
from pathlib import Path

from weightrollout.agent.reasons import IncompatibleReason
from weightrollout.handover import records
from weightrollout.handover.records import EngineReport, HandoverError, Prepared, Receipt
from weightrollout.weights.preflight import Refusal

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reports:
    """What the plugin's ranks wrote about their engine."""

    reports: tuple[EngineReport, ...]  # all readable ones, by rank
    unreadable: str = ""  # why the first other one is not, for people

    def explained(self, refusal: Refusal | None) -> Refusal | None:
        """A plugin of another release did write a report, and an agent that cannot read it must say so."""
        if refusal is None or not self.unreadable:
            return refusal
        if refusal.reason not in ("NoEngineReport", "RanksMissing"):
            return refusal
        return Refusal(IncompatibleReason.ENGINE_REPORT_UNREADABLE, self.unreadable)


def reports_in(handover: Path) -> Reports:
    """Blocks."""
    reports, unreadable = [], ""
    for path in sorted(_found(handover, "report-rank*.json") or ()):
        try:
            report = records.read(EngineReport, path)
        except (HandoverError, OSError) as error:
            log.warning("%s ignored: %s", path.name, error)
            unreadable = unreadable or f"{path.name}: {error}"
            continue
        if report is not None:
            reports.append(report)
    return Reports(tuple(sorted(reports, key=lambda report: report.rank)), unreadable)


def read_reports(handover: Path) -> tuple[EngineReport, ...]:
    """All readable reports, by rank. Blocks."""
    return reports_in(handover).reports


def was_visited(handover: Path, instance: str) -> bool:
    """Whether this process's plugin has answered a swap. It removes all answers when it starts."""
    prepared, receipts = _found(handover, "prepared-*.json"), _found(handover, "receipt-*.json")
    if prepared is None or receipts is None:
        return True  # nobody can say that it was not
    return any(_is_of(Prepared, path, instance) for path in prepared) or any(
        _is_of(Receipt, path, instance) for path in receipts
    )


def _found(handover: Path, pattern: str) -> list[Path] | None:
    """None: the volume cannot be listed."""
    try:
        return list(handover.glob(pattern))
    except OSError as error:
        log.warning("%s cannot be listed: %s", handover, error)
        return None


def _is_of(kind: type[Prepared] | type[Receipt], path: Path, instance: str) -> bool:
    try:
        record = records.read(kind, path)
    except (HandoverError, OSError):
        return True  # something was written that nobody understands
    return record is not None and record.instance == instance
