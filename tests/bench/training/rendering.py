"""docs/benchmarks/training.json as a section of docs/benchmarks.md, and the properties that must hold. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bench.scale.rendering import below, table
from bench.swap.targets import Verdict
from bench.training.looks import MOST_LAG

Json = Mapping[str, Any]

TITLE: Final = "A version every two seconds"
WRITES_PER_S: Final = 5.0
NEWEST_S: Final = 15.0
#: The Lease must run out, a process must start, and a rollout must end.
RECOVERY_S: Final = 45.0
#: No write to an object: asked for when an agent is met, and when half of a token's time is over.
TOKENS: Final = "tokens"

#: Lags that are counted together, each up to the next.
BANDS: Final = (0, 1, 2, 3, 6, 11, 21)
BUSY: Final = """The machine was busy with other work, and trainer, agents, API server and operator shared what was left of it: lags and times are not
to be trusted.
"""

INTRO: Final = """{cores} cores of {cpu}, {memory_gib} GiB, Python {python}, {libc}; {date}, load {load} when it began. A real API server, the operator's own
process with its own rights, a WeightRollout of profile Training, and the SDK as trainer: a version every {every_s:g} s for {seconds:g} s, without
waiting for any. {pods} pods without a node, whose agents are simulated in the bench's process ({staging_s:g} s of staging, {swap_s:g} s
of a swap). One engine restarted {engine_restarts} times, away for {engine_away_s:g} s each time and then with the weights of its start. The operator was killed {kills}
times (SIGKILL) and started again at once; the next one leads when the Lease of the dead one has run out, with the flags of a cluster. Lags are in versions: the newest that
was published, less the oldest that a Ready pod had, five times a second; what agents say of their engines counts, not the operator's word. Writes are counted by the API server,
refused ones as well. Raw figures: [training.json](benchmarks/training.json); repeat with `make bench-training`.
"""


def rendered(figures: Json) -> str:
    machine = figures["machine"]
    facts = {**machine, **figures["settings"], "date": figures["date"], "load": figures["load"]}
    busy = [BUSY] if figures["load"] > machine["cores"] / 2 else []
    parts = [INTRO.format(**facts), *busy, *_targets(figures), *_writes(figures), *_seen(figures)]
    return "\n".join(parts)


def verdicts(figures: Json) -> list[Verdict]:
    return [*promises(figures), *paces(figures)]


def promises(figures: Json) -> list[Verdict]:
    """What must hold whatever the number of pods, and on a slow machine as well."""
    wanted = f"{figures['run']}.{figures['published']}"
    there = {figures["stable"], *figures["at_the_end"]}
    total = sum(count for key, count in figures["writes"].items() if key != TOKENS)
    return [
        Verdict(
            "what all pods serve in the end",
            f"{wanted}, the newest",
            ", ".join(sorted(there)),
            there == {wanted},
        ),
        _none("pods in service with the weights of their start", figures["at_first_weights"]),
        _none("engines that went back to an older version", figures["went_back"]),
        below("API writes per second", WRITES_PER_S, total / figures["seconds"]),
    ]


def paces(figures: Json) -> list[Verdict]:
    """What depends on the machine, too: agents, API server and operator share it."""
    looks = {int(lag): count for lag, count in figures["lags"].items()}
    lag = max(looks, default=0)
    over = sum(count for each, count in looks.items() if each > MOST_LAG)
    kills, recoveries = figures["settings"]["kills"], figures["recoveries_s"]
    recovered = len(recoveries) == kills and not figures["unrecovered"]
    return [
        Verdict(
            "most versions that a pod in service was behind, while an operator led",
            f"at most {MOST_LAG}",
            f"{lag} ({over:,} of {sum(looks.values()):,} looks above {MOST_LAG})",
            lag <= MOST_LAG and bool(looks),
        ),
        Verdict(
            "from a kill of the operator until lags are as before",
            f"{kills} times at most {RECOVERY_S:g} s",
            ", ".join(f"{each:.1f} s" for each in recoveries) or "never",
            recovered and max(recoveries, default=0.0) <= RECOVERY_S,
        ),
        below("from the last publish to all pods", NEWEST_S, figures["newest_everywhere_s"], "s"),
    ]


def _none(what: str, found: list[str]) -> Verdict:
    return Verdict(what, "none", ", ".join(found) or "none", not found)


def _targets(figures: Json) -> Iterator[str]:
    yield "\n### What must hold\n"
    yield from table(
        ["", "target", "measured", "reached"],
        [
            [each.what, each.target, each.measured, "yes" if each.reached else "**no**"]
            for each in verdicts(figures)
        ],
    )


def _writes(figures: Json) -> Iterator[str]:
    seconds, windows = figures["seconds"], figures["windows"]
    names = {
        "pods": "pods (version label and note)",
        "status": "status of the WeightRollout",
        "revisions": "its history",
        "stable": "ConfigMap of the stable version",
        "events": "events",
        TOKENS: "TokenRequests (not in the sum)",
    }
    yield "### Writes of the operator\n"
    yield (
        "The Lease, renewed by whoever leads whatever the fleets do, and the trainer's own writes are not in it.\n"
    )
    rows = [
        [
            names[key],
            str(count),
            f"{count / seconds:.2f}",
            f"{max((each[key] / each['seconds'] for each in windows), default=0.0):.2f}",
        ]
        for key, count in figures["writes"].items()
    ]
    kinds = [key for key in figures["writes"] if key != TOKENS]
    total = sum(figures["writes"][key] for key in kinds)
    sums = [sum(each[key] for key in kinds) / each["seconds"] for each in windows]
    rows.append(
        [
            "all but TokenRequests",
            str(total),
            f"{total / seconds:.2f}",
            f"{max(sums, default=0.0):.2f}",
        ]
    )
    yield from table(["", "writes", "per second", "in the worst ten seconds"], rows)


def _seen(figures: Json) -> Iterator[str]:
    yield "### What pods served\n"
    yield from table(
        ["versions behind", *(_band(index) for index in range(len(BANDS)))],
        [
            ["looks while an operator led", *_in_bands(figures["lags"])],
            ["looks from a kill to its end", *_in_bands(figures["outage_lags"])],
        ],
    )
    cpu = 100 * figures["cpu_s"] / figures["seconds"]
    yield (
        f"Of {figures['published'] + 1} versions {figures['served']} were seen in service; the others were passed over. The operator took"
        f" {cpu:.0f} % of a core. The latest publish was {figures['publish_late_s']:.2f} s behind its time.\n"
    )


def _band(index: int) -> str:
    least = BANDS[index]
    if index + 1 == len(BANDS):
        return f"{least} and more"
    most = BANDS[index + 1] - 1
    return str(least) if most == least else f"{least} to {most}"


def _in_bands(looks: Mapping[str, int]) -> Iterator[str]:
    for least, end in zip(BANDS, (*BANDS[1:], None), strict=True):
        counted = (
            count
            for lag, count in looks.items()
            if least <= int(lag) and (end is None or int(lag) < end)
        )
        yield str(sum(counted))
