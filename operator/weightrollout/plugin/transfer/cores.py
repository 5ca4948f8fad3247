"""Which cores help with a copy: others than the caller's.

An engine may pin its worker to one core, and threads inherit that. A thread that is merely allowed to
run elsewhere is not moved soon enough to be of use in a copy of 60 ms (measured: no gain at all), so
helpers are told to keep away from the caller's core.
"""

import ctypes
import functools
import os
import threading
from collections.abc import Callable


@functools.cache
def allowed_cores() -> frozenset[int]:
    """All that the process's cpuset lets a thread run on, whatever the caller is pinned to."""
    found: list[set[int]] = []

    def look() -> None:
        try:
            # Asked for more than there is, the kernel gives what the cpuset has.
            os.sched_setaffinity(0, range(os.sysconf("SC_NPROCESSORS_CONF")))
        except OSError:
            pass  # a sandbox forbids it: what was inherited is what there is
        found.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=look, name="weightrollout-cores", daemon=True)
    thread.start()
    thread.join()
    return frozenset(found[0])


def cores_for_helpers(count: int) -> list[frozenset[int]]:
    """One set of cores for each of `count` threads beside the calling one; disjoint if possible.

    A caller that may use several cores keeps its helpers among them: someone gave it those. One that is
    pinned to a single core gets helpers on all others that the cpuset allows.
    """
    mine = os.sched_getaffinity(0)
    others = sorted(mine - {_current_core()} if len(mine) > 1 else allowed_cores() - mine)
    if not others:
        return [frozenset(mine)] * count
    if len(others) < count:
        return [frozenset(others)] * count
    return [frozenset(others[index::count]) for index in range(count)]


def threads_by_default() -> int:
    """At most four: that many fill the memory bus of most machines, and an engine needs the rest."""
    mine = os.sched_getaffinity(0)
    return min(4, len(mine) if len(mine) > 1 else len(allowed_cores()))


def _current_core() -> int:
    get = _getcpu()
    return -1 if get is None else get()


@functools.cache
def _getcpu() -> Callable[[], int] | None:
    # Python has no call for it.
    found: Callable[[], int] | None = getattr(ctypes.CDLL(None), "sched_getcpu", None)
    return found
