"""What is checked on a CUDA device, in order. Thin: the parts run on a CPU, too, and are tested there."""

import functools
from typing import Any, Final

import torch

from gpu import bytes_arrive, speed
from qwen3 import qwen3_06b_shapes
from transfercore.payload import payload
from weightrollout.plugin.transfer import Ring

ROUNDS: Final = 9
RANDOM_LISTS: Final = 200
#: (slots, MiB of each)
RINGS: Final = ((2, 64), (2, 128), (2, 256), (4, 32))
THREADS: Final = (1, 2, 4, 8)


def check() -> tuple[dict[str, Any], list[str]]:
    """(raw figures, what went wrong)."""
    device = torch.device("cuda", torch.cuda.current_device())
    problems = _random_pairs(device)
    main, draft = (payload(qwen3_06b_shapes(), device, seed=seed) for seed in (1, 2))
    rings = {f"{slots} x {mib} MiB": _ring(device, slots, mib) for slots, mib in RINGS}
    default = rings["2 x 128 MiB"]
    problems += bytes_arrive.payloads({"main": main, "draft": draft}, default)
    ways = {"one pinned copy": _one_pinned_copy(device, main.nbytes)}
    ways |= speed.ways_of(main, rings, threads=(4,))
    ways |= speed.ways_of(draft, {"draft, 2 x 128 MiB": default}, threads=THREADS)
    ways["copy_ per parameter"] = functools.partial(_copy_each, main)
    seconds = speed.interleaved(ways, ROUNDS)
    print(speed.table(seconds, main.nbytes, limit="one pinned copy"))
    return {
        "device": torch.cuda.get_device_name(device),
        "torch": torch.__version__,
        "bytes": main.nbytes,
        "tensors": len(main.live),
        "rounds": ROUNDS,
        "seconds": seconds,
    }, problems


def _random_pairs(device: torch.device) -> list[str]:
    ring = Ring.pinned(device, slot_bytes=1 << 16)
    if ring is None:
        return ["no memory could be pinned"]
    problems = bytes_arrive.random_pairs(device, ring, lists=RANDOM_LISTS)
    # And where no memory can be pinned: the driver's own buffers.
    return problems + bytes_arrive.random_pairs(device, None, lists=RANDOM_LISTS // 10)


def _ring(device: torch.device, slots: int, mib: int) -> Ring:
    ring = Ring.pinned(device, slots=slots, slot_bytes=mib << 20)
    if ring is None:
        raise SystemExit(f"FAILED: {slots} x {mib} MiB could not be pinned")
    return ring


def _one_pinned_copy(device: torch.device, nbytes: int) -> speed.Way:
    """The limit: all bytes, already in pinned memory, in one call."""
    pinned = torch.ones(nbytes, dtype=torch.uint8).pin_memory()
    there = torch.empty(nbytes, dtype=torch.uint8, device=device)

    def copy() -> None:
        there.copy_(pinned, non_blocking=True)
        torch.cuda.synchronize(device)

    return copy


def _copy_each(of: Any) -> None:
    for pair in of.pairs:
        pair.target.copy_(pair.source)
    torch.cuda.synchronize()
