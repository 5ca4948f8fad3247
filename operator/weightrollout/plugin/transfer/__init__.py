"""Staged bytes into live tensors, as fast as memory takes them.

In: pairs of a live tensor and the staged tensor that is to fill it. Out: every element written, or an
error that says what is known. `Transfer.prepare` does all that can be done while the engine serves;
`Transfer.run` is what happens in the pause: copies, and nothing else that takes time.

Knows nothing of vLLM, of files or of what a tensor means. Torch and the standard library only; the
same on CPU and CUDA.

    pair       what is copied where, and what cannot be
    overlap    no byte is written twice
    guard      live tensors are still where they were
    streaming  many copies of plain memory in one call, without the GIL (streaming.c)
    crew       threads on other cores than the caller's (cores)
    host       into memory that the CPU writes
    ring       pinned buffers on the way to a GPU (streams)
    device     into memory that the GPU writes
"""

from weightrollout.plugin.transfer.errors import (
    PairRefused,
    TargetMoved,
    TransferError,
    TransferFailed,
)
from weightrollout.plugin.transfer.pair import Pair
from weightrollout.plugin.transfer.ring import Ring
from weightrollout.plugin.transfer.transfer import Transfer

__all__ = [
    "Pair",
    "PairRefused",
    "Ring",
    "TargetMoved",
    "Transfer",
    "TransferError",
    "TransferFailed",
]
