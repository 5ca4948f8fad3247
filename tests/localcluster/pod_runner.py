"""Run one pod from the moment it is bound to the node until its object is gone, and keep its status true meanwhile.

The watch feeds it (`update`, `vanish`); it writes only `pods/status` and the final delete. Containers go on while the API
server is away; the status is written when it is back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, Final

from localcluster.api import Api, ApiError, Unreachable
from localcluster.container import ContainerRunner
from localcluster.container_command import PodContext
from localcluster.manifest import ConfigError, PodFacts, containers
from localcluster.node_settings import HOST_IP, Host
from localcluster.pod_reporter import RETRY_S, PodReporter, is_gone, path_of
from localcluster.pod_status import ContainerRecord
from localcluster.references import References
from localcluster.volumes import PodVolumes

Json = dict[str, Any]

REFRESH_S: Final = 30.0  # tokens of projected volumes are looked at that often

log = logging.getLogger(__name__)


class PodRunner:
    """One pod. `start` it once; `finished` is set when nothing of it is left on this machine."""

    def __init__(
        self, api: Api, host: Host, pod: Json, pod_ip: str, references: References
    ) -> None:
        """`pod_ip` is the pod's alone for as long as it lives."""
        self.pod = pod
        self.uid: str = pod["metadata"]["uid"]
        self.finished = asyncio.Event()
        self._api = api
        self._references = references
        folder, memory = host.folder / "pods" / self.uid[:13], host.memory_folder / self.uid[:13]
        volumes = PodVolumes(folder / "v", memory, host.lookup, host.tokens)
        facts = PodFacts(pod, pod_ip, HOST_IP, host.name)
        self._records: list[ContainerRecord] = []
        self._reporter = PodReporter(api, pod, self._records)
        self._context = PodContext(host, facts, volumes, folder, self._reporter.changed)
        self.runners: dict[str, ContainerRunner] = {}
        self._runs: dict[str, asyncio.Task[int]] = {}
        self._doomed = asyncio.Event()  # has to end: deleted, or vanished
        self._told_grace_s = 0.0  # when it was doomed
        self._vanished = asyncio.Event()  # the object is gone: end at once
        self._stale = asyncio.Event()  # a source of a volume may have changed
        self._tasks: set[asyncio.Task[Any]] = set()
        self._make_containers()
        self._look_for_doom()

    @property
    def path(self) -> str:
        """The API path of the pod."""
        return path_of(self.pod)

    @property
    def volumes(self) -> PodVolumes:
        """Its volumes."""
        return self._context.volumes

    # -- what the node tells it --

    def start(self) -> None:
        """Begin to run it."""
        self._spawn(self._run(), "run")
        self._spawn(self._reporter.run(), "status")
        self._spawn(self._refresh_volumes(), "volumes")

    def update(self, pod: Json) -> None:
        """The pod object has changed: labels, conditions of others, a deletion."""
        if _labelled(pod) != _labelled(self.pod):
            self._stale.set()
        self.pod = pod
        self._context.facts = PodFacts(
            pod, self._context.facts.pod_ip, HOST_IP, self._context.host.name
        )
        self._reporter.update(pod)
        self._look_for_doom()

    def source_changed(self, kind: str, name: str) -> None:
        """A ConfigMap or Secret of the pod's namespace has changed."""
        if self._references.mentions(self.pod, kind, name):
            self._stale.set()

    def vanish(self) -> None:
        """The object is gone from the API server, or the node ends: kill, write nothing."""
        self._reporter.be_silent()
        self._vanished.set()
        self._doomed.set()

    # -- its life --

    async def _run(self) -> None:
        try:
            over = (self.pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
            if not over:  # else: an earlier node of our name ran it, and it waits to be deleted
                life = self._spawn(self._live(), "life")
                await self._doomed.wait()
                life.cancel()
                await asyncio.wait({life})
                await self._end()
            await self._doomed.wait()
            await self._delete_object(report=not over)
        finally:
            for task in self._tasks - {asyncio.current_task()}:
                task.cancel()
            await asyncio.to_thread(self._context.volumes.remove)
            self.finished.set()

    async def _live(self) -> None:
        """Volumes, init containers and sidecars in order, main containers, and the end of the sidecars if those end."""
        self._reporter.has_address(self._context.facts.pod_ip)
        await self._prepare_volumes()
        for record in self._records:
            record.state = {
                "waiting": {"reason": "PodInitializing" if self._has_init else "ContainerCreating"}
            }
        self._reporter.changed()
        for name, runner in self.runners.items():
            if runner.record.kind == "sidecar":
                run = self._run_container(name)
                started = self._spawn(runner.was_started.wait(), f"start of {name}")
                await asyncio.wait({run, started}, return_when=asyncio.FIRST_COMPLETED)
            elif (
                runner.record.kind == "init"
                and await asyncio.shield(self._run_container(name)) != 0
            ):
                await self._stop_sidecars(self._context.grace_s)
                return
        mains = [
            self._run_container(name)
            for name, runner in self.runners.items()
            if runner.record.kind == "main"
        ]
        await asyncio.wait(mains)
        await self._stop_sidecars(self._context.grace_s)
        self._reporter.changed()

    def _run_container(self, name: str) -> asyncio.Task[int]:
        self._runs[name] = self._spawn(self.runners[name].run(), name)
        return self._runs[name]

    async def _prepare_volumes(self) -> None:
        while True:
            try:
                await self._references.fetch(self.pod)
                await self._context.volumes.prepare(self._context.facts)
                return
            except (ConfigError, ApiError, *Unreachable) as missing:
                waiting = {"waiting": {"reason": "ContainerCreating", "message": str(missing)}}
                for record in self._records:
                    record.state = waiting
                self._reporter.changed()
            await asyncio.sleep(RETRY_S)

    async def _end(self) -> None:
        """Stop all containers in order; at once when the object vanishes meanwhile."""
        stopping = self._spawn(self._stop_in_order(), "stop")
        vanished = self._spawn(self._vanished.wait(), "vanished")
        await asyncio.wait({stopping, vanished}, return_when=asyncio.FIRST_COMPLETED)
        if self._vanished.is_set():
            await asyncio.gather(*(self.runners[name].stop(0.0) for name in self._runs))
            if self._runs:
                await asyncio.wait(self._runs.values())
        await stopping

    async def _stop_in_order(self) -> None:
        grace_s = 0.0 if self._vanished.is_set() else self._deletion_grace_s()
        end = asyncio.get_running_loop().time() + grace_s
        others = [name for name in self._runs if self.runners[name].record.kind != "sidecar"]
        await asyncio.gather(*(self._stop(name, grace_s) for name in others))
        await self._stop_sidecars(end - asyncio.get_running_loop().time() if grace_s else 0.0)

    async def _stop_sidecars(self, grace_s: float) -> None:
        """The last started first."""
        end = asyncio.get_running_loop().time() + grace_s
        for name in reversed(
            [name for name in self._runs if self.runners[name].record.kind == "sidecar"]
        ):
            left_s = end - asyncio.get_running_loop().time()
            await self._stop(
                name, max(left_s, self._context.host.settings.minimum_grace_s) if grace_s else 0.0
            )

    async def _stop(self, name: str, grace_s: float) -> None:
        await self.runners[name].stop(grace_s)
        await asyncio.wait({self._runs[name]})

    async def _delete_object(self, *, report: bool) -> None:
        while not self._vanished.is_set():
            try:
                if report:
                    await self._reporter.write()
                options = {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
                await self._api.delete(
                    self.path, {"apiVersion": "v1", "kind": "DeleteOptions", **options}
                )
                return
            except ApiError as refused:
                if is_gone(refused):
                    return
                log.warning("cannot delete %s: %s", self.path, refused)
            except Unreachable as lost:
                log.debug("cannot delete %s yet: %r", self.path, lost)
            await asyncio.sleep(RETRY_S)

    # -- the rest --

    @property
    def _has_init(self) -> bool:
        return any(record.kind != "main" for record in self._records)

    def _make_containers(self) -> None:
        earlier = _earlier_restarts(self.pod)
        for spec, kind in containers(self.pod):
            record = ContainerRecord(spec["name"], spec.get("image", ""), kind)
            record.restarts = earlier.get(spec["name"], 0)
            record.state = {"waiting": {"reason": "ContainerCreating"}}
            self._records.append(record)
            self.runners[spec["name"]] = ContainerRunner(spec, record, self._context)

    def _look_for_doom(self) -> None:
        if "deletionTimestamp" not in self.pod["metadata"]:
            return
        grace_s = self._deletion_grace_s()
        if self._doomed.is_set() and grace_s < self._told_grace_s:  # deleted again, more urgently
            self._spawn(self._hurry(grace_s), "hurry")
        self._told_grace_s = grace_s
        self._doomed.set()

    async def _hurry(self, grace_s: float) -> None:
        await asyncio.sleep(grace_s)
        await asyncio.gather(*(self.runners[name].stop(0.0) for name in self._runs))

    def _deletion_grace_s(self) -> float:
        return float(self.pod["metadata"].get("deletionGracePeriodSeconds", self._context.grace_s))

    async def _refresh_volumes(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(REFRESH_S):
                    await self._stale.wait()
            self._stale.clear()
            if not self._context.volumes.folders:
                continue
            try:
                await self._context.volumes.refresh(self._context.facts)
            except (ConfigError, ApiError, *Unreachable) as missing:
                log.debug("volumes of %s stay as they are: %s", self.path, missing)

    def _spawn(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name=f"{self.pod['metadata']['name']}: {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_tell_failure)
        return task


def _labelled(pod: Json) -> tuple[Any, Any]:
    """What a downwardAPI volume may show of a pod that changes."""
    return pod["metadata"].get("labels"), pod["metadata"].get("annotations")


def _earlier_restarts(pod: Json) -> dict[str, int]:
    """The restart count to go on from, by container: an earlier node of our name ran some of them, and they are gone."""
    status = pod.get("status") or {}
    entries = [
        *(status.get("containerStatuses") or []),
        *(status.get("initContainerStatuses") or []),
    ]
    return {
        entry["name"]: entry["restartCount"] + 1 for entry in entries if entry.get("containerID")
    }


def _tell_failure(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (failure := task.exception()) is not None:
        log.error("%s failed", task.get_name(), exc_info=failure)
