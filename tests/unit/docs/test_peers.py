"""docs/peers.md promises tests: each that it names is there, and each that was written for it is named."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).resolve().parents[2]
PAGE: Final = TESTS.parent / "docs" / "peers.md"
#: `test_file::function`, or a whole file.
NAMED: Final = re.compile(r"`(test_\w+)(?:::(\w+))?`")
ROW: Final = re.compile(r"^\| (?!-)(.*) \|$", re.MULTILINE)


@cache
def functions(module: str) -> frozenset[str]:
    """Of the one file of this name."""
    found = list(TESTS.rglob(f"{module}.py"))
    assert len(found) == 1, f"{module} is {len(found)} files"
    tree = ast.parse(found[0].read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, kinds))


def named() -> list[tuple[str, str]]:
    return sorted(set(NAMED.findall(PAGE.read_text())))


@pytest.mark.parametrize(("module", "function"), named(), ids="::".join)
def test_what_the_page_names_is_there(module: str, function: str) -> None:
    there = functions(module)
    assert not function or function in there


def test_every_row_of_the_page_names_a_test() -> None:
    rows = [row for row in ROW.findall(PAGE.read_text()) if "shown by" not in row]
    assert rows
    assert [row for row in rows if not NAMED.search(row)] == []


def test_every_story_about_a_bug_of_others_is_on_the_page() -> None:
    module = "test_bugs_of_others"
    stories = {each for each in functions(module) if each.startswith("test_")}
    told = {function for name, function in named() if name == module}
    assert stories == told
