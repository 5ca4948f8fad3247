"""Pods of the toy program (tests/localnode/programs/toy), as the restricted profile wants them."""

from typing import Any, Final

from localcluster.api import Api, ApiError
from localcluster.pods import Pods
from localcluster.waiting import eventually

Json = dict[str, Any]

TOY_IMAGE: Final = "localhost/toy:1"
PORT: Final = 8000
SOON_S: Final = 60.0  # for a pod to start: seconds on a quiet machine
SHARED: Final = {"name": "shared", "mountPath": "/shared"}


def toy(name: str, *arguments: str, **more: Any) -> Json:
    """A container; `more` are fields of it."""
    return {
        "name": name,
        "image": TOY_IMAGE,
        "imagePullPolicy": "Never",
        "args": list(arguments),
        "volumeMounts": [SHARED],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **more,
    }


def server(name: str = "server", **more: Any) -> Json:
    """Answers its pod's name on `PORT`."""
    return toy(name, "serve", f":{PORT}", **more)


def ready_probe(port: int = PORT) -> Json:
    return {
        "httpGet": {"path": "/ready", "port": port},
        "periodSeconds": 1,
        "failureThreshold": 1,
    }


def pod(name: str, *containers: Json, **spec: Any) -> Json:
    """With a volume in memory at /shared of all its containers."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "terminationGracePeriodSeconds": 5,
            "automountServiceAccountToken": False,
            "containers": list(containers),
            "volumes": [{"name": "shared", "emptyDir": {"medium": "Memory"}}],
            **spec,
        },
    }


def once(name: str, *arguments: str) -> Json:
    """A pod that does one thing and ends."""
    return pod(name, toy("toy", *arguments), restartPolicy="Never")


def service(app: str, port: int = PORT) -> Json:
    """Of the pods with that label; its port is 80."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": app},
        "spec": {"selector": {"app": app}, "ports": [{"port": 80, "targetPort": port}]},
    }


async def create_service(api: Api, pods: Pods, app: str, port: int = PORT) -> str:
    """Returns its address, which exists inside the cluster only."""
    path = f"/api/v1/namespaces/{pods.namespace}/services"
    found = await api.create(path, service(app, port))
    return str(found["spec"]["clusterIP"])


async def said(api: Api, pods: Pods, pod: Json) -> str:
    """Create a pod that does one thing; what it printed. An AssertionError when it failed."""
    name = pod["metadata"]["name"]
    await pods.create(pod)

    async def over() -> str:
        return str((await pods.get(name))["status"]["phase"]).replace("Running", "")

    async def ended() -> bool:
        return await over() in ("Succeeded", "Failed")

    await eventually(ended, SOON_S, f"pod {name} has ended")
    log = await container_log(api, pods, name)
    assert await over() == "Succeeded", f"{name}: {log}"
    return log


async def container_log(api: Api, pods: Pods, name: str, container: str = "") -> str:
    """What it printed so far."""
    query = f"?container={container}" if container else ""
    return await api.text(f"{pods.path(name)}/log{query}")


async def ask(api: Api, pods: Pods, name: str, path: str, port: int = PORT) -> str:
    """GET from a pod, by way of the API server. LookupError when it did not answer 2xx."""
    try:
        return await api.text(f"{pods.path(name)}:{port}/proxy{path}")
    except ApiError as refused:
        raise LookupError(f"{name}{path}: {refused}") from refused
