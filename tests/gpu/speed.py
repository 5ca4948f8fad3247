"""Seconds of several ways to do the same, all in turn within each round."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from transfercore.payload import Payload
from weightrollout.plugin.transfer import Ring, Transfer

#: Returns when the last byte is where it belongs.
Way: TypeAlias = Callable[[], None]


def ways_of(
    title: str, subject: Payload, rings: Mapping[str, Ring], *, threads: Sequence[int]
) -> dict[str, Way]:
    """A transfer for each ring and number of threads, prepared."""
    return {
        f"{title}, {name}, {count} threads": Transfer.prepare(
            subject.pairs, threads=count, ring=ring
        ).run
        for name, ring in rings.items()
        for count in threads
    }


def interleaved(ways: Mapping[str, Way], rounds: int) -> dict[str, list[float]]:
    """Seconds per way, in the order of rounds; one round before the first is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            if number:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def table(seconds: Mapping[str, Sequence[float]], nbytes: int, *, limit: str) -> str:
    """Medians, and the rate as a share of the limit's in the same round."""
    lines = [f"{'':44}{'ms':>9}{'GB/s':>9}{'of limit':>10}"]
    for name, values in seconds.items():
        middle = statistics.median(values)
        pairs = zip(seconds[limit], values, strict=True)
        share = statistics.median(best / value for best, value in pairs)
        lines.append(f"{name:44}{middle * 1e3:9.1f}{nbytes / middle / 1e9:9.1f}{share:10.2f}")
    return "\n".join(lines)
