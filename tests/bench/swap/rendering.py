"""docs/benchmarks/swap.json as a section of docs/benchmarks.md. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from bench.swap.modes import MODES, PACKED, PLAIN
from bench.swap.targets import middle, pauses, verdicts

Json = Mapping[str, Any]
TITLE: Final = "Swap in a real vLLM"
#: One after the other; what reads back in between asks several things at once.
CALLS: Final = ("pause", "start_update", "update", "finish_update", "resume")
#: Parts below this share of the pause are left to the raw figures.
LEAST_SHARE: Final = 0.05
WORDS: Final = {True: "yes", False: "**no**", None: "no target: no core is spare"}

INTRO: Final = """vLLM {vllm} on CPU (torch {torch}), {cores} cores of {cpu}, {memory_gib} GiB, Python {python}, {libc}; {date}. Driven by the
product's own driver, journal and plugin; *pause* is from Pause sent to Resume answered. All modes take their turn in each
round, twice in a row, of which the second counts, because an engine swaps in one way all its life; so does a memcpy of the
same bytes with the same threads, pinned as the worker is. Medians, with the middle half of the values in parentheses. *Packed* is the default CPU engine (oneDNN); *plain* is the same engine with packing switched
off, so that weights lie as on a GPU. vLLM's own update loads the checkpoint's files in the pause; it is driven through the same
calls, with its Init before the pause, in the same process. Nothing here was measured on a GPU. Raw figures:
[swap.json](benchmarks/swap.json); repeat with `make bench-swap`.

![Pauses of each mode beside memcpy](benchmarks/swap.svg)
"""


def rendered(figures: Json) -> str:
    """Markdown without a heading of its own."""
    text = INTRO.format(date=figures["date"], **figures["machine"])
    text += "\n### Targets\n\n" + _table(
        ("", "target", "measured", "reached"),
        (
            (each.what, each.target, each.measured, WORDS[each.reached])
            for each in verdicts(figures)
        ),
    )
    for model in figures["models"].values():
        if model.get("swaps"):
            text += _idle(model)
        if model.get("cells"):
            text += _load(model)
    text += _restart(figures["models"]) + _staging(figures)
    return text + _failures(figures)


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Median, and the middle half where there are enough values for one."""
    if len(values) < 3:
        return f"{middle(values):.{digits}f}"
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle(values):.{digits}f} ({low:.{digits}f} - {high:.{digits}f})"


def _idle(model: Json) -> str:
    rounds = max(len(taken) for taken in model["swaps"].values())
    text = f"\n### {model['title']}, idle\n\n"
    text += f"{model['tensors']} tensors, an image of {model['bytes']:,} bytes; {rounds} rounds; milliseconds.\n\n"
    rows = [
        _mode_row(mode.title, mode.engine, model["swaps"][mode.name])
        for mode in MODES
        if model["swaps"].get(mode.name)
    ]
    for threads, taken in model["floor"].items():
        name = f"memcpy, {threads} {'thread' if threads == '1' else 'threads'}"
        rows.append((name, "", spread(taken), *[""] * (len(CALLS) + 2)))
    head = ("", "engine", "pause", "Pause", "Start", "Update", "Finish", "Resume")
    text += _table((*head, "between", "prepared before"), rows)
    text += "\n*Between*: read back after Pause and after Finish (is it the same process, is it paused, which version does it\n"
    text += (
        "name: three questions at once), the journal, the proof by receipts, the driver itself.\n"
    )
    return text + _memory(model) + _profile(model)


def _memory(model: Json) -> str:
    """Between the first and the last round it should not grow."""
    told = []
    for kind in (PACKED, PLAIN):
        taken = [model["swaps"].get(mode.name, ()) for mode in MODES if mode.engine == kind]
        first = [swaps[0]["anon_mib"] for swaps in taken if swaps]
        last = [swaps[-1]["anon_mib"] for swaps in taken if swaps]
        if first:
            told.append(f"{kind} {max(first):,.0f} and {max(last):,.0f} MiB")
    return f"\nMost anonymous memory of an engine's processes after a swap, first and last round: {', '.join(told)}.\n"


def _mode_row(title: str, engine: str, swaps: Sequence[Json]) -> tuple[str, ...]:
    calls = [f"{middle([swap['calls'].get(call, 0.0) for swap in swaps]):.1f}" for call in CALLS]
    between = f"{middle([_between(swap) for swap in swaps]):.1f}"
    prepared = f"{middle([swap['prepare'] for swap in swaps]):.0f}"
    return (title, engine, spread([swap["pause"] for swap in swaps]), *calls, between, prepared)


def _between(swap: Json) -> float:
    """Of the pause, what none of `CALLS` took."""
    return float(swap["pause"] - sum(swap["calls"].get(call, 0.0) for call in CALLS))


def _profile(model: Json) -> str:
    """What the worker did in the pause, for modes whose pause is not short."""
    lines = []
    for mode in MODES:
        if swaps := model["swaps"].get(mode.name):
            parts = _parts(swaps, "pause")
            pause = middle(pauses(model, mode.name))
            told = [
                f"{name} {millis:.0f} ms"
                for name, millis in sorted(parts.items(), key=lambda each: -each[1])
                if millis >= max(1.0, LEAST_SHARE * pause)
            ]
            if told:
                kind = "" if mode.engine == PACKED else ", plain"
                lines.append(f"- {mode.title}{kind}: {', '.join(told)}\n")
    return f"\nWhat the worker did in the pause:\n\n{''.join(lines)}" if lines else ""


def _parts(swaps: Sequence[Json], when: str) -> dict[str, float]:
    names = {name for swap in swaps for name in swap["parts"][when]}
    return {
        name: middle([swap["parts"][when].get(name, {"ms": 0.0})["ms"] for swap in swaps])
        for name in names
    }


def _load(model: Json) -> str:
    streams = max(len(cell["streams"]) for cells in model["cells"].values() for cell in cells)
    text = f"\n### {model['title']}, under load\n\n"
    text += (
        f"{streams} streams, requests kept over the pause (`Keep`); milliseconds. *Stall*: the longest gap between two tokens around\n"
        "the swap, less the usual one. *Recomputed*: tokens whose KV cache was dropped, of all streams. *Not produced*: tokens\n"
        "of a stream that are missing at the end of the window, at the rate before the swap.\n\n"
    )
    rows = []
    for name, cells in model["cells"].items():
        streamed = [each for cell in cells for each in cell["streams"]]
        rows.append(
            (
                name,
                spread([cell["swap"]["pause"] for cell in cells], 0),
                f"{middle([each['usual'] for each in streamed]):.1f}",
                spread([each["stall"] for each in streamed], 0),
                f"{middle([each['first'] for each in streamed]):.0f}",
                f"{middle([cell['recomputed'] for cell in cells]):.0f}",
                f"{middle([each['lost'] for each in streamed]):.1f} of "
                f"{middle([each['window'] / each['usual'] for each in streamed]):.0f}",
            )
        )
    head = ("", "pause", "usual gap", "stall", "Resume to token", "recomputed", "not produced")
    return text + _table(head, rows)


def _restart(models: Json) -> str:
    rows = [
        (model["title"], kind, f"{seconds:.1f} s", _times_shorter(model, kind, seconds))
        for model in models.values()
        for kind, seconds in model.get("restart", {}).items()
    ]
    if not rows:
        return ""
    text = "\n### The alternative: restart the engine\n\n"
    text += "Start of the process to its first token, on warm file caches; one start of each.\n\n"
    return text + _table(("", "engine", "restart", "shortest pause fits into it"), rows)


def _times_shorter(model: Json, kind: str, seconds: float) -> str:
    taken = [pauses(model, mode.name) for mode in MODES if mode.engine == kind]
    medians = [middle(each) for each in taken if each]
    return f"{1000 * seconds / min(medians):,.0f} times" if medians else ""


def _staging(figures: Json) -> str:
    if not (staging := figures.get("staging")):
        return ""
    rounds = staging["rounds"]
    text = "\n### Staging beside coreutils\n\n"
    text += f"{staging['bytes']:,} bytes in {staging['files']} files, page cache to disk; all cores for each.\n\n"
    names = {"stage": "staging", "read": "`cat`", "coreutils": "`sha256sum`"}
    names["openssl"] = "`openssl sha256`"
    rows = [
        (title, spread([each[name] for each in rounds], 2))
        for name, title in names.items()
        if rounds[0].get(name) is not None
    ]
    return text + _table(("", "seconds"), rows)


def _failures(figures: Json) -> str:
    failed = [
        f"- {model['title']}: {each['where']}: `{each['error']}`\n"
        for model in figures["models"].values()
        for each in model.get("errors", ())
    ]
    failed += [f"- {each['where']}: `{each['error']}`\n" for each in figures.get("errors", ())]
    return f"\n### What failed in this run\n\n{''.join(failed)}" if failed else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(_lines(head, rows))


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n|{' --- |' * len(head)}\n"
    for row in rows:
        yield f"| {' | '.join(row)} |\n"
