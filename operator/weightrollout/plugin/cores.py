"""Which cores are left for work beside the engine's own."""

import os
from typing import Final

#: Of this process before vLLM pinned its threads: the plugin is loaded first.
_ALLOWED: Final = frozenset(os.sched_getaffinity(0))


def spare_cores() -> frozenset[int]:
    """Empty where there is none, or where the worker is not pinned: then the kernel decides."""
    pinned = os.sched_getaffinity(os.getpid())
    return frozenset() if pinned >= _ALLOWED else _ALLOWED - pinned
