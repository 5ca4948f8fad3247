"""How a forecast looks."""

from typing import Final

from rich.text import Text

from weightrollout.cli.forecast import Forecast, Kind, Step
from weightrollout.cli.render import GAP, Paper, wrapped
from weightrollout.cli.words import pods, some_of

STYLE: Final = {
    Kind.READ: "cyan",
    Kind.PROVE: "green",
    Kind.SWAP: "green",
    Kind.RESTART: "yellow",
    Kind.WAIT: "yellow",
    Kind.REJECT: "bold red",
}


def screen_of(plan: Forecast, paper: Paper) -> Text:
    rows = [wrapped(_headline(plan, paper), paper.width)]
    for number, step in enumerate(plan.steps, 1):
        row = Text.assemble(f"{number:>3}{GAP}", (step.kind.ljust(7), STYLE[step.kind]), GAP)
        indent = row.cell_len
        row.append(_said(step, plan, all_pods=paper.all_pods))
        rows.append(wrapped(row, paper.width, indent))
    if not plan.steps:
        rows.append(Text("nothing to do"))
    end = Text.assemble(("END ", "bold"), (plan.phase, "green" if plan.arrives else "bold red"))
    end.append(f"{GAP}{plan.message}")
    rows.append(wrapped(end, paper.width))
    rows += [wrapped(Text(f"warning: {each}", "yellow"), paper.width) for each in plan.warnings]
    rows += [wrapped(Text(f"assumed: {each}", "dim"), paper.width) for each in plan.assumes]
    return Text("\n").join(rows)


def _headline(plan: Forecast, paper: Paper) -> Text:
    row = Text.assemble(("PLAN ", "bold"), (plan.name, "bold"))
    way = plan.version or "nothing desired"
    if plan.serves and plan.serves != plan.version:
        way = f"{plan.serves} {paper.glyphs.arrow} {way}"
    row.append(f"{GAP}{way}{GAP}{pods(plan.pods)}")
    if plan.pods:
        row.append(f"{GAP}at most {plan.most_out} out of service at once")
    return row


def _said(step: Step, plan: Forecast, *, all_pods: bool) -> str:
    names = ", ".join(step.pods) if all_pods else some_of(step.pods)
    match step.kind:
        case Kind.READ:
            return f"{step.version} onto {names}, while they serve"
        case Kind.PROVE:
            return f"{names} to {step.version}, alone"
        case Kind.SWAP | Kind.RESTART:
            most = min(plan.most_out, len(step.pods))
            pace = "" if len(step.pods) == 1 else f", at most {most} at once"
            return f"{names} to {step.version}{pace}"
        case Kind.WAIT | Kind.REJECT:
            return step.message
