"""A no, with its reason: what a gate answers, and what becomes `status.hold`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weightrollout.api.reasons import HoldGate

#: Pods that a message names; it must be read by people, and stay far below what an object may hold.
NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason is CamelCase and stable; the message has names, numbers and the spec field."""

    gate: HoldGate
    reason: str
    message: str
    pods: tuple[str, ...] = ()


def listed(names: Sequence[str]) -> str:
    """ "a, b, c and 7 more"."""
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
