"""How the `View` of one rollout looks: a tree. Pure; ages come from the `now` given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from weightrollout.api.status import ActionOutcome
from weightrollout.cli.view import (
    OVER,
    ActionView,
    AnalysisView,
    HoldView,
    Outcome,
    PodLine,
    PodState,
    StagingView,
    StepView,
    TrainerView,
    VersionGroup,
    View,
)
from weightrollout.cli.words import NARROW, age, cut, pods, short, size

GAP: Final = "   "
FEW: Final = 20  # pods of one version that are shown one by one
BAR: Final = 40  # signs


@dataclass(frozen=True, slots=True)
class Glyphs:
    branch: str
    last: str
    trunk: str
    blank: str
    arrow: str
    full: str
    empty: str


ASCII: Final = Glyphs("|-- ", "`-- ", "|   ", "    ", "->", "#", ".")
LINES: Final = Glyphs("├── ", "└── ", "│   ", "    ", "→", "█", "░")

OUTCOME_STYLE: Final = {
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


@dataclass(frozen=True, slots=True)
class Paper:
    """What a screen is drawn on. `width` None: a pipe, which gets every word on one line."""

    glyphs: Glyphs
    width: int | None = None
    all_pods: bool = False  # each on a line of its own, however many there are
    few: int = FEW


def tree(view: View, now: datetime, paper: Paper) -> Text:
    """The screen of one moment. Its `plain` has no colour and no control characters."""
    rows = [_headline(view, paper.glyphs)]
    if view.message:
        rows.append(Text(view.message))
    if view.hold is not None:
        rows.append(_hold(view.hold, now, said=view.message))
    if view.trainer is not None and (view.driven or view.trainer.held or view.trainer.serving):
        rows.append(_trainer(view.trainer))
    if view.staging is not None:
        rows.append(_staging(view.staging))
    if view.last_action is not None and not _is_past(view, view.last_action):
        rows.append(_action(view.last_action, now))
    rows += [_analysis(each) for each in view.analysis]
    rows = [wrapped(row, paper.width) for row in rows]
    if paper.width is not None and view.selected:
        rows.insert(1, Text(bar(view.updated, view.selected, paper), OUTCOME_STYLE[view.outcome]))
    shown = list(_versions(view.versions, paper))
    if len(shown) < len(view.versions) + sum(len(group.pods) for group in view.versions):
        shown.append(Text("--all-pods names each pod", "dim"))
    for row in shown:
        if paper.width is not None:
            row.truncate(paper.width, overflow="ellipsis")
        rows.append(row)
    return Text("\n").join(rows)


def wrapped(row: Text, width: int | None, indent: int = len(GAP)) -> Text:
    """Between words, with what follows set in, so that the eye finds where the next line begins."""
    if width is None or row.cell_len <= width:
        return row
    head = row.wrap(Console(width=width), width)[0]
    head.rstrip()
    rest = row[head.cell_len :]
    rest = Text.assemble(rest)
    lines = rest.wrap(Console(width=width), max(width - indent, 1))
    return Text("\n" + " " * indent).join([head, *(_stripped(line) for line in lines)])


def _stripped(line: Text) -> Text:
    line.rstrip()
    lead = len(line.plain) - len(line.plain.lstrip())
    return line[lead:]


def bar(done: int, total: int, paper: Paper) -> str:
    """How far it is. Full only when it is."""
    glyphs = paper.glyphs
    full = BAR * done // total if total else 0
    return glyphs.full * full + glyphs.empty * (BAR - full)


def _headline(view: View, glyphs: Glyphs) -> Text:
    row = Text.assemble(
        ("ROLLOUT ", "bold"),
        (view.name, "bold"),
        GAP,
        (view.phase, OUTCOME_STYLE[view.outcome]),
    )
    parts = [_way(view, glyphs), f"{view.updated}/{view.selected} updated", _step(view.step)]
    if view.pause_millis is not None:
        parts.append(f"paused {view.pause_millis.p99} ms (p99)")
    for part in filter(None, parts):
        row.append(GAP + part)
    return row


def _step(step: StepView | None) -> str:
    """The one it is at, as people count."""
    if step is None:
        return ""
    return f"step {step.index + 1} of {step.of}" if step.index < step.of else "all steps passed"


def _way(view: View, glyphs: Glyphs) -> str:
    """From where to where; a rollback is named as one."""
    desired, target, stable = view.desired, view.target, view.stable
    if view.driven:
        return f"durable {desired.version}" if desired else ""
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
    if known := age(hold.since, now):
        row.append(f"{GAP}for {known}")
    if hold.message not in said:
        row.append(GAP + hold.message)
    return row


def _trainer(trainer: TrainerView) -> Text:
    """Who drives, and what the agents ask of a trainer."""
    row = Text.assemble(("DRIVER ", "bold"), "a trainer" if trainer.drives else "the operator")
    row.append(f"{GAP}its versions on {pods(trainer.serving)}")
    if trainer.held:
        row.append(f"{GAP}holds {pods(trainer.held)} now")
    return row.append(f"{GAP}guard {trainer.guard}" if trainer.guard else "")


def _staging(staging: StagingView) -> Text:
    percent = 100 * staging.bytes // staging.total if staging.total else 0
    rate = f"{GAP}{size(staging.bytes_per_second)}/s" if staging.bytes_per_second else ""
    return Text(
        f"STAGING {percent} %{GAP}{size(staging.bytes)} of {size(staging.total)}"
        f"{rate}{GAP}on {pods(staging.pods)}"
    )


def _analysis(said: AnalysisView) -> Text:
    dry = " (dry run)" if said.dry_run else ""
    row = Text.assemble(f"ANALYSIS step {said.step}{dry}{GAP}")
    row.append(said.outcome, _ANALYSIS_STYLE.get(said.outcome, ""))
    return row.append(GAP + said.message)


def _is_past(view: View, action: ActionView) -> bool:
    """It has had its effect: nobody needs to be told."""
    return view.phase in OVER and action.outcome == ActionOutcome.ACCEPTED


def _action(action: ActionView, now: datetime) -> Text:
    done = action.outcome == ActionOutcome.ACCEPTED
    row = Text.assemble(
        ("ASKED ", "bold"),
        action.verb or "something that cannot be read",
        GAP,
        (action.outcome, "green" if done else "yellow"),
    )
    if ago := age(action.time, now):
        row.append(f"{GAP}{ago} ago")
    if action.message:
        row.append(GAP + action.message)
    return row


def _versions(groups: Sequence[VersionGroup], paper: Paper) -> Iterator[Text]:
    glyphs = paper.glyphs
    shown = [list(_lines(group, paper)) for group in groups]
    names = max((cell_len(name) for lines in shown for name, _ in lines), default=0)
    states = max((len(pod.state) for lines in shown for _, pod in lines), default=0)
    for number, (group, lines) in enumerate(zip(groups, shown, strict=True), 1):
        is_last = number == len(groups)
        yield _group(group, glyphs.last if is_last else glyphs.branch, paper.width)
        stem = glyphs.blank if is_last else glyphs.trunk
        for place, (name, pod) in enumerate(lines, 1):
            joint = glyphs.last if place == len(lines) else glyphs.branch
            yield _pod(name.ljust(names), pod, stem + joint, states)


def _lines(group: VersionGroup, paper: Paper) -> Iterator[tuple[str, PodLine]]:
    """One for each pod; of many on a terminal one for all that are in the same state for the same reason."""
    if paper.all_pods or paper.width is None or len(group.pods) <= paper.few:
        yield from ((pod.name, pod) for pod in group.pods)
        return
    alike: dict[tuple[str, str, str], list[PodLine]] = {}
    for pod in group.pods:
        alike.setdefault((pod.state, pod.reason, pod.message), []).append(pod)
    for same in sorted(alike.values(), key=lambda same: (not same[0].reason, len(same))):
        yield (pods(len(same)) if len(same) > 1 else same[0].name), same[0]


def _group(group: VersionGroup, joint: str, width: int | None) -> Text:
    """Where it is too long the version is cut, for how many pods have it is what one looks for."""
    version = group.version or "no version yet"
    parts = [", ".join(group.roles), short(group.digest), f"({pods(len(group.pods))})"]
    rest = "".join(GAP + part for part in parts if part)
    if width is not None:
        room = width - cell_len(joint) - cell_len(rest)
        version = cut(version, max(room, NARROW))
    return Text.assemble(joint, (version, "bold"), rest)


def _pod(name: str, pod: PodLine, joint: str, states: int) -> Text:
    row = Text.assemble(joint, name, GAP)
    row.append(pod.state.ljust(states), _POD_STYLE[pod.state])
    if pod.reason:
        row.append(GAP + pod.reason)
    if pod.message:
        row.append(f": {pod.message}")
    row.rstrip()
    return row
