"""How many data parallel replicas an engine has, also where vLLM forgets it.

Replicas of a dense model know nothing of each other: vLLM sets their number to 1 in each one's
process, before plugins are loaded there. So the number is noted beside the setting where it is first
read, in the process that starts the others, and travels with the configuration.
"""

import functools
from typing import Any, Final

_NOTED: Final = "_weightrollout_replicas"


def listen() -> None:
    """Wrap the end of the configuration's constructor. Twice is once."""
    from vllm.config.parallel import ParallelConfig

    note(ParallelConfig)


def note(config: type) -> None:
    """Of a dataclass with `data_parallel_size`: each object remembers what it was made with."""
    made: Any = config.__dict__["__post_init__"]
    if getattr(made, "weightrollout", False):
        return

    @functools.wraps(made)
    def noting(self: Any, *args: Any) -> None:
        made(self, *args)
        # Past checks of assignments: it is no setting of vLLM's.
        vars(self)[_NOTED] = self.data_parallel_size

    noting.weightrollout = True  # type: ignore[attr-defined]
    config.__post_init__ = noting  # type: ignore[attr-defined]


def count(parallel_config: Any) -> int:
    """At least 1."""
    return max(int(vars(parallel_config).get(_NOTED, 1)), int(parallel_config.data_parallel_size))
