"""Keep the Node object and its Lease, so that the scheduler uses the node and the node lifecycle controller leaves it alone."""

from __future__ import annotations

import asyncio
import datetime
import logging
import platform
from typing import Any, Final

from localcluster.api import Api, ApiError, Unreachable
from localcluster.node_settings import HOST_IP, NodeSettings
from localcluster.pod_status import now_text
from localcluster.waiting import eventually

Json = dict[str, Any]

LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
LEASE_S: Final = 40  # as the kubelet's; the controller's own patience is 50 s
RETRY_S: Final = 0.5
ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
GOOD: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("Ready", "True", "KubeletReady"),
)

log = logging.getLogger(__name__)


class NodeObject:
    """The node as the API server sees it."""

    def __init__(self, api: Api, name: str, settings: NodeSettings) -> None:
        """`name` is free, or was used by a node that is gone: its object is taken over."""
        self._api = api
        self._name = name
        self._settings = settings
        self._ready_since = _now()
        self._lease: Json = {}

    async def register(self) -> None:
        """Create or take over the object, mark it Ready."""
        labels = {
            "kubernetes.io/hostname": self._name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": ARCHITECTURES.get(platform.machine(), platform.machine()),
            **self._settings.labels,
        }
        body: Json = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self._name, "labels": labels},
        }
        body["spec"] = {"taints": [dict(taint) for taint in self._settings.taints]}
        try:
            await self._api.create("/api/v1/nodes", body)
        except ApiError as refused:
            if refused.status != 409:
                raise
            await self._api.patch(f"/api/v1/nodes/{self._name}", {"metadata": {"labels": labels}})
        await self._beat()

    async def schedulable(self, deadline_s: float) -> None:
        """Wait until the controllers have taken the taints of a new node away."""

        async def untainted() -> bool:
            node = await self._api.get(f"/api/v1/nodes/{self._name}")
            taints = [taint["key"] for taint in node["spec"].get("taints") or []]
            return not any(key.startswith("node.kubernetes.io/") for key in taints)

        await eventually(untainted, deadline_s, f"node {self._name} has lost its start-up taints")

    async def keep_alive(self) -> None:
        """Renew for ever; cancel it."""
        while True:
            pause_s = self._settings.heartbeat_s
            try:
                await self._beat()
            except (ApiError, *Unreachable) as failed:
                log.info("heartbeat of %s: %r", self._name, failed)
                pause_s = RETRY_S
            await asyncio.sleep(pause_s)

    async def _beat(self) -> None:
        await self._api.patch(f"/api/v1/nodes/{self._name}/status", {"status": self._status()})
        spec = {
            "holderIdentity": self._name,
            "leaseDurationSeconds": LEASE_S,
            "renewTime": _micro_now(),
        }
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name},
            "spec": spec,
        }
        await self._api.patch(
            f"{LEASES}/{self._name}", lease, "apply", fieldManager="virtual-node", force="true"
        )

    def _status(self) -> Json:
        now = _now()
        unknown = ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage")
        versions = {
            "containerRuntimeVersion": "process://1",
            "kubeletVersion": "v1.34.4",
            "kubeProxyVersion": "",
        }
        system = {
            "operatingSystem": "linux",
            "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        }
        return {
            "capacity": dict(self._settings.capacity),
            "allocatable": dict(self._settings.capacity),
            "addresses": [
                {"type": "InternalIP", "address": HOST_IP},
                {"type": "Hostname", "address": self._name},
            ],
            "nodeInfo": {**dict.fromkeys(unknown, "virtual"), **versions, **system},
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": "virtual node",
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": self._ready_since,
                }
                for kind, status, reason in GOOD
            ],
        }


def _now() -> str:
    return now_text(datetime.datetime.now(datetime.UTC))


def _micro_now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
