"""Build pods for tests of the test ground, and read what became of them."""

from __future__ import annotations

from typing import Any

from localcluster.api import Api
from localcluster.pod_status import is_ready
from localcluster.waiting import eventually

Json = dict[str, Any]

POD_IP = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
SHARED = {"name": "shared", "mountPath": "/shared"}
PORT = 8000


def toy(name: str, port: int = PORT, *flags: str, **more: Any) -> Json:
    """A container with the toy server, at `port` of the pod's address, tracing to /shared/trace."""
    command = ["python", "-m", "localcluster.toy", "--bind", "$(POD_IP)", "--port", str(port)]
    return {
        "name": name,
        "image": "toy",
        "command": [*command, "--name", name, "--trace", "/shared/trace", *flags],
        "env": [POD_IP],
        "ports": [{"name": f"p{port}", "containerPort": port}],
        "volumeMounts": [SHARED],
        **more,
    }


def shell(name: str, script: str, **more: Any) -> Json:
    """A container with a shell script."""
    command = ["sh", "-c", script]
    return {
        "name": name,
        "image": "sh",
        "command": command,
        "env": [POD_IP],
        "volumeMounts": [SHARED],
        **more,
    }


def sidecar(container: Json) -> Json:
    """The same container as a native sidecar."""
    return {**container, "restartPolicy": "Always"}


def ready_probe(port: int | str = PORT, **more: Any) -> Json:
    """A readiness probe of the toy server, each second, one failure counts."""
    http = {"port": port, "path": "/ready"}
    return {"httpGet": http, "periodSeconds": 1, "failureThreshold": 1, **more}


def pod(name: str, selector: dict[str, str], *containers: Json, **spec: Any) -> Json:
    """A pod on one node, with an emptyDir `shared` at /shared."""
    volumes = [{"name": "shared", "emptyDir": {}}, *spec.pop("volumes", [])]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "nodeSelector": selector,
            "terminationGracePeriodSeconds": 10,
            "containers": list(containers),
            "volumes": volumes,
            **spec,
        },
    }


class Pods:
    """The pods of one namespace."""

    def __init__(self, api: Api, namespace: str) -> None:
        """`api` has rights on pods."""
        self._api = api
        self.namespace = namespace

    def path(self, name: str) -> str:
        """The API path of a pod."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{name}"

    async def create(self, pod: Json) -> Json:
        """Create it."""
        return await self._api.create(f"/api/v1/namespaces/{self.namespace}/pods", pod)

    async def get(self, name: str) -> Json:
        """Read it."""
        return await self._api.get(self.path(name))

    async def delete(self, name: str, grace_s: int | None = None) -> None:
        """Ask for its end; None: with the pod's own grace period."""
        query: dict[str, Any] = {} if grace_s is None else {"gracePeriodSeconds": str(grace_s)}
        await self._api.delete(self.path(name), **query)

    async def names(self) -> list[str]:
        """All pods there are."""
        items, _ = await self._api.list(f"/api/v1/namespaces/{self.namespace}/pods")
        return [item["metadata"]["name"] for item in items]

    async def container(self, name: str, container: str) -> Json:
        """The status of one container; LookupError while it has none."""
        status = (await self.get(name)).get("status") or {}
        entries = [
            *(status.get("initContainerStatuses") or []),
            *(status.get("containerStatuses") or []),
        ]
        for entry in entries:
            if entry["name"] == container:
                return dict(entry)
        raise LookupError(f"{name} has no status of {container} yet")

    async def condition(self, name: str, kind: str) -> Json:
        """One condition; LookupError while it is not there."""
        for entry in ((await self.get(name)).get("status") or {}).get("conditions") or []:
            if entry["type"] == kind:
                return dict(entry)
        raise LookupError(f"{name} has no condition {kind} yet")

    async def is_ready(self, name: str) -> bool:
        """Whether it is Ready now."""
        return is_ready((await self.get(name)).get("status") or {})

    async def ready(self, name: str, deadline_s: float = 15.0) -> Json:
        """Wait until it is Ready; return it."""
        await eventually(lambda: self.is_ready(name), deadline_s, f"pod {name} is ready")
        return await self.get(name)

    async def gone(self, name: str, deadline_s: float = 20.0) -> None:
        """Wait until its object is gone."""

        async def absent() -> bool:
            return name not in await self.names()

        await eventually(absent, deadline_s, f"pod {name} is gone")
