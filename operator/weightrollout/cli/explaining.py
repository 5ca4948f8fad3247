"""How an explanation looks: one question a line, then the pods, then the rules."""

from datetime import datetime

from rich.text import Text

from weightrollout.cli.render import GAP, OUTCOME_STYLE, Paper, wrapped
from weightrollout.cli.table import Cell, table
from weightrollout.cli.why import Why, held_for
from weightrollout.cli.words import some_of


def screen_of(why: Why, now: datetime, paper: Paper) -> Text:
    head = Text.assemble(
        ("EXPLAIN ", "bold"), (why.name, "bold"), GAP, (why.phase, OUTCOME_STYLE[why.outcome])
    )
    rows = [head]
    if why.message:
        rows.append(Text(why.message))
    rows += [
        Text.assemble((f"{head.ljust(WIDE)}", "bold"), text)
        for head, text in _answers(why, now)
        if text
    ]
    rows = [wrapped(row, paper.width, WIDE if row is not head else 3) for row in rows]
    if why.pods:
        rows += [Text(), _pods(why, paper)]
    rules = [(Cell(each.field), Cell(each.value), Cell(each.source)) for each in why.policy]
    return Text("\n").join([*rows, Text(), table(("RULE", "VALUE", "FROM"), rules, paper.width)])


WIDE = len("Waits for  ")


def _answers(why: Why, now: datetime) -> list[tuple[str, str]]:
    held = ""
    if why.hold is not None:
        since = held_for(why, now)
        held = why.hold.reason + (f", for {since}" if since else "")
        if why.hold.message not in why.message:
            held += f": {why.hold.message}"
    waits = f"{why.waits_for}: {why.ends}" if why.waits_for else ""
    return [("Held by", held), ("Waits for", waits), ("Next", why.next), ("When", why.when)]


def _pods(why: Why, paper: Paper) -> Text:
    """What is wrong with them stands below, because it may be long."""
    heads = ("STATE", "SERVE", "PODS", "NAMES")
    rows = [
        (
            Cell(each.state),
            Cell(each.version or "base weights"),
            Cell(str(len(each.pods))),
            Cell(some_of(each.pods) if paper.width is not None else ", ".join(each.pods)),
        )
        for each in why.pods
    ]
    head, *lines = table(heads, rows, paper.width).split("\n")
    shown = [head]
    for each, line in zip(why.pods, lines, strict=True):
        shown.append(line)
        if said := ": ".join(filter(None, (each.reason, each.message))):
            shown.append(wrapped(Text(f"{GAP}{said}", "yellow"), paper.width))
    return Text("\n").join(shown)
