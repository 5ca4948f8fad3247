"""How a `View` looks: a tree for people, JSON for programs. Pure; ages come from the `now` given."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic.alias_generators import to_camel
from rich.text import Text

from weightrollout.cli.view import (
    AnalysisView,
    HoldView,
    Outcome,
    PodLine,
    PodState,
    StagingView,
    VersionGroup,
    View,
)

GAP: Final = "   "
DIGEST_SIGNS: Final = 19  # "sha256:" and 12 hex digits, enough to tell any two apart


@dataclass(frozen=True, slots=True)
class Glyphs:
    branch: str
    last: str
    trunk: str
    blank: str
    arrow: str


ASCII: Final = Glyphs("|-- ", "`-- ", "|   ", "    ", "->")
LINES: Final = Glyphs("├── ", "└── ", "│   ", "    ", "→")

_OUTCOME_STYLE: Final = {
    Outcome.COMPLETE: "green",
    Outcome.STALLED: "bold red",
    Outcome.UNDER_WAY: "yellow",
}
_ANALYSIS_STYLE: Final = {
    "Running": "cyan",
    "Successful": "green",
    "Failed": "bold red",
    "Inconclusive": "yellow",
}
_POD_STYLE: Final = {
    PodState.UPDATED: "green",
    PodState.SERVING: "",
    PodState.OUT: "yellow",
    PodState.STARTING: "cyan",
    PodState.ENDING: "dim",
}


def as_json(view: View, *, indent: int | None = 2) -> str:
    """The whole view; keys as in the WeightRollout's own status."""
    return json.dumps(_camel(dataclasses.asdict(view)), indent=indent)


def tree(view: View, now: datetime, glyphs: Glyphs) -> Text:
    """The screen of one moment. Its `plain` has no colour and no control characters."""
    rows = [_headline(view, glyphs)]
    if view.message:
        rows.append(Text(view.message))
    if view.hold is not None:
        rows.append(_hold(view.hold, now, said=view.message))
    if view.staging is not None:
        rows.append(_staging(view.staging))
    rows += [_analysis(each) for each in view.analysis]
    rows += _versions(view.versions, glyphs)
    return Text("\n").join(rows)


def _headline(view: View, glyphs: Glyphs) -> Text:
    row = Text.assemble(
        ("ROLLOUT ", "bold"),
        (view.name, "bold"),
        GAP,
        (view.phase, _OUTCOME_STYLE[view.outcome]),
    )
    parts = [_way(view, glyphs), f"{view.updated}/{view.selected} updated"]
    if view.pause_millis is not None:
        parts.append(f"paused {view.pause_millis.p99} ms (p99)")
    for part in filter(None, parts):
        row.append(GAP + part)
    return row


def _way(view: View, glyphs: Glyphs) -> str:
    """From where to where; a rollback is named as one."""
    desired, target, stable = view.desired, view.target, view.stable
    if target is None:
        return desired.version if desired else ""
    if desired is not None and desired.revision != target.revision:
        return f"{desired.version} {glyphs.arrow} {target.version} (rollback)"
    if stable is not None and stable.revision != target.revision:
        return f"{stable.version} {glyphs.arrow} {target.version}"
    return target.version


def _hold(hold: HoldView, now: datetime, *, said: str) -> Text:
    """`said`: what stands above it already."""
    row = Text.assemble(("HOLD ", "bold yellow"), (hold.reason, "yellow"))
    if age := _age(hold.since, now):
        row.append(f"{GAP}for {age}")
    if hold.message not in said:
        row.append(GAP + hold.message)
    return row


def _staging(staging: StagingView) -> Text:
    percent = 100 * staging.bytes // staging.total if staging.total else 0
    return Text(
        f"STAGING {percent} %{GAP}{_size(staging.bytes)} of {_size(staging.total)}"
        f"{GAP}on {_pods(staging.pods)}"
    )


def _analysis(said: AnalysisView) -> Text:
    dry = " (dry run)" if said.dry_run else ""
    row = Text.assemble(f"ANALYSIS step {said.step}{dry}{GAP}")
    row.append(said.outcome, _ANALYSIS_STYLE.get(said.outcome, ""))
    return row.append(GAP + said.message)


def _versions(groups: Sequence[VersionGroup], glyphs: Glyphs) -> Iterator[Text]:
    pods = [pod for group in groups for pod in group.pods]
    names = max((len(pod.name) for pod in pods), default=0)
    states = max((len(pod.state) for pod in pods), default=0)
    for number, group in enumerate(groups, 1):
        is_last = number == len(groups)
        yield _group(group, glyphs.last if is_last else glyphs.branch)
        stem = glyphs.blank if is_last else glyphs.trunk
        for place, pod in enumerate(group.pods, 1):
            joint = glyphs.last if place == len(group.pods) else glyphs.branch
            yield _pod(pod, stem + joint, names, states)


def _group(group: VersionGroup, joint: str) -> Text:
    row = Text.assemble(joint, (group.version or "no version yet", "bold"))
    parts = [", ".join(group.roles), _short(group.digest), f"({_pods(len(group.pods))})"]
    for part in filter(None, parts):
        row.append(GAP + part)
    return row


def _pod(pod: PodLine, joint: str, names: int, states: int) -> Text:
    row = Text.assemble(joint, pod.name.ljust(names), GAP)
    row.append(pod.state.ljust(states), _POD_STYLE[pod.state])
    if pod.reason:
        row.append(GAP + pod.reason)
    if pod.message:
        row.append(f": {pod.message}")
    row.rstrip()
    return row


def _short(digest: str | None) -> str:
    if digest is None:
        return ""
    return digest if len(digest) <= DIGEST_SIGNS else f"{digest[:DIGEST_SIGNS]}.."


def _pods(count: int) -> str:
    return f"{count} pod" if count == 1 else f"{count} pods"


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    amount = float(count)
    for unit in ("KiB", "MiB"):
        amount /= 1024
        if amount < 1024:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1024:.1f} GiB"


def _age(since: str, now: datetime) -> str:
    """The two largest units; "" where the time cannot be read."""
    try:
        then = datetime.fromisoformat(since)
    except ValueError:
        return ""
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    seconds = max(int((now - then) / timedelta(seconds=1)), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    if minutes:
        return f"{minutes} min {seconds % 60} s"
    return f"{seconds} s"


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(key): _camel(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_camel(each) for each in value]
    return value
