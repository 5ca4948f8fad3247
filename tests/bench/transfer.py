"""The transfer core beside memcpy and torch, on this machine's CPU: `make bench-transfer`.

The calling thread is pinned to one core, as vLLM pins its CPU worker, and torch copies with one thread.
All ways take their turn in each round. Needs torch and the standard library only.
"""

import ctypes
import functools
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch

from bench.page import FIGURES, PAGE, with_section
from qwen3 import Shapes, qwen3_06b_shapes
from transfercore.payload import Payload, payload
from weightrollout.plugin.transfer import Transfer
from weightrollout.plugin.transfer.crew import Crew
from weightrollout.plugin.transfer.streaming import streaming_helper

TITLE: Final = "Transfer core"
ROUNDS: Final = 15

MEMCPY_1: Final = "one memcpy, 1 thread"
MEMCPY_2: Final = "one memcpy in halves, 2 threads"
#: Way -> the memcpy with as many threads.
BESIDE: Final = {
    "Transfer.run, 1 thread": MEMCPY_1,
    "Transfer.run, 2 threads": MEMCPY_2,
    "Transfer.run without the C helper, 1 thread": MEMCPY_1,
    "Transfer.run without the C helper, 2 threads": MEMCPY_2,
    "torch copy_ per parameter, 1 thread": MEMCPY_1,
    MEMCPY_1: MEMCPY_1,
    MEMCPY_2: MEMCPY_2,
}

INTRO: Final = """Staged bytes in memory into live tensors, with everything prepared: what happens in the pause, without an
engine. Medians of {rounds} rounds, all ways in turn within each; the last column is the median of the ratios within a
round. The calling thread is pinned to one core, as vLLM pins its CPU worker. The core was {helper}.
CPU only: no GPU was measured. {machine} Raw figures: [transfer.json](benchmarks/transfer.json); repeat with
`make bench-transfer`.
"""


def main(rounds: int) -> None:
    payloads = {
        "tied head": tied_shapes(),
        "untied head": qwen3_06b_shapes(),
        "a draft of one layer that shares embedding and head": draft_shapes(),
    }
    figures = measure(payloads, rounds)
    FIGURES.mkdir(exist_ok=True)
    (FIGURES / "transfer.json").write_text(json.dumps(figures, indent=1) + "\n")
    PAGE.write_text(with_section(PAGE.read_text(), TITLE, rendered(figures)))
    print(rendered(figures))


def tied_shapes() -> Shapes:
    """Qwen3-0.6B as published: the head is the embedding."""
    return {name: each for name, each in qwen3_06b_shapes().items() if name != "lm_head.weight"}


def draft_shapes() -> Shapes:
    """What the second session of a swap copies for an MTP or EAGLE head: one layer and the last norm."""
    names = ("model.layers.0.", "model.norm.")
    return {name: each for name, each in qwen3_06b_shapes().items() if name.startswith(names)}


def measure(payloads: Mapping[str, Shapes], rounds: int) -> dict[str, Any]:
    """Seconds of each round, per payload and way."""
    cores, torch_threads = os.sched_getaffinity(0), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        os.sched_setaffinity(0, {min(cores)})
        measured = {name: _measured(shapes, rounds) for name, shapes in payloads.items()}
    finally:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(torch_threads)
    return {
        "machine": f"{len(cores)} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"torch {torch.__version__}.",
        "streaming_helper": streaming_helper() is not None,
        "rounds": rounds,
        "payloads": measured,
    }


def rendered(figures: Mapping[str, Any]) -> str:
    helper = "built with its C helper" if figures["streaming_helper"] else "without its C helper"
    text = INTRO.format(rounds=figures["rounds"], helper=helper, machine=figures["machine"])
    for name, each in figures["payloads"].items():
        text += f"\nQwen3-0.6B, {name}: {each['tensors']} tensors, {each['bytes']:,} bytes.\n\n"
        text += "| | median | GB/s | of memcpy's time, same threads |\n| --- | --- | --- | --- |\n"
        for way, beside in BESIDE.items():
            text += _row(way, each["seconds"][way], each["seconds"][beside], each["bytes"])
    return text


def _row(way: str, seconds: Sequence[float], beside: Sequence[float], nbytes: int) -> str:
    middle = statistics.median(seconds)
    ratio = statistics.median(one / other for one, other in zip(seconds, beside, strict=True))
    return f"| {way} | {middle * 1e3:.1f} ms | {nbytes / middle / 1e9:.1f} | {ratio:.2f} |\n"


def _measured(shapes: Shapes, rounds: int) -> dict[str, Any]:
    subject = payload(shapes, torch.device("cpu"), seed=1)
    # The image is one block of memory, a little longer than the tensors in it.
    copy = torch.ones(subject.nbytes, dtype=torch.uint8)
    ways = _ways(subject, copy.data_ptr(), subject.staged[0].data_ptr())
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            if number:  # the first round touches memory for the first time
                seconds[name].append(time.perf_counter() - began)
    return {"tensors": len(subject.live), "bytes": subject.nbytes, "seconds": seconds}


def _ways(subject: Payload, target: int, source: int) -> dict[str, Callable[[], object]]:
    nbytes, half = subject.nbytes, subject.nbytes // 2
    halves = [(target, source, half), (target + half, source + half, nbytes - half)]
    ways: dict[str, Callable[[], object]] = {
        MEMCPY_1: functools.partial(ctypes.memmove, target, source, nbytes),
        MEMCPY_2: functools.partial(_in_halves, Crew(2), halves),
        "torch copy_ per parameter, 1 thread": functools.partial(_copy_each, subject),
    }
    for threads, word in ((1, "1 thread"), (2, "2 threads")):
        for streaming, which in ((True, ""), (False, " without the C helper")):
            transfer = Transfer.prepare(subject.pairs, threads=threads, streaming=streaming)
            ways[f"Transfer.run{which}, {word}"] = transfer.run
    return ways


def _in_halves(crew: Crew, halves: Sequence[tuple[int, int, int]]) -> None:
    left = list(halves)

    def work() -> None:
        while left:
            ctypes.memmove(*left.pop())

    crew.run(work, stop=left.clear)


def _copy_each(subject: Payload) -> None:
    for live, staged in zip(subject.live, subject.staged, strict=True):
        live.copy_(staged)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
