"""Integer-or-percent fields and their two roundings.

A *limit* (maxUnavailable, maxFailed) rounds down, so that a percentage never promises less
safety than it says. A *goal* rounds up. Source: Deployment and StatefulSet semantics.
"""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

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
