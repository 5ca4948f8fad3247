"""Which cores are left for work beside the engine's own."""

import os

from weightrollout.plugin.transfer.cores import allowed_cores


def spare_cores() -> frozenset[int]:
    """Those the worker's main thread is not pinned to. Empty: let the kernel decide."""
    pinned = os.sched_getaffinity(os.getpid())
    return allowed_cores() - pinned
