"""Volumes keep and show what they should, for as long as they should."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from localcluster.api import Api
from localcluster.pods import SHARED, Pods, pod, shell, toy
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually

CONFIG = {"name": "config", "mountPath": "/etc/config"}


def config_map(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_empty_dir_survives_a_container_restart_and_not_the_pod(
    node: VirtualNode, pods: Pods
) -> None:
    engine = toy("engine")
    await pods.create(pod("p", node.selector, engine))
    await pods.ready("p")
    folder = node.volume(pods.namespace, "p", "shared")
    (folder / "kept").touch()

    node.kill(pods.namespace, "p", "engine", signal.SIGKILL)

    async def restarted() -> bool:
        return bool((await pods.container("p", "engine"))["restartCount"] == 1)

    await eventually(restarted, 10, "the engine was restarted")
    assert (folder / "kept").exists()
    await pods.delete("p")
    await pods.gone("p")
    await eventually(lambda: not folder.exists(), 5, "the volume is removed")


async def test_memory_volume_is_in_memory(node: VirtualNode, pods: Pods) -> None:
    memory = {"name": "fast", "emptyDir": {"medium": "Memory"}}
    await pods.create(pod("p", node.selector, toy("engine"), volumes=[memory]))
    await pods.ready("p")

    folder = node.volume(pods.namespace, "p", "fast")

    assert folder.is_relative_to("/dev/shm")
    await pods.delete("p", 0)
    await eventually(lambda: not folder.exists(), 5, "the volume is removed")


async def test_config_map_update_reaches_the_volume_all_at_once(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    path = f"/api/v1/namespaces/{pods.namespace}/configmaps"
    await api.create(path, config_map("settings", a="1", b="1", old="x"))
    volume = {"name": "config", "configMap": {"name": "settings"}}
    engine = toy("engine", volumeMounts=[SHARED, CONFIG])
    await pods.create(pod("p", node.selector, engine, volumes=[volume]))
    await pods.ready("p")
    folder = node.volume(pods.namespace, "p", "config")
    assert {p.name for p in folder.iterdir() if not p.name.startswith("..")} == {"a", "b", "old"}

    await api.patch(f"{path}/settings", {"data": {"a": "2", "b": "2", "old": None}}, "merge")

    await eventually(lambda: (folder / "a").read_text() == "2", 5, "the new file is there")
    assert (folder / "b").read_text() == "2"
    await eventually(lambda: not (folder / "old").is_symlink(), 1, "the old key is gone")
    assert (folder / "a").readlink() == Path("..data/a")


async def test_optional_config_map_may_come_later(node: VirtualNode, pods: Pods, api: Api) -> None:
    volume = {"name": "config", "configMap": {"name": "later", "optional": True}}
    engine = toy("engine", volumeMounts=[SHARED, CONFIG])
    await pods.create(pod("p", node.selector, engine, volumes=[volume]))
    await pods.ready("p")
    folder = node.volume(pods.namespace, "p", "config")
    assert not (folder / "key").exists()

    path = f"/api/v1/namespaces/{pods.namespace}/configmaps"
    await api.create(path, config_map("later", key="now"))
    await eventually(lambda: (folder / "key").exists(), 5, "the file has come")

    await api.delete(f"{path}/later")
    await eventually(lambda: not (folder / "key").exists(), 5, "the file has gone")


async def test_pod_waits_for_a_config_map_that_it_must_have(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    volume = {"name": "config", "configMap": {"name": "needed"}}
    await pods.create(pod("p", node.selector, toy("engine"), volumes=[volume]))

    async def waits() -> bool:
        state = (await pods.container("p", "engine"))["state"]
        return "needed is missing" in state.get("waiting", {}).get("message", "")

    await eventually(waits, 10, "the status says what is missing")
    await api.create(
        f"/api/v1/namespaces/{pods.namespace}/configmaps", config_map("needed", key="now")
    )
    await pods.ready("p")


async def test_variables_come_from_config_maps_and_the_pod(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    await api.create(f"/api/v1/namespaces/{pods.namespace}/configmaps", config_map("c", key="v"))
    env = [
        {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "key"}}},
        {"name": "L", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        {"name": "BOTH", "value": "$(A)-$(L)-$(UNKNOWN)-$$(A)"},
    ]
    script = 'echo "$BOTH $N $0" > /shared/said; sleep 1000'
    container = shell("c", script, env=env)
    container["args"] = ["$(A)"]
    await pods.create(pod("p", node.selector, container))
    await pods.ready("p")

    said = node.volume(pods.namespace, "p", "shared") / "said"

    await eventually(said.exists, 5, "it has spoken")
    await eventually(
        lambda: said.read_text() == f"v-p-$(UNKNOWN)-$(A) {node.name} v\n", 2, "what it said"
    )


async def test_pod_reaches_the_api_server_with_its_own_token(node: VirtualNode, pods: Pods) -> None:
    secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
    url = "https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT"
    review = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
    script = (
        f'curl -sS --cacert {secrets}/ca.crt -H "Authorization: Bearer $(cat {secrets}/token)" '
        f"-H 'Content-Type: application/json' -d '{review}' "
        f"{url}/apis/authentication.k8s.io/v1/selfsubjectreviews > /shared/.me && "
        "mv /shared/.me /shared/me; sleep 1000"
    )
    await pods.create(pod("p", node.selector, shell("c", script)))
    await pods.ready("p")
    me = node.volume(pods.namespace, "p", "shared") / "me"

    await eventually(me.exists, 10, "the API server has answered")

    who = json.loads(me.read_text())["status"]["userInfo"]
    assert who["username"] == f"system:serviceaccount:{pods.namespace}:default"
    assert who["extra"]["authentication.kubernetes.io/pod-name"] == ["p"]
