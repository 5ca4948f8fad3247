"""`<run>.<step>`: how a trainer's versions are named, and which of them are newer."""

import re
from typing import Final

LONGEST: Final = 63  # of a label's value, which a version must be
_RUN: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,45}[A-Za-z0-9])?")
_STEP: Final = re.compile(r"0|[1-9][0-9]{0,14}")


def version_of(run: str, step: int) -> str:
    """Raises ValueError."""
    if not _RUN.fullmatch(run):
        raise ValueError(f"run must be up to 47 letters, digits, - and _; got {run!r}")
    if isinstance(step, bool) or not isinstance(step, int) or not _STEP.fullmatch(str(step)):
        raise ValueError(f"step must be an int from 0; got {step!r}")
    return f"{run}.{step}"


def step_of(run: str, version: str) -> int | None:
    """None: it is no version of this run."""
    head, _, tail = version.rpartition(".")
    return int(tail) if head == run and _STEP.fullmatch(tail) else None


def at_least(run: str, version: str, step: int) -> bool:
    found = step_of(run, version)
    return found is not None and found >= step
