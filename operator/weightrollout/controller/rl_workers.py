"""`GET /v1/rl/workers`: which engines a trainer can drive, in the form of NVIDIA Dynamo's discovery. Pure.

Exactly its keys, because some clients refuse any other. The list is the same while nothing changed, and does not
depend on pauses or sleep: clients pin it, and derive their ranks from its order.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from weightrollout.api.addresses import with_port

PROTOCOL_VERSION: Final = 1
ENDPOINT: Final = "rl"
#: Not among Dynamo's keys; prime-rl's pull request 3296 waits for it.
BACKEND: Final = "weight_transfer_backend"
#: JavaScript keeps whole numbers exact below this.
INSTANCE_BITS: Final = 53


@dataclass(frozen=True, slots=True)
class Door:
    """The routes of one agent."""

    port: int
    tls: bool
    routes: tuple[str, ...]
    world_size: int
    model: str
    backend: str = ""  # of its weight transfer, as the engine calls it


@dataclass(frozen=True, slots=True)
class Worker:
    """One pod of a fleet, as its agent told it last."""

    rollout: str
    pod: str
    pod_uid: str
    ip: str
    door: Door | None  # None: shut, or nobody has heard of it
    instance: str  # of the engine; "" for none
    trouble: str = ""  # why what was told may be true no more


def listing(
    namespace: str, workers: Iterable[Worker], *, with_backend: bool = False
) -> dict[str, Any]:
    """Agents without the routes are left out, and so are those of whom nobody ever heard that they have them.

    `with_backend`: with the key that one client asks for and another refuses.
    """
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for worker in workers:
        if worker.door is not None:
            body = _body(namespace, worker, worker.door)
            if with_backend and worker.door.backend and "error" not in body:
                body[BACKEND] = worker.door.backend
            found.setdefault((worker.rollout, body["instance_id"]), body)
    return {
        "protocol_version": PROTOCOL_VERSION,
        "namespace": namespace,
        "workers": [found[key] for key in sorted(found)],
    }


def _body(namespace: str, worker: Worker, door: Door) -> dict[str, Any]:
    trouble = worker.trouble or _why_not_ready(worker, door)
    body: dict[str, Any] = {
        "namespace": namespace,
        "component": worker.rollout,
        "endpoint": ENDPOINT,
        "instance_id": instance_id(worker.instance or worker.pod_uid),
        "transport": {"tcp": with_port(worker.ip, door.port)},
        "request_plane_url": f"dyn://{namespace}.{worker.rollout}.{ENDPOINT}",
        "routes": [] if trouble else sorted(set(door.routes)),
    }
    if door.model:
        # Also of one in trouble: clients pass over workers of another model, and wait for theirs.
        body["model"] = door.model
    if trouble:
        return {**body, "error": trouble}
    scheme = "https" if door.tls else "http"
    body["system_url"] = f"{scheme}://{with_port(worker.ip, door.port)}"
    if door.world_size:
        body["world_size"] = door.world_size
    return body


def _why_not_ready(worker: Worker, door: Door) -> str:
    if not worker.instance:
        return "the engine has not answered its agent yet"
    return "" if door.model else "the engine has not said yet which model it serves"


def instance_id(text: str) -> int:
    """Stable for one engine process, another one after its restart."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return number >> (64 - INSTANCE_BITS)
