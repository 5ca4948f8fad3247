"""The ends of a simulated engine that no code may run after."""

import os
import sys
from typing import Final, NoReturn

#: What `vllm-rs serve` exits with, whatever ended the core that it manages: exit 0, 139, a signal.
CRASHED: Final = 1


def die(code: int, why: str) -> NoReturn:
    """End the whole process now, as a crash of the engine core does."""
    print(f"simulator: exit {code}: {why}", file=sys.stderr, flush=True)
    os._exit(code)
