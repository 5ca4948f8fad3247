"""docs/metrics.md, made of the table of metrics.

python -m weightrollout.metrics_reference --write | --check
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from weightrollout import generated
from weightrollout.metrics import PREFIX, TABLE, Door, Kind, Row

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


def made() -> dict[Path, str]:
    return {generated.DOCS / "metrics.md": as_markdown()}


if __name__ == "__main__":
    raise SystemExit(generated.main(made, sys.argv[1:]))
