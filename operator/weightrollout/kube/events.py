"""Kubernetes Events, posted in the background: a pass never waits for one and never fails by one.

The same event again raises the count of the first (a deterministic name and `series`), so that
`kubectl describe` shows "x3" and not three lines.
"""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weightrollout.api.names import API_VERSION, GROUP, KIND
from weightrollout.clock import Clock
from weightrollout.kube.client import Client, Json
from weightrollout.kube.errors import Conflict, KubeError, NotFound

QUEUE: Final = 256
REMEMBERED: Final = 1024
NOTE_BYTES: Final = 1024  # the API server refuses more
CONTROLLER: Final = f"{GROUP}/operator"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Regarding:
    namespace: str
    api_version: str
    kind: str
    name: str
    uid: str


def about_rollout(namespace: str, name: str, uid: str) -> Regarding:
    return Regarding(namespace, API_VERSION, KIND, name, uid)


def about_pod(namespace: str, name: str, uid: str) -> Regarding:
    return Regarding(namespace, "v1", "Pod", name, uid)


@dataclass(frozen=True, slots=True)
class Event:
    regarding: Regarding
    warning: bool
    reason: str
    note: str
    action: str = "Rollout"

    @property
    def name(self) -> str:
        facts = (self.regarding.uid, self.reason, self.action, self.note)
        return f"{self.regarding.name}.{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}"


class Events:
    """`post` never blocks; run `run` as a task. `on_drop(reason)` is told of what was not posted."""

    def __init__(
        self, client: Client, clock: Clock, instance: str, on_drop: Callable[[str], None]
    ) -> None:
        self._client = client
        self._clock = clock
        self._instance = instance[:128]
        self._on_drop = on_drop
        self._queue: asyncio.Queue[Event] = asyncio.Queue(QUEUE)
        self._counts: OrderedDict[str, int] = OrderedDict()

    def post(self, event: Event) -> None:
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self._on_drop("QueueFull")

    async def run(self) -> None:
        """Never returns; cancel it."""
        while True:
            event = await self._queue.get()
            try:
                await self._write(event)
            except KubeError as refused:
                log.warning(
                    "event %s on %s was not posted: %s", event.reason, event.regarding.name, refused
                )
                self._on_drop(refused.reason)

    async def _write(self, event: Event) -> None:
        path = self._client.within(event.regarding.namespace).collection(
            "/apis/events.k8s.io/v1", "events"
        )
        count = self._counts.get(event.name, 0) + 1
        now = self._clock.wall().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if count == 1:
            try:
                await self._client.create(path, self._body(event, now))
                self._remember(event.name, 1)
                return
            except Conflict:  # posted by an earlier leader; how often is not worth a right to read
                count = 2
        series = {"series": {"count": count, "lastObservedTime": now}}
        try:
            await self._client.merge(f"{path}/{event.name}", series)
            self._remember(event.name, count)
        except NotFound:  # it expired, an hour is the default
            await self._client.create(path, self._body(event, now))
            self._remember(event.name, 1)

    def _remember(self, name: str, count: int) -> None:
        self._counts[name] = count
        self._counts.move_to_end(name)
        while len(self._counts) > REMEMBERED:
            self._counts.popitem(last=False)

    def _body(self, event: Event, now: str) -> Json:
        regarding = event.regarding
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": event.name, "namespace": regarding.namespace},
            "eventTime": now,
            "type": "Warning" if event.warning else "Normal",
            "reason": event.reason[:128],
            "action": event.action,
            "note": event.note.encode()[:NOTE_BYTES].decode(errors="ignore"),
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
            "regarding": {
                "apiVersion": regarding.api_version,
                "kind": regarding.kind,
                "name": regarding.name,
                "namespace": regarding.namespace,
                "uid": regarding.uid,
            },
        }
