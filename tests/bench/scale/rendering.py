"""docs/benchmarks/scale.json as a section of docs/benchmarks.md. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bench.swap.targets import Verdict

Json = Mapping[str, Any]

TITLE: Final = "Large fleets"
ENDPOINT_WRITES: Final = 3.0
NONE_WRITES: Final = 1.0
MEMORY_MB: Final = 300.0
FIRST_PAUSE_S: Final = 0.5
OVERHEAD_S: Final = 2.0
#: Of the CPU time of a pass per pod, 5,000 pods beside 100: caches of the processor are no rule of ours.
FLAT: Final = 1.5

INTRO: Final = """{cores} cores of {cpu}, {memory_gib} GiB, Python {python}, {libc}; {date}, load {load} when it began. A real API server and the
operator's own process with its own rights; {pods} pods without a node, each with its readiness gate, whose agents are simulated in
the bench's process: their own certificates and tokens, the order and the messages of a swap, and no engine. So the machine carries
agents, API server and operator at once. Writes are counted by the API server, time and memory of the operator by the kernel, passes by
the operator's own metrics. Raw figures: [scale.json](benchmarks/scale.json); repeat with `make bench-scale`, or with
`BENCH_SCALE_PODS=1000` for another size.
"""


BUSY: Final = """The machine was busy with other work: of these figures only writes, memory and the growth of a pass are to be trusted.
"""


def rendered(figures: Json) -> str:
    machine, settings = figures["machine"], figures["settings"]
    facts = {**machine, "date": figures["date"], "load": figures["load"], "pods": settings["pods"]}
    # Processes that wanted to run before the bench began, beside the cores that there are.
    busy = [BUSY] if figures["load"] > machine["cores"] / 2 else []
    return "\n".join(
        [INTRO.format(**facts), *busy, *_targets(figures), *_rollouts(figures), *_passes(figures)]
    )


def verdicts(figures: Json) -> list[Verdict]:
    """One per target, in the order of the design."""
    settings, large, training = figures["settings"], figures["large"], figures["training"]
    pods, swaps = settings["pods"], large["training"]
    # The first round may find what was staged and verified before, as all others do.
    pauses = [each["first_pause_s"] for each in swaps]
    ideal = settings["staging_s"] + 2 * settings["swap_s"]
    endpoint = large["serving"]["writes"]["pods"] / pods
    none = max(each["writes"]["pods"] for each in swaps) / pods
    peak = max(each["peak_mb"] for each in [large["rest"], large["serving"], *swaps])
    worst = max(_growth(by_size) for by_size in figures["passes"].values())
    return [
        below(
            f"{pods} pods, staged before: apply to the first pod paused",
            *(FIRST_PAUSE_S, statistics.median(pauses), "s"),
            more=f", longest {max(pauses):.2f} s",
        ),
        below(
            f"{settings['training_pods']} pods, Training: publish to all verified",
            *(ideal + OVERHEAD_S, training["complete_s"], "s"),
            more=f", of which {ideal:.1f} s are one staging and two swaps",
        ),
        below("pod writes per pod and rollout, takeOut Endpoint", ENDPOINT_WRITES, endpoint),
        below("pod writes per pod and rollout, takeOut None", NONE_WRITES, none),
        below(f"most memory of the operator, {pods} pods", MEMORY_MB, peak, "MB"),
        below("a pass per pod, 5,000 pods beside 100", FLAT, worst, "times"),
    ]


def _growth(by_size: Mapping[str, float]) -> float:
    sizes = sorted(by_size, key=int)
    least, most = sizes[0], sizes[-1]
    return (by_size[most] / int(most)) / (by_size[least] / int(least))


def below(what: str, target: float, measured: float, unit: str = "", more: str = "") -> Verdict:
    shown = f" {unit}" if unit else ""
    return Verdict(
        what,
        f"at most {target:g}{shown}",
        f"{measured:.3f}{shown}{more}",
        measured <= target,
    )


def _targets(figures: Json) -> Iterator[str]:
    yield "### Targets of large fleets\n"
    yield from table(
        ["", "target", "measured", "reached"],
        [
            [each.what, each.target, each.measured, "yes" if each.reached else "**no**"]
            for each in verdicts(figures)
        ],
    )


def _rollouts(figures: Json) -> Iterator[str]:
    large, pods = figures["large"], figures["settings"]["pods"]
    rows = [
        _row(each, count)
        for each, count in (
            (figures["training"], figures["settings"]["training_pods"]),
            (large["first"], pods),
            (large["rest"], pods),
            (large["serving"], pods),
            *((each, pods) for each in large["training"]),
        )
    ]
    yield "### What a rollout costs\n"
    yield (
        "Writes are those of the whole rollout; *status* are those of the WeightRollout, *history* of its revisions and of the fleet's\n"
        "ConfigMap. Tokens are asked for when an agent is met and when half of their time is over.\n"
    )
    head = ["", "pods", "seconds", "operator's CPU", "CPU per pod", "passes", "mean pass"]
    yield from table(
        [*head, "pod writes", "status", "history", "events", "tokens", "peak memory"], rows
    )


def _row(each: Json, pods: int) -> list[str]:
    writes = each["writes"]
    return [
        *(each["title"], str(pods), f"{each['seconds']:.1f}", f"{each['cpu_s']:.1f} s"),
        f"{1000 * each['cpu_s'] / pods:.1f} ms",
        *(str(each["passes"]), f"{each['pass_ms']:.1f} ms"),
        *(str(writes["pods"]), str(writes["status"])),
        str(writes["revisions"] + writes["stable"]),
        *(str(writes["events"]), str(writes["tokens"]), f"{each['peak_mb']:.0f} MB"),
    ]


def _passes(figures: Json) -> Iterator[str]:
    measured: Mapping[str, Mapping[str, float]] = figures["passes"]
    sizes = sorted(next(iter(measured.values())), key=int)
    yield "### One pass of the planner\n"
    yield "The planner alone, fastest of some tries, milliseconds of CPU time.\n"
    yield from table(
        ["", *(f"{int(size):,} pods" for size in sizes)],
        [
            [situation, *(f"{by_size[size]:.1f}" for size in sizes)]
            for situation, by_size in measured.items()
        ],
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    lines = [head, ["---"] * len(head), *rows]
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def rounded(value: Any) -> Any:
    match value:
        case float():
            return round(value, 3)
        case dict():
            return {key: rounded(each) for key, each in value.items()}
        case list():
            return [rounded(each) for each in value]
    return value
