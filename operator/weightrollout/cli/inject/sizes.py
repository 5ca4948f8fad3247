"""Kubernetes quantities of bytes, and how much room staging takes. Pure arithmetic."""

import math
import re
from decimal import Decimal
from typing import Final

from weightrollout.cli.inject.report import Json, Staging

#: Of one version each: the one that is served, the last good one, and one that was superseded while its pod was reserved
#: (docs/limits.md).
IMAGES: Final = 3
#: Journal, indexes, files beside the weights.
SLACK_BYTES: Final = 64 << 20
#: The agent without what it stages: 76 MiB measured without an engine; the rest is room, not measured with a large checkpoint.
AGENT_BYTES: Final = 512 << 20
AGENT_CPU: Final = "100m"
#: In a pod of class Guaranteed the request is also the limit, and staging reads and hashes with it.
GUARANTEED_CPU: Final = "1"
PLUGIN_BYTES: Final = 128 << 20

_UNITS: Final[dict[str, Decimal]] = {
    **{
        unit: Decimal(1000) ** power
        for power, unit in enumerate(("", "k", "M", "G", "T", "P", "E"))
    },
    **{f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)},
    "m": Decimal("0.001"),
}
_QUANTITY: Final = re.compile(r"(\d+\.?\d*|\.\d+)(?:[eE](\d+)|([KMGTPE]i|[mkMGTPE]?))")


def read(text: object) -> int:
    """Bytes of a quantity, rounded up. Raises ValueError."""
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        raise ValueError(f"{text!r} is no quantity of bytes, such as 16Gi")
    number, exponent, unit = match.groups()
    factor = Decimal(10) ** int(exponent) if exponent else _UNITS[unit]
    return math.ceil(Decimal(number) * factor)


def write(size: int) -> str:
    """The shortest exact quantity of `size` bytes."""
    for unit, factor in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def staging_bytes(checkpoint_bytes: int) -> int:
    """Of the staging volume, whole MiB."""
    return -(-(IMAGES * checkpoint_bytes) // (1 << 20)) * (1 << 20) + SLACK_BYTES


def agent_memory(staging: Staging, checkpoint_bytes: int | None) -> int:
    """What is in a memory volume is charged to the container that wrote it."""
    if staging is Staging.DISK or checkpoint_bytes is None:
        return AGENT_BYTES
    return AGENT_BYTES + staging_bytes(checkpoint_bytes)


def is_guaranteed(spec: Json) -> bool:
    """Whether the pod's class is Guaranteed, which one container without limits would end."""
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    return bool(containers) and all(_is_fixed(each.get("resources") or {}) for each in containers)


def _is_fixed(resources: Json) -> bool:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    return all(
        kind in limits and str(requests.get(kind, limits[kind])) == str(limits[kind])
        for kind in ("cpu", "memory")
    )


def has_disk_limit(spec: Json) -> bool:
    """Whether some container limits ephemeral storage: only then the kubelet limits the pod's."""
    return any(
        "ephemeral-storage" in ((each.get("resources") or {}).get("limits") or {})
        for each in spec.get("containers") or []
    )
