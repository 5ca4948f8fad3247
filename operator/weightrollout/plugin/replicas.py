"""How many data parallel replicas an engine has, also where vLLM forgets it.

Replicas of a dense model know nothing of each other: vLLM sets their number to 1 in each one's
process, before plugins are loaded there. So it is noted where the configuration is first made, in
the process that starts the others, for those that inherit its environment. Not in the configuration
itself: vLLM copies that field by field, and takes an unknown one for an error.
"""

import functools
import os
from typing import Any, Final

#: Set by this module alone, never by a user.
NOTE: Final = "WEIGHTROLLOUT_REPLICAS"


def listen() -> None:
    """Wrap the end of the configuration's constructor. Twice is once."""
    from vllm.config.parallel import ParallelConfig

    note(ParallelConfig)


def note(config: type) -> None:
    """Of a dataclass with `data_parallel_size`: what an object is made with is noted, unless it is 1."""
    made: Any = config.__dict__["__post_init__"]
    if getattr(made, "weightrollout", False):
        return

    @functools.wraps(made)
    def noting(self: Any, *args: Any) -> None:
        made(self, *args)
        if self.data_parallel_size > 1:
            os.environ[NOTE] = str(self.data_parallel_size)

    noting.weightrollout = True  # type: ignore[attr-defined]
    config.__post_init__ = noting  # type: ignore[attr-defined]


def count(parallel_config: Any) -> int:
    """At least 1."""
    return max(int(os.environ.get(NOTE, "1")), int(parallel_config.data_parallel_size))
