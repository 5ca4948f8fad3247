"""What one pass of the planner costs, by situation and number of pods."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from planning.large import SITUATIONS
from weightrollout.rollout.fleet import Fleet
from weightrollout.rollout.plan import plan

SIZES: Final = (100, 300, 1000, 5000)
#: The fastest of so many, by CPU time: all else on the machine only adds to it.
TRIES: Final = 3

Figures = dict[str, dict[str, float]]  # situation, pods: milliseconds


def measure(sizes: Iterable[int] = SIZES, tell: Callable[[str], None] = print) -> Figures:
    found: Figures = {}
    for situation, build in SITUATIONS.items():
        found[situation] = {str(size): _millis(build(size)) for size in sizes}
        tell(f"a pass, {situation}: {found[situation]} ms")
    return found


def _millis(fleet: Fleet) -> float:
    return round(min(_once(fleet) for _ in range(TRIES)), 2)


def _once(fleet: Fleet) -> float:
    begun = time.thread_time()
    plan(fleet)
    return 1000 * (time.thread_time() - begun)
