"""Where traffic for a set of pods may go right now: to those that are Ready and not ending, as EndpointSlices would say.

Computed from pods, because EndpointSlices refuse the loopback addresses of a virtual node.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from localcluster.api import Api
from localcluster.pod_status import is_ready
from localcluster.pod_watch import PodWatch

Json = dict[str, Any]


@dataclass(frozen=True, order=True)
class Backend:
    """One pod that takes traffic."""

    pod: str
    ip: str
    port: int

    @property
    def url(self) -> str:
        """Its address for HTTP clients."""
        return f"http://{self.ip}:{self.port}"


class ReadyPods(PodWatch):
    """The Ready pods of a label selector; use as an async context manager."""

    def __init__(self, api: Api, namespace: str, selector: str, port: int | str) -> None:
        """`port`: a number, or the name of a port of any container, as a Service's targetPort."""
        super().__init__(api, namespace, selector)
        self.version = 0  # goes up with every change of `current`
        self._port = port
        self._backends: tuple[Backend, ...] = ()
        self._turn = 0
        self._change = asyncio.Condition()
        self._wakers: set[asyncio.Task[None]] = set()

    @property
    def current(self) -> tuple[Backend, ...]:
        """The pods that take traffic, in order of name."""
        return self._backends

    def pick(self) -> Backend:
        """The next one in turn; LookupError when there is none."""
        if not self._backends:
            raise LookupError("no pod is ready")
        self._turn += 1
        return self._backends[self._turn % len(self._backends)]

    async def changed(self, since: int | None = None) -> tuple[Backend, ...]:
        """Wait for the next change (with `since`: until `version` is above it) and return the new list."""
        known = self.version if since is None else since
        async with self._change:
            await self._change.wait_for(lambda: self.version > known)
        return self._backends

    def _look(self, pod: Json) -> None:
        self._compute()

    def _gone(self, pod: Json) -> None:
        self._compute()

    def _compute(self) -> None:
        found = tuple(
            sorted(b for pod in self._mirror.objects.values() if (b := backend_of(pod, self._port)))
        )
        if found == self._backends:
            return
        self._backends = found
        self.version += 1
        waker = asyncio.create_task(self._wake())
        self._wakers.add(waker)
        waker.add_done_callback(self._wakers.discard)

    async def _wake(self) -> None:
        async with self._change:
            self._change.notify_all()


def backend_of(pod: Json, port: int | str) -> Backend | None:
    """Where a pod takes traffic; None when it does not."""
    status = pod.get("status") or {}
    if "deletionTimestamp" in pod["metadata"] or not is_ready(status) or not status.get("podIP"):
        return None
    number = port if isinstance(port, int) else _named_port(pod, port)
    return None if number is None else Backend(pod["metadata"]["name"], status["podIP"], number)


def _named_port(pod: Json, name: str) -> int | None:
    for container in [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or [])]:
        for declared in container.get("ports") or []:
            if declared.get("name") == name:
                return int(declared["containerPort"])
    return None
