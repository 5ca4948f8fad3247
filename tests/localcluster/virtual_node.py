"""A node without a kubelet: registers itself, and runs the pods bound to it as local processes on loopback addresses.

In: a cluster and a base environment. Out: pods that start, answer probes, restart and end by the kubelet's rules, each on a
127.x.y.z of its own, so programs must bind to their pod IP (downward API), not to all addresses. Images are not run: a container
needs a `command` (or an entry point in the settings) that exists on this machine. Mount paths are rewritten, see `manifest`.
However the node ends, no process of it is left. Linux only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import uuid
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from localcluster.access import Cluster, service_account_token_for_pod
from localcluster.addresses import Addresses
from localcluster.api import Api, ApiError, Mirror, Unreachable, key_of
from localcluster.container import ContainerRunner
from localcluster.node_object import NodeObject
from localcluster.node_settings import HOST_IP, Host, NodeSettings, python_environment
from localcluster.pod_runner import PodRunner
from localcluster.probes import Prober
from localcluster.processes import Guard, log_tail
from localcluster.references import References
from localcluster.sweeper import Sweeper
from localcluster.volumes import MEMORY

Json = dict[str, Any]

NODE_MARK: Final = "LOCALCLUSTER_NODE"
READY_S: Final = 30.0
KILL_S: Final = 10.0
GUARD_S: Final = 30.0
# Never run here: DaemonSets of a real cluster tolerate everything, and kube-proxy as a process would be one of this machine.
SYSTEM: Final = "kube-system"

log = logging.getLogger(__name__)


class VirtualNode:
    """One node; use as an async context manager, which returns once pods can be scheduled to it."""

    def __init__(
        self,
        cluster: Cluster,
        name: str | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        settings: NodeSettings | None = None,
    ) -> None:
        """All may be left out.

        `name`: None for a new one; one that a dead node had takes its object and pods over. `environment`: the base of
        every process, None for `python_environment()`. `folder`: gets `logs/` and keeps it, None for a private one.
        """
        self.name = name or f"virtual-{uuid.uuid4().hex[:6]}"
        self.runners: dict[str, PodRunner] = {}  # by pod uid
        self._leaving: set[PodRunner] = set()  # their objects are gone, their processes may not be
        self._cluster = cluster
        self._settings = settings or NodeSettings()
        self._base = dict(python_environment() if environment is None else environment)
        self._scratch = Path(
            tempfile.mkdtemp(prefix="lcn-")
        )  # short: unix sockets in volumes have 107 bytes for their path
        self._memory = MEMORY / self._scratch.name
        self._logs = (folder or self._scratch) / "logs"
        self._mark = f"{NODE_MARK}={uuid.uuid4().hex}"
        self._guard = Guard(self._mark, [self._scratch, self._memory])
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._leave_as_crashed = False
        self._registered = False

    async def __aenter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        self._guard.start()
        try:
            self._api: Api = await self._stack.enter_async_context(self._cluster.api())
            await self._start()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._leave_as_crashed:
            await self._close()

    # -- for tests --

    @property
    def selector(self) -> dict[str, str]:
        """A nodeSelector that binds pods to this node, and keeps them off any other."""
        return {"kubernetes.io/hostname": self.name}

    @property
    def logs(self) -> Path:
        """Where containers log: `<namespace>_<pod>_<container>_<restart>.log`."""
        return self._logs

    def pid(self, namespace: str, pod: str, container: str) -> int:
        """The process id of a running container; LookupError when it does not run."""
        process = self._container(namespace, pod, container).process
        if process is None or process.exit_code is not None:
            raise LookupError(f"{namespace}/{pod} {container} does not run")
        return process.pid

    def kill(self, namespace: str, pod: str, container: str, number: int) -> None:
        """Signal a container's main process (SIGKILL, SIGSTOP, ...); LookupError when it does not run."""
        os.kill(self.pid(namespace, pod, container), number)

    def log_tail(
        self, namespace: str, pod: str, container: str, lines: int = 40, restart: int | None = None
    ) -> str:
        """The end of a container's log; of the newest run unless a `restart` count is given."""
        if restart is not None:
            return log_tail(self._logs / f"{namespace}_{pod}_{container}_{restart}.log", lines)
        runs = self._logs.glob(f"{namespace}_{pod}_{container}_*.log")
        newest = max(
            runs,
            key=lambda path: int(path.stem.rsplit("_", 1)[1]),
            default=self._logs / f"{pod}_{container}",
        )
        return log_tail(newest, lines)

    def volume(self, namespace: str, pod: str, name: str) -> Path:
        """The folder behind a volume of a pod."""
        return Path(self._runner(namespace, pod).volumes.folders[name])

    async def crash(self) -> None:
        """End as a machine that loses power: all processes die, the API server is told nothing. The object stays."""
        self._leave_as_crashed = True
        await self._close(tell=False)

    # -- its own life --

    async def _start(self) -> None:
        prober = Prober()
        self._stack.push_async_callback(prober.close)
        self._addresses = Addresses()
        self._stack.callback(self._addresses.release)
        self._references = References(self._api, self._source_changed)
        self._host = Host(
            name=self.name,
            settings=self._settings,
            environment={**self._base, **self._api_address()},
            folder=self._scratch,
            memory_folder=self._memory,
            logs=self._logs,
            mark=self._mark,
            lookup=self._references.lookup,
            tokens=self._token,
            prober=prober,
            sweeper=Sweeper(),
        )
        for mirror in self._references.mirrors.values():
            self._spawn(mirror.run(), "references")
        for mirror in self._references.mirrors.values():
            await asyncio.wait_for(mirror.synced.wait(), READY_S)
        pods = Mirror(
            self._api,
            "/api/v1/pods",
            self._pod_set,
            self._pod_gone,
            fieldSelector=f"spec.nodeName={self.name}",
        )
        self._spawn(pods.run(), "pods")
        await asyncio.wait_for(pods.synced.wait(), READY_S)
        self._node = NodeObject(self._api, self.name, self._settings)
        self._registered = True  # even when its answer is lost
        await self._node.register()
        self._spawn(self._node.keep_alive(), "heartbeat")
        await self._node.schedulable(READY_S)

    def _api_address(self) -> dict[str, str]:
        """What in-cluster clients read; the Service address of the API server leads nowhere without kube-proxy."""
        host, _, port = self._api.access.server.split("://", 1)[1].rstrip("/").partition(":")
        return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port or "443"}

    async def _token(self, pod: Json, audiences: list[str], lifetime_s: int) -> str:
        return await service_account_token_for_pod(self._api, pod, audiences, lifetime_s)

    def _pod_set(self, pod: Json) -> None:
        if pod["metadata"]["namespace"] == SYSTEM:
            return
        known = self.runners.get(pod["metadata"]["uid"])
        if known is not None:
            known.update(pod)
            return
        address = HOST_IP if pod["spec"].get("hostNetwork") else self._addresses.next()
        runner = PodRunner(self._api, self._host, pod, address, self._references)
        self.runners[runner.uid] = runner
        runner.start()

    def _pod_gone(self, pod: Json) -> None:
        runner = self.runners.pop(pod["metadata"]["uid"], None)
        if runner is not None:
            self._leaving = {left for left in self._leaving if not left.finished.is_set()}
            self._leaving.add(runner)
            runner.vanish()

    def _source_changed(self, kind: str, namespace: str, name: str) -> None:
        for runner in self.runners.values():
            if runner.pod["metadata"]["namespace"] == namespace:
                runner.source_changed(kind, name)

    def _runner(self, namespace: str, pod: str) -> PodRunner:
        for runner in reversed(self.runners.values()):
            if key_of(runner.pod) == (namespace, pod):
                return runner
        raise LookupError(f"no pod {namespace}/{pod} on node {self.name}")

    def _container(self, namespace: str, pod: str, container: str) -> ContainerRunner:
        return self._runner(namespace, pod).runners[container]

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=f"node {self.name}: {name}")
        task.add_done_callback(_tell_failure)
        self._tasks.append(task)

    async def _close(self, *, tell: bool = True) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        runners = [*self.runners.values(), *self._leaving]
        for runner in runners:
            runner.vanish()
        try:
            async with asyncio.timeout(KILL_S):
                await asyncio.gather(*(runner.finished.wait() for runner in runners))
        except TimeoutError:
            log.error("node %s: pods that did not end are swept", self.name)
        if tell and self._registered:
            await self._deregister(runners)
        await self._stack.aclose()
        await self._guard.release(GUARD_S)

    async def _deregister(self, runners: list[PodRunner]) -> None:
        """Remove the pods and the node from the API server; whatever cannot be removed is left to its garbage collector."""
        try:
            for runner in runners:
                await self._delete(runner.path, {"preconditions": {"uid": runner.uid}})
            await self._delete(f"/api/v1/nodes/{self.name}", {})
        except Unreachable as lost:
            log.info("node %s leaves without a word: %r", self.name, lost)

    async def _delete(self, path: str, options: Json) -> None:
        try:
            await self._api.delete(
                path,
                {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, **options},
            )
        except ApiError as refused:
            log.debug("%s: %s", path, refused)


def _tell_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (failure := task.exception()) is not None:
        log.error("%s failed", task.get_name(), exc_info=failure)
