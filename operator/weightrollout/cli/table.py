"""Columns of text that fit the width they are given: only the last one may be cut, and says so.

Pure. A pipe gets no width, and every word whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

GAP: Final = "   "
LEAST: Final = 12  # a last column with less room than this is not worth cutting


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    style: str = ""


def table(heads: Sequence[str], rows: Sequence[Sequence[Cell]], width: int | None = None) -> Text:
    """`width` None: nothing is cut. A column without a single word is left out."""
    shown = [place for place, _ in enumerate(heads) if any(row[place].text for row in rows)]
    sizes = {
        place: max(cell_len(heads[place]), *(cell_len(row[place].text) for row in rows))
        for place in shown
    }
    lines = [_line([Cell(heads[place], "bold") for place in shown], shown, sizes, width)]
    lines += [_line([row[place] for place in shown], shown, sizes, width) for row in rows]
    return Text("\n").join(lines)


def _line(
    cells: Sequence[Cell], shown: Sequence[int], sizes: dict[int, int], width: int | None
) -> Text:
    line = Text()
    for place, cell in zip(shown[:-1], cells[:-1], strict=True):
        line.append(cell.text, cell.style or None)
        line.append(" " * (sizes[place] - cell_len(cell.text)) + GAP)
    last = Text(cells[-1].text, cells[-1].style) if cells else Text()
    if width is not None and width - line.cell_len >= LEAST:
        last.truncate(width - line.cell_len, overflow="ellipsis")
    line.append_text(last)
    line.rstrip()
    return line
