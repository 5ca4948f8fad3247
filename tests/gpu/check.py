"""Everything that is checked on a device, in order: bytes first, then figures."""

import functools
from typing import Any, Final

import torch

from gpu import bytes_arrive, speed
from gpu.place import Place
from qwen3 import Shapes
from transfercore.payload import Payload, payload
from weightrollout.plugin.transfer import Ring

LIMIT: Final = "one pinned copy"
DEFAULT: Final = "2 x 128 MiB"
#: (slots, MiB of each); the first of them is the product's default.
RINGS: Final = ((2, 128), (2, 64), (2, 256), (4, 32))
THREADS: Final = (1, 2, 4, 8)
#: Smaller than many of the random tensors, so that all of them cross its end.
SMALL_RING: Final = (2, 1 << 16)


def check(
    place: Place, shapes: Shapes, *, rounds: int, lists: int
) -> tuple[dict[str, Any], list[str]]:
    """(raw figures, what went wrong). lists: of random pairs, a transfer each."""
    small = place.ring(*SMALL_RING)
    rings = {f"{slots} x {mib} MiB": place.ring(slots, mib << 20) for slots, mib in RINGS}
    there = {name: ring for name, ring in rings.items() if ring is not None}
    if small is None or len(there) < len(rings):
        return {}, ["memory could not be pinned"]
    problems = bytes_arrive.random_pairs(place.device, small, lists=lists)
    main, draft = (payload(shapes, place.device, seed=seed) for seed in (1, 2))
    problems += bytes_arrive.payloads({"main": main, "draft": draft}, there[DEFAULT])
    seconds = speed.interleaved(_ways(place, main, draft, there), rounds)
    print(speed.table(seconds, main.nbytes, limit=LIMIT))
    return {
        "device": place.name,
        "torch": torch.__version__,
        "bytes": main.nbytes,
        "tensors": len(main.live),
        "rounds": rounds,
        "seconds": seconds,
    }, problems


def _ways(
    place: Place, main: Payload, draft: Payload, rings: dict[str, Ring]
) -> dict[str, speed.Way]:
    ways = {LIMIT: _one_pinned_copy(place, main.nbytes)}
    ways |= speed.ways_of("main", main, rings, threads=(4,))
    ways |= speed.ways_of("draft", draft, {DEFAULT: rings[DEFAULT]}, threads=THREADS)
    ways["copy_ per parameter"] = functools.partial(_copy_each, place, main)
    return ways


def _one_pinned_copy(place: Place, nbytes: int) -> speed.Way:
    """The limit: all bytes, already in pinned memory, in one call."""
    pinned = place.pinned(nbytes)
    there = torch.empty(nbytes, dtype=torch.uint8, device=place.device)

    def copy() -> None:
        there.copy_(pinned, non_blocking=True)
        place.wait()

    return copy


def _copy_each(place: Place, subject: Payload) -> None:
    for pair in subject.pairs:
        pair.target.copy_(pair.source)
    place.wait()
