"""Write one pod's status to the API server: on change only, at once, and again after an outage.

Conditions of other writers are never touched; ours are restored when somebody overwrote them.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import logging
from collections.abc import Sequence
from typing import Any, Final

from localcluster.api import Api, ApiError, Unreachable
from localcluster.node_settings import HOST_IP
from localcluster.pod_status import ContainerRecord, PodAddress, now_text, pod_status

Json = dict[str, Any]

RETRY_S: Final = 0.2

log = logging.getLogger(__name__)


class PodReporter:
    """The status of one pod; `run` it as a task, call `changed` whenever a record has changed."""

    def __init__(self, api: Api, pod: Json, records: Sequence[ContainerRecord]) -> None:
        """`records` are read at each write."""
        self._api = api
        self._pod = pod
        self._records = records
        since = (pod.get("status") or {}).get("startTime") or now_text(_now())
        self._address = PodAddress(None, HOST_IP, since)
        self._dirty = asyncio.Event()
        self._silent = False
        self._written: Json = {}
        self._written_version = 0

    def changed(self) -> None:
        """Something that the status shows may have changed."""
        self._dirty.set()

    def has_address(self, pod_ip: str) -> None:
        """The pod has got its address."""
        self._address = dataclasses.replace(self._address, pod_ip=pod_ip)
        self.changed()

    def update(self, pod: Json) -> None:
        """The pod object has changed: gates may have opened, or somebody overwrote a condition of ours."""
        self._pod = pod
        seen = int(pod["metadata"]["resourceVersion"])
        if seen >= self._written_version and self._overwritten():
            self._written = {}
        self.changed()

    def be_silent(self) -> None:
        """Write nothing more: the object is gone, or the node plays dead."""
        self._silent = True

    async def run(self) -> None:
        """Write after every change, for ever; cancel it."""
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            try:
                await self.write()
                continue
            except ApiError as refused:
                if is_gone(refused):
                    continue  # the watch will tell
                log.warning("cannot write the status of %s: %s", path_of(self._pod), refused)
            except Unreachable as lost:
                log.debug("cannot write the status of %s yet: %r", path_of(self._pod), lost)
            await asyncio.sleep(RETRY_S)
            self._dirty.set()

    async def write(self) -> None:
        """Write now, if anything differs from what was written last. ApiError, or one of `Unreachable`."""
        before = (self._written or self._pod.get("status") or {}).get("conditions") or []
        status = pod_status(self._pod, self._records, self._address, _now(), before)
        if self._silent or status == self._written:
            return
        body = {"metadata": {"uid": self._pod["metadata"]["uid"]}, "status": status}
        path = f"{path_of(self._pod)}/status"
        answer = await self._api.patch(path, body, "strategic", fieldManager="virtual-node")
        self._written = status
        self._written_version = int(answer["metadata"]["resourceVersion"])

    def _overwritten(self) -> bool:
        """As the node lifecycle controller does it with the pods of a node that was silent."""
        found = (self._pod.get("status") or {}).get("conditions") or []
        theirs = {condition["type"]: condition["status"] for condition in found}
        ours = self._written.get("conditions") or []
        return any(theirs.get(condition["type"]) != condition["status"] for condition in ours)


def path_of(pod: Json) -> str:
    """The API path of a pod."""
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def is_gone(refused: ApiError) -> bool:
    """Whether our pod is not there any more (409, and 422 about the uid: another one of its name is)."""
    return refused.status in (404, 409) or (
        refused.status == 422 and "metadata.uid" in str(refused)
    )


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
