"""What an operator used and wrote between two moments: its process, its metrics, and the API server's count."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fleet.footprint import series_of
from fleet.operator_process import OperatorProcess
from localcluster.api import Api

#: As the API server counts them: an apply of the operator, which names its charset, as a PATCH; our pods' kubelet leaves it out
#: and is counted as APPLY. Nothing else in the bench touches these.
WRITES: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "pods": ("pods/status", frozenset({"PATCH"})),
    "status": ("weightrollouts/status", frozenset({"PATCH"})),
    "revisions": ("controllerrevisions/", frozenset({"PATCH", "DELETE"})),
    "stable": ("configmaps/", frozenset({"PATCH"})),
    "events": ("events/", frozenset({"POST", "PATCH"})),
    "tokens": ("serviceaccounts/token", frozenset({"POST"})),
}
_SAMPLE: Final = re.compile(r"apiserver_request_total\{(?P<labels>[^}]*)\} (?P<value>\S+)")
_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Reading:
    at: float  # time.monotonic() seconds
    cpu_s: float
    passes: float
    pass_s: float  # of all passes together
    slow_passes: float  # that took more than SLOW_S
    writes: Mapping[str, int] = field(default_factory=dict)  # by a key of WRITES


#: A bound of metrics.PASS_BUCKETS.
SLOW_S: Final = 0.1


@dataclass(frozen=True)
class Used:
    """Between two readings."""

    seconds: float
    cpu_s: float
    passes: int
    pass_ms: float  # mean; 0 without a pass
    slow_passes: int
    writes: Mapping[str, int]


async def read(operator: OperatorProcess, api: Api) -> Reading:
    samples = {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in await series_of(operator.http)
    }
    passes = "weightrollout_pass_seconds"
    count = samples.get(f"{passes}_count", 0.0)
    return Reading(
        time.monotonic(),
        cpu_s(operator.pid),
        count,
        samples.get(f"{passes}_sum", 0.0),
        count - samples.get(f'{passes}_bucket{{le="{SLOW_S}"}}', 0.0),
        counted(await api.text("/metrics")),
    )


def used(before: Reading, after: Reading) -> Used:
    passes = after.passes - before.passes
    return Used(
        seconds=after.at - before.at,
        cpu_s=after.cpu_s - before.cpu_s,
        passes=round(passes),
        pass_ms=1000 * (after.pass_s - before.pass_s) / passes if passes else 0.0,
        slow_passes=round(after.slow_passes - before.slow_passes),
        writes={key: after.writes[key] - before.writes[key] for key in WRITES},
    )


def counted(page: str) -> dict[str, int]:
    """Requests by a key of WRITES, refused ones as well, from an API server's /metrics."""
    found: Counter[str] = Counter()
    for line in page.splitlines():
        sample = _SAMPLE.match(line)
        if sample is None:
            continue
        labels = dict(_LABEL.findall(sample["labels"]))
        resource = f"{labels['resource']}/{labels['subresource']}"
        for key, (wanted, verbs) in WRITES.items():
            if resource == wanted and labels["verb"] in verbs:
                found[key] += int(float(sample["value"]))
    return {key: found[key] for key in WRITES}


def cpu_s(pid: int) -> float:
    """User and system seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mb(pid: int) -> float:
    """Most memory that a process ever had, in millions of bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
