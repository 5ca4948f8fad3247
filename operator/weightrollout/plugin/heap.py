"""Memory that one load gives back is what the next one takes, without the kernel in between.

glibc maps every large tensor by itself: each load pays for fresh pages, which the kernel zeroes one by
one, and for unmapping the old ones. Together that is most of what packing in a pause takes.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# <malloc.h>, and glibc's own defaults.
_TRIM_THRESHOLD: Final = -1
_MMAP_MAX: Final = -4
_DEFAULT_TRIM_BYTES: Final = 128 << 10
_DEFAULT_MAPS: Final = 1 << 16
_NEVER: Final = -1


@contextmanager
def reused() -> Iterator[None]:
    """Large allocations come from the heap, and stay there when they are freed.

    No effect where the allocator is not glibc's: tcmalloc and jemalloc keep memory anyhow.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        yield
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        mallopt(_MMAP_MAX, _DEFAULT_MAPS)
        mallopt(_TRIM_THRESHOLD, _DEFAULT_TRIM_BYTES)
