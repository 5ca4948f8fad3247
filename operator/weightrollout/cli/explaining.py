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
    rows = [wrapped(row, paper.width) for row in (head, Text(why.message)) if row]
    rows += [
        wrapped(Text.assemble((question.ljust(WIDE), "bold"), text), paper.width, WIDE)
        for question, text in _answers(why, now)
        if text
    ]
    if why.pods:
        rows += [Text(), _pods(why, paper)]
    rules = [(Cell(each.field), Cell(each.value), Cell(each.source)) for each in why.policy]
    return Text("\n").join([*rows, Text(), table(("RULE", "VALUE", "FROM"), rules, paper.width)])


WIDE = len("Waits for  ")
NAMES_ROOM = 30


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
    heads = ("STATE", "SERVE", "PODS")
    rows = [
        (Cell(each.state), Cell(each.version or "base weights"), Cell(str(len(each.pods))))
        for each in why.pods
    ]
    room = None if paper.width is None else paper.width - NAMES_ROOM
    head, *lines = table(heads, rows, room).split("\n")
    names = max(line.cell_len for line in (head, *lines)) + len(GAP)
    head.pad_right(names - head.cell_len)
    shown = [head.append("NAMES", "bold")]
    for each, line in zip(why.pods, lines, strict=True):
        line.pad_right(names - line.cell_len)
        line.append(some_of(each.pods) if paper.width is not None else ", ".join(each.pods))
        shown.append(wrapped(line, paper.width, names))
        if said := ": ".join(filter(None, (each.reason, each.message))):
            shown.append(wrapped(Text(f"{GAP}{said}", "yellow"), paper.width))
    return Text("\n").join(shown)
