"""Integer-or-percent fields and their two roundings, and amounts of bytes.

A *limit* (maxUnavailable, maxFailed) rounds down, so that a percentage never promises less
safety than it says. A *goal* rounds up. Source: Deployment and StatefulSet semantics.
"""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

#: As Kubernetes writes amounts, without fractions, exponents and what is no byte's.
BYTES: Final = re.compile(r"^([1-9][0-9]{0,14})(k|M|G|Ki|Mi|Gi)?$")
#: A range of a source is 4 MiB and takes turns: below this it would come every few minutes.
LEAST_RATE: Final = 64 << 10
MOST_RATE: Final = 1 << 40

_UNITS: Final = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "Ki": 1 << 10,
    "Mi": 1 << 20,
    "Gi": 1 << 30,
}

PERCENT: Final = re.compile(r"^(100|[0-9]{1,2})%$")


def _check(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"must be a whole number or a percentage such as '25%', got: {value!r}")
    if isinstance(value, int) and value < 0:
        raise ValueError(f"must not be negative, got: {value}")
    if isinstance(value, str) and not PERCENT.match(value):
        raise ValueError(f"must be a whole number or a percentage such as '25%', got: {value!r}")
    return value


IntOrPercent = Annotated[
    int | str,
    BeforeValidator(_check),
    WithJsonSchema({"x-kubernetes-int-or-string": True}),
]


def limit(value: int | str, base: int, *, at_least: int) -> int:
    """The largest count that `value` allows of `base` pods; rounds down, then the floor."""
    if isinstance(value, int):
        return max(value, at_least)
    return max(base * int(value.rstrip("%")) // 100, at_least)


def goal(value: int | str, base: int) -> int:
    """The count that `value` asks for of `base` pods; rounds up, never more than there are."""
    if isinstance(value, int):
        return min(value, base)
    return -(-base * int(value.rstrip("%")) // 100)


def bytes_of(value: object) -> int:
    """A whole number, or text with a unit. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"must be a number of bytes such as 100Mi, got: {value!r}")
    if isinstance(value, int):
        return value
    found = BYTES.fullmatch(value)
    if found is None:
        raise ValueError(f"must be a number of bytes such as 100Mi, got: {value!r}")
    return int(found[1]) * _UNITS[found[2] or ""]


def _check_rate(value: object) -> object:
    if not LEAST_RATE <= bytes_of(value) <= MOST_RATE:
        raise ValueError(f"must be from {LEAST_RATE} to {MOST_RATE} bytes, got: {value!r}")
    return value


ByteRate = Annotated[
    int | str,
    BeforeValidator(_check_rate),
    WithJsonSchema({"x-kubernetes-int-or-string": True}),
]
