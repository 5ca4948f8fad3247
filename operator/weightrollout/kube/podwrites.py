"""The one write to a pod: label, annotation and gate condition in a single apply on pods/status.

Server-side apply removes what its manager leaves out, so every write carries all that is ours and
changes one part of it. Writes to one pod follow each other; each is checked against the uid (names are
reused by StatefulSets) and against the resourceVersion that the rest was read from.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakValueDictionary

from weightrollout.api.names import (
    ANNOTATION_SWAP,
    FIELD_MANAGER,
    GATE_SERVING,
    LABEL_VERSION,
)
from weightrollout.clock import Clock, rfc3339
from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import Conflict, Invalid, NotFound
from weightrollout.kube.picture import Picture
from weightrollout.kube.pods import Gate, Pod, pods_path, trim_pod

TRIES: Final = 4  # the kubelet writes the same object; each try has read what it wrote


@dataclass(frozen=True, slots=True)
class Ours:
    """All that we own on a pod. "" and None: not there."""

    version_label: str
    swap_annotation: str
    gate: Gate | None


class PodGone(NotFound):
    """The pod does not exist any more; one of the same name may."""

    reason = "PodGone"


class PodWriter:
    """`allowed` is asked right before each request and raises when this process must not write."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        locks: WeakValueDictionary[str, asyncio.Lock] | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._locks = WeakValueDictionary() if locks is None else locks  # by pod uid

    def within(self, namespace: str) -> "PodWriter":
        return PodWriter(self._client.within(namespace), self._clock, self._locks)

    async def write(
        self,
        store: Picture[Pod],
        name: str,
        uid: str,
        change: Callable[[Pod, Ours], Ours],
        allowed: Callable[[], None],
    ) -> None:
        """Apply `change` to what is ours. Nothing is sent when it is so already."""
        lock = self._locks.setdefault(uid, asyncio.Lock())
        async with lock:
            pod = store.get(name)
            for _ in range(TRIES):
                if pod is None or pod.uid != uid:
                    store.drop(name, uid)
                    raise PodGone(f"pod {name} ({uid}) is gone")
                ours = Ours(pod.version_label, pod.swap_annotation, pod.gate)
                wanted = change(pod, ours)
                if wanted == ours:
                    return
                allowed()
                try:
                    store.learn(await self._apply(pod, wanted))
                    return
                except NotFound:
                    pod = None
                except (Conflict, Invalid) as refused:  # Invalid: the uid is another one
                    pod = await self._read(name)
                    if pod is not None and pod.uid == uid and isinstance(refused, Invalid):
                        raise
            raise Conflict(f"pod {name} was written by others {TRIES} times in a row")

    def flip(self, gate: Gate | None, open_: bool, reason: str, message: str) -> Gate:
        """The gate with this answer; its transition time moves only when the answer changes."""
        if gate is not None and gate.open == open_:
            return gate if gate.reason == reason else replace(gate, reason=reason, message=message)
        return Gate(open_, reason, message, rfc3339(self._clock.wall()))

    async def _read(self, name: str) -> Pod | None:
        """By a list of one: watching gives the right to list, and no other read is needed."""
        query = {"fieldSelector": f"metadata.name={name}"}
        found = (await self._client.get(pods_path(self._client), query))["items"]
        return trim_pod(found[0]) if found else None

    async def _apply(self, pod: Pod, wanted: Ours) -> Json:
        path = f"{pods_path(self._client)}/{pod.name}/status"
        return await self._client.apply(path, apply_body(pod, wanted), FIELD_MANAGER)


def apply_body(pod: Pod, wanted: Ours) -> Json:
    metadata: Json = {
        "name": pod.name,
        "uid": pod.uid,
        "resourceVersion": str(pod.resource_version),
    }
    if wanted.version_label:
        metadata["labels"] = {LABEL_VERSION: wanted.version_label}
    if wanted.swap_annotation:
        metadata["annotations"] = {ANNOTATION_SWAP: wanted.swap_annotation}
    body: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    if wanted.gate is not None:
        condition = {
            "type": GATE_SERVING,
            "status": "True" if wanted.gate.open else "False",
            "reason": wanted.gate.reason,
            "message": wanted.gate.message,
            "lastTransitionTime": wanted.gate.since,
        }
        body["status"] = {"conditions": [condition]}
    return body
