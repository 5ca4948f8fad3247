"""The ends of a simulated engine that no code may run after."""

import os
import sys
from typing import Final, NoReturn

CRASHED: Final = 1
SEGFAULT: Final = 139  # as a shell and the kubelet report signal 11
ASKED: Final = 0


def die(code: int, why: str) -> NoReturn:
    """End the whole process now, as a crash of the engine core does."""
    print(f"simulator: exit {code}: {why}", file=sys.stderr, flush=True)
    os._exit(code)
