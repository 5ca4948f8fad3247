"""A real Kubernetes control plane on this machine, without Docker: etcd, API server, controller manager, scheduler.

In: a binary from `build`. Out: a `LocalCluster` that is ready in a few seconds and leaves no process and no file behind, however
its user ends. It has no kubelet: `virtual_node` stands in for one. It listens on 127.0.0.1 only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import tempfile
import uuid
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from localcluster.access import Cluster
from localcluster.api import ApiError, Unreachable
from localcluster.build import control_plane_binary
from localcluster.certificates import Authority, Leaf, service_account_key
from localcluster.control_plane import LOOPBACK_ONLY, ControlPlane
from localcluster.kubeconfig import Access, write_kubeconfig
from localcluster.processes import Command, Guard, Process, log_tail, start_process
from localcluster.waiting import NeverCame, eventually
from ports import ports_for_good

STOP_S: Final = 3.0
GUARD_S: Final = 30.0

log = logging.getLogger(__name__)


class ClusterFailed(Exception):
    """A part did not come up, or has ended; the message holds the end of its log."""


class LocalCluster(Cluster):
    """A control plane of our own; use as an async context manager."""

    def __init__(self, folder: Path | None = None, settings: ControlPlane = LOOPBACK_ONLY) -> None:
        """`folder` keeps state and logs and is left there; None: a private one that is removed at the end."""
        self.authority = Authority()
        self._settings = settings
        self._own_folder = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix="localcluster-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        super().__init__(self.folder / "admin.kubeconfig", "localcluster")
        self._parts: dict[str, Process] = {}
        self._ports: dict[str, int] = {}
        self._binary = Path()
        self._mark = f"LOCALCLUSTER_CLUSTER={uuid.uuid4().hex}"
        self._guard = Guard(self._mark, [self.folder] if self._own_folder else [])

    async def __aenter__(self) -> Self:
        self._binary = await asyncio.to_thread(control_plane_binary)
        self._guard.start()
        try:
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
        await self._close()

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return f"https://127.0.0.1:{self._ports['kube-apiserver']}"

    def assert_alive(self) -> None:
        """`ClusterFailed` when a part that should run has ended by itself."""
        for name, part in self._parts.items():
            if part.exit_code is not None:
                raise self._failed(name, f"has ended with {part.exit_code}")

    def log_tail(self, part: str, lines: int = 40) -> str:
        """The end of the log of one part, as "kube-apiserver"."""
        return log_tail(self.folder / "log" / f"{part}.log", lines)

    def pid(self, part: str) -> int:
        """The process id of one part."""
        return self._parts[part].pid

    async def stop_apiserver(self, grace_s: float = 0.0) -> None:
        """End the API server, by default at once as a crash does; the rest runs on."""
        part = self._parts.pop("kube-apiserver", None)
        if part is not None:
            if grace_s == 0.0:
                part.signal(signal.SIGKILL)
            await part.stop(grace_s)

    async def start_apiserver(self) -> None:
        """Start it again, at the same address, and wait until it is ready."""
        self._run_apiserver()
        await self._ready("kube-apiserver")

    async def restart_apiserver(self) -> None:
        """Crash it and start it again."""
        await self.stop_apiserver()
        await self.start_apiserver()

    async def snapshot(self) -> Path:
        """A copy of etcd's data as of now, as a crash would leave it; nothing stops for long."""
        copy = self.folder / f"etcd-{uuid.uuid4().hex[:8]}"
        etcd = self._parts["etcd"]
        etcd.signal(signal.SIGSTOP)
        try:
            await asyncio.to_thread(shutil.copytree, self.folder / "etcd", copy)
        finally:
            etcd.signal(signal.SIGCONT)
        return copy

    async def restore(self, snapshot: Path) -> None:
        """Go back to a snapshot: every object and every resourceVersion. The controllers start anew."""
        for name in ("kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"):
            part = self._parts.pop(name)
            part.signal(signal.SIGKILL)
            await part.stop(STOP_S)
        await asyncio.to_thread(shutil.rmtree, self.folder / "etcd")
        await asyncio.to_thread(shutil.copytree, snapshot, self.folder / "etcd")
        self._run_etcd()
        await self.start_apiserver()
        self._run_controllers()

    async def _start(self) -> None:
        shutil.rmtree(self.folder / "etcd", ignore_errors=True)
        for name, port in zip(("etcd", "peers", "kube-apiserver"), ports_for_good(3), strict=True):
            self._ports[name] = port
        if self._settings.port is not None:
            self._ports["kube-apiserver"] = self._settings.port
        self._write_pki()
        self._run_etcd()
        self._run_apiserver()
        await self._ready("kube-apiserver")
        self._run_controllers()
        await self._usable()

    def _run_etcd(self) -> None:
        etcd, peers = self._ports["etcd"], self._ports["peers"]
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls=http://127.0.0.1:{etcd}",
            f"--advertise-client-urls=http://127.0.0.1:{etcd}",
            f"--listen-peer-urls=http://127.0.0.1:{peers}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peers}",
            f"--initial-cluster=default=http://127.0.0.1:{peers}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _run_apiserver(self) -> None:
        pki = self.folder / "pki"
        self._run(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self._ports['etcd']}",
            *self._settings.address_flags(),
            *self._settings.kubelet_flags(pki),
            f"--secure-port={self._ports['kube-apiserver']}",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--tls-cert-file={pki / 'apiserver.crt'}",
            f"--tls-private-key-file={pki / 'apiserver.key'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki / 'sa.pub'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            "--authorization-mode=Node,RBAC",
            "--allow-privileged=true",
            "--profiling=false",
        )

    def _run_controllers(self) -> None:
        pki = self.folder / "pki"
        common = (
            "--leader-elect=false",
            "--profiling=false",
            "--kube-api-qps=500",
            "--kube-api-burst=1000",
        )
        self._run(
            "kube-controller-manager",
            f"--kubeconfig={self.folder / 'kube-controller-manager.kubeconfig'}",
            f"--root-ca-file={pki / 'ca.crt'}",
            f"--service-account-private-key-file={pki / 'sa.key'}",
            "--use-service-account-credentials=false",
            "--secure-port=0",
            "--concurrent-namespace-syncs=20",
            *common,
        )
        self._run(
            "kube-scheduler",
            f"--kubeconfig={self.folder / 'kube-scheduler.kubeconfig'}",
            "--secure-port=0",
            *common,
        )

    def _run(self, name: str, *flags: str) -> None:
        key, _, value = self._mark.partition("=")
        home = str(self.folder)
        command = Command(
            [str(self._binary), name, *flags],
            {"PATH": os.defpath, "HOME": home, "TMPDIR": home, key: value},
            self.folder / "log" / f"{name}.log",
            self.folder,
        )
        self._parts[name] = start_process(command)

    def _write_pki(self) -> None:
        pki = self.folder / "pki"
        pki.mkdir(exist_ok=True)
        authority = self.authority
        (pki / "ca.crt").write_bytes(authority.certificate)
        serving = authority.issue("kube-apiserver", hosts=self._settings.hosts())
        (pki / "apiserver.crt").write_bytes(serving.certificate)
        (pki / "apiserver.key").write_bytes(serving.key)
        to_kubelets = authority.issue("kube-apiserver", "system:masters")
        (pki / "to-kubelets.crt").write_bytes(to_kubelets.certificate)
        (pki / "to-kubelets.key").write_bytes(to_kubelets.key)
        private, public = service_account_key()
        (pki / "sa.key").write_bytes(private)
        (pki / "sa.pub").write_bytes(public)
        self.write_access(self.kubeconfig, authority.issue("admin", "system:masters"))
        # The controllers act as cluster admins: with roles of their own they wait for the API server to create those roles.
        for name in ("kube-controller-manager", "kube-scheduler"):
            leaf = authority.issue(f"system:{name}", "system:masters")
            self.write_access(self.folder / f"{name}.kubeconfig", leaf)

    def write_access(self, path: Path, leaf: Leaf) -> None:
        """A kubeconfig of a user that `authority` has issued a certificate for."""
        write_kubeconfig(
            path, Access(self.server, self.authority.certificate, leaf.certificate, leaf.key)
        )

    async def _ready(self, name: str) -> None:
        async with self.api(deadline_s=2.0) as api:

            async def answers() -> bool:
                self.assert_alive()
                try:
                    return await api.text("/readyz") == "ok"
                except (ApiError, *Unreachable):
                    return False

            try:
                await eventually(answers, self._settings.ready_s, f"{name} is ready")
            except NeverCame as late:
                raise self._failed(name, "did not become ready") from late

    async def _usable(self) -> None:
        """Pods can be created: the controller manager has made the ServiceAccount and the CA bundle of namespace default."""
        async with self.api() as api:

            async def made() -> bool:
                self.assert_alive()
                try:
                    await api.get("/api/v1/namespaces/default/serviceaccounts/default")
                    await api.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")
                except ApiError:
                    return False
                return True

            try:
                await eventually(made, self._settings.ready_s, "the controllers work")
            except NeverCame as late:
                raise self._failed("kube-controller-manager", "did not start to work") from late

    def _failed(self, name: str, what: str) -> ClusterFailed:
        return ClusterFailed(f"{name} {what}; the end of its log:\n{self.log_tail(name)}")

    async def _stop_parts(self) -> None:
        for part in self._parts.values():
            part.signal(signal.SIGKILL)  # there is nothing to save
        for part in self._parts.values():
            await part.stop(STOP_S)
        self._parts.clear()

    async def _close(self) -> None:
        await self._stop_parts()
        await self._guard.release(GUARD_S)
