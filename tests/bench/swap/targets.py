"""docs/benchmarks/swap.json against the figures to reach. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bench.swap.gaps import quantile
from bench.swap.modes import SPARE

Json = Mapping[str, Any]
PAYLOADS: Final = ("tied", "untied")
FIXED_MS: Final = 15.0
OF_MEMCPY: Final = 1.3
FLIP_MS: Final = 30.0
OF_OWN: Final = 0.7
JITTER_MS: Final = 5.0
OF_COREUTILS: Final = 0.9


@dataclass(frozen=True)
class Verdict:
    """One row. `reached` None: no target applies."""

    what: str
    target: str
    measured: str
    reached: bool | None


def verdicts(figures: Json) -> list[Verdict]:
    """One per target and payload, in the order of the design."""
    models: Json = figures.get("models", {})
    found: list[Verdict] = []
    for name in PAYLOADS:
        if name in models:
            found += [*_payload(models[name]), *_loaded(models[name])]
    if "tiny" in models:
        found += _fixed(models["tiny"])
    if "untied" in models:
        found += _serving(models["untied"])
    if "staging" in figures:
        found.append(_staging(figures["staging"]))
    return found


def pauses(model: Json, mode: str) -> list[float]:
    return [swap["pause"] for swap in model.get("swaps", {}).get(mode, ())]


def middle(values: Sequence[float]) -> float:
    return statistics.median(values)


def floor(model: Json) -> float:
    """memcpy with as many threads as a swap has; needs a measured model."""
    return middle(model["floor"][str(model["threads"])])


def _payload(model: Json) -> Iterator[Verdict]:
    title = model["title"]
    if (direct := pauses(model, "direct")) and model.get("floor"):
        limit = OF_MEMCPY * floor(model) + FIXED_MS
        yield Verdict(
            f"{title}: pause of `direct`",
            f"{OF_MEMCPY} x memcpy + {FIXED_MS:.0f} ms = {limit:.1f} ms",
            f"{middle(direct):.1f} ms",
            middle(direct) <= limit,
        )
    if flip := pauses(model, "flip"):
        target = f"{FLIP_MS:.0f} ms"
        yield Verdict(
            f"{title}: pause of `flip`", target, f"{middle(flip):.1f} ms", middle(flip) <= FLIP_MS
        )
    repack, own = pauses(model, "repack"), pauses(model, "own")
    if repack and own:
        share = middle(repack) / middle(own)
        yield Verdict(
            f"{title}: pause of `repack`",
            f"{OF_OWN} of vLLM's own",
            f"{share:.2f} ({middle(repack):.0f} of {middle(own):.0f} ms)",
            share <= OF_OWN,
        )


def _loaded(model: Json) -> Iterator[Verdict]:
    """The idle target and one step of the engine; the KV cache's recompute comes after the pause."""
    limits = {"flip": FLIP_MS}
    if model.get("floor"):
        limits["direct"] = OF_MEMCPY * floor(model) + FIXED_MS
    for name, cells in model.get("cells", {}).items():
        mode, _, kv = name.partition(", ")
        if mode in limits:
            step = middle([each["usual"] for cell in cells for each in cell["streams"]])
            pause = middle([cell["swap"]["pause"] for cell in cells])
            yield Verdict(
                f"{model['title']}: pause of `{mode}` under load, {kv}",
                f"{limits[mode]:.1f} ms + one step of {step:.0f} ms",
                f"{pause:.0f} ms",
                pause <= limits[mode] + step,
            )


def _fixed(model: Json) -> Iterator[Verdict]:
    for mode in ("direct", "flip"):
        if taken := pauses(model, mode):
            yield Verdict(
                f"Fixed cost of a swap, idle, `{mode}`",
                f"{FIXED_MS:.0f} ms",
                f"{middle(taken):.1f} ms",
                middle(taken) <= FIXED_MS,
            )


def _serving(model: Json) -> Iterator[Verdict]:
    target = f"p99 of token gaps within {JITTER_MS:.0f} ms"
    staging = model.get("staging", {"with": {}})
    for cores, seen in staging["with"].items():
        what = f"{model['title']}: serving while staging 1.5 GB on {cores}"
        yield _jitter(what, target, staging["without"], seen, judged=cores == SPARE)
    for mode in ("flip", "direct"):
        before, preparing = gaps_while_preparing(model, mode)
        if preparing:
            yield _jitter(
                f"{model['title']}: serving while preparing `{mode}`", target, before, preparing
            )


def gaps_while_preparing(model: Json, mode: str) -> tuple[list[float], list[float]]:
    """(before Init, between Init and Pause), of all streams and swaps of the mode."""
    before, preparing = list[float](), list[float]()
    for name, cells in model.get("cells", {}).items():
        if name.partition(",")[0] == mode:
            for stream in (each for cell in cells for each in cell["streams"]):
                before += stream["before"]
                preparing += stream["preparing"]
    return before, preparing


def _jitter(
    what: str,
    target: str,
    without: Sequence[float],
    during: Sequence[float],
    *,
    judged: bool = True,
) -> Verdict:
    """`judged`: a spare core exists, which the target asks for."""
    base, seen = quantile(without, 0.99), quantile(during, 0.99)
    measured = f"{base:.1f} -> {seen:.1f} ms ({len(without)} and {len(during)} gaps)"
    return Verdict(what, target, measured, seen - base <= JITTER_MS if judged else None)


def _staging(staging: Json) -> Verdict:
    rounds = staging["rounds"]
    shares = [max(each["read"], each["coreutils"]) / each["stage"] for each in rounds]
    return Verdict(
        "Staging of 1.5 GB",
        f"{OF_COREUTILS} of the slower of `cat` and `sha256sum`, same cores",
        f"{middle(shares):.2f} of its rate",
        middle(shares) >= OF_COREUTILS,
    )
