"""A no, with its reason: what a gate answers, and what becomes `status.hold`."""

from dataclasses import dataclass

from weightrollout.api.reasons import HoldGate


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason is CamelCase and stable; the message has names, numbers and the spec field."""

    gate: HoldGate
    reason: str
    message: str
    pods: tuple[str, ...] = ()
