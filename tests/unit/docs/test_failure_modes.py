"""docs/failure-modes.md has an entry for each reason that somebody may meet, and none that nobody can."""

import re
from itertools import takewhile

import pytest

from reasoncode import SOURCE, literals, reasons

DOCS = SOURCE.parents[1] / "docs"
#: Reasons of these doors have tables of their own, where their page is.
PAGES = ("failure-modes.md", "analysis.md", "authentication.md")
NAME = re.compile(r"`([A-Z][A-Za-z]*)`")

#: Made of parts in the code.
COMPOSED = frozenset(
    {
        *("AnalysisSuccessful", "AnalysisInconclusive", "AnalysisFailed"),
        *("ActionAccepted", "ActionStale", "ActionInvalid"),
    }
)


def rows(page: str) -> list[list[str]]:
    lines = (line for line in (DOCS / page).read_text().splitlines() if line.startswith("| "))
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def test_each_reason_of_the_code_has_an_entry() -> None:
    written = {name for page in PAGES for name in NAME.findall((DOCS / page).read_text())}
    missing = {reason: files for reason, files in reasons().items() if reason not in written}
    assert not missing, f"say in docs/{PAGES[0]} what it means and what to do"


def test_no_table_has_a_reason_that_no_code_gives() -> None:
    told = {name for row in rows(PAGES[0]) for name in NAME.findall(row[0])}
    assert told
    assert told - literals() - COMPOSED == set()


@pytest.mark.parametrize(
    "heading", ["The environment is at fault", "A pod is at fault", "It waits", "Events"]
)
def test_each_entry_says_what_it_means_and_what_to_do(heading: str) -> None:
    text = (DOCS / PAGES[0]).read_text().split(f"\n## {heading}\n")[1]
    lines = takewhile(lambda line: not line.startswith("## "), text.splitlines())
    entries = [line for line in lines if line.startswith("| `")]
    assert entries
    for line in entries:
        assert all(cell.strip() for cell in line.strip("|").split("|")), line
