"""docs/benchmarks.md in parts: each bench replaces its own section and leaves the others."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "benchmarks.md"
FIGURES: Final = ROOT / "docs" / "benchmarks"  # raw ones, one JSON file per bench


def with_section(page: str, title: str, body: str) -> str:
    """`page` with the section `## title` replaced, or added at its end; `body` has no heading."""
    head, *sections = ("\n" + page.strip("\n")).split("\n## ")
    names = [section.partition("\n")[0] for section in sections]
    ours = f"{title}\n\n{body.strip(chr(10))}\n"
    if title in names:
        sections[names.index(title)] = ours
    else:
        sections.append(ours)
    return "\n\n## ".join([head.strip("\n"), *(each.strip("\n") for each in sections)]) + "\n"
