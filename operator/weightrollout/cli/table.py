"""Columns of text that fit the width they are given; what is cut says so.

Pure. A pipe gets no width, and every word whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from weightrollout.cli.words import NARROW, cut

GAP: Final = "   "
LEAST: Final = 24  # room of the last column, before others give way to it


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    style: str = ""


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    width: int | None = None,
    spare: Sequence[str] = (),
) -> Text:
    """A column without a single word is left out. `width` None: nothing is cut.

    Where it is too narrow the columns `spare` go, first one first, then the widest are cut in their middle: what tells
    names apart is often their end.
    """
    sizes = {
        place: max(cell_len(head), *(cell_len(row[place].text) for row in rows))
        for place, head in enumerate(heads)
        if any(row[place].text for row in rows)
    }
    if width is not None:
        _fit(sizes, width, [heads.index(each) for each in spare])
    lines = [_line([Cell(head, "bold") for head in heads], sizes, width)]
    lines += [_line(row, sizes, width) for row in rows]
    return Text("\n").join(lines)


def _fit(sizes: dict[int, int], width: int, spare: Sequence[int]) -> None:
    for place in spare:
        if _room(sizes) <= width:
            return
        sizes.pop(place, None)
    others = list(sizes)[:-1]
    while others and _room(sizes) > width:
        widest = max(others, key=sizes.__getitem__)
        if sizes[widest] <= NARROW:
            return
        sizes[widest] -= 1


def _room(sizes: dict[int, int]) -> int:
    *others, last = sizes.values()
    return sum(others) + len(GAP) * len(others) + min(last, LEAST)


def _line(cells: Sequence[Cell], sizes: dict[int, int], width: int | None) -> Text:
    *others, last = sizes
    line = Text()
    for place in others:
        text = Text(cut(cells[place].text, sizes[place]), cells[place].style)
        text.truncate(sizes[place], pad=True)
        line.append_text(text).append(GAP)
    text = Text(cells[last].text, cells[last].style)
    if width is not None:
        text.truncate(max(width - line.cell_len, NARROW), overflow="ellipsis")
    line.append_text(text)
    line.rstrip()
    return line
