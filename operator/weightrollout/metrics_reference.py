"""Write docs/metrics.md from the table of metrics. For a checkout, not for the wheel.

python -m weightrollout.metrics_reference --write   write docs/metrics.md
python -m weightrollout.metrics_reference --check   fail when it differs from the table
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from weightrollout.metrics import PREFIX, TABLE, Door, Kind, Row

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"

HEADER: Final = """\
<!-- GENERATED from weightrollout/metrics.py by 'make generate'; never edited by hand. -->
# Metrics

The operator answers `/metrics` on port 8080, each agent on its `wr-http` (9611). Times are in seconds and sizes in
bytes. `namespace` and `rollout` are the WeightRollout's, so a scrape must keep them (`honor_labels: true`). The chart brings
monitors, alerts and a dashboard ([install](install.md)). What the values of `reason` mean is in [failure modes](failure-modes.md);
`class` of a pod is a field of `status.pods`, `class` of a failure `Weights`, `Pod` or `Environment`.

A histogram is asked by `_bucket`, `_sum` and `_count`: the longest pauses of a fleet are

```
histogram_quantile(0.99, sum by (le) (rate(weightrollout_swap_pause_seconds_bucket{rollout="chat"}[1h])))
```
"""
WHOSE: Final = {Door.OPERATOR: "Of the operator", Door.AGENT: "Of each agent"}


def as_markdown() -> str:
    parts = [HEADER]
    for door, title in WHOSE.items():
        rows = sorted((row for row in TABLE if row.door is door), key=lambda row: row.name)
        parts.append(
            f"\n## {title}\n\n| Metric | Kind | Labels | What it is |\n| --- | --- | --- | --- |\n"
        )
        parts += [f"| {' | '.join(_cells(row))} |\n" for row in rows]
    return "".join(parts)


def _cells(row: Row) -> Iterator[str]:
    yield f"`{PREFIX}_{row.name}`"
    yield row.kind.value
    yield ", ".join(f"`{each}`" for each in row.labels)
    bounds = (
        f" Bounds: {', '.join(f'{each:g}' for each in row.buckets)}."
        if row.kind is Kind.HISTOGRAM
        else ""
    )
    yield row.help + bounds


def main(arguments: Sequence[str]) -> int:
    match list(arguments):
        case ["--write"]:
            FILE.write_text(as_markdown(), encoding="utf-8")
        case ["--check"]:
            if not FILE.is_file() or FILE.read_text(encoding="utf-8") != as_markdown():
                sys.stderr.write(f"{FILE.name} differs from the table: run 'make generate'\n")
                return 1
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
