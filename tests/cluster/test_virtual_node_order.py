"""Containers of a pod start and end in the kubelet's order."""

from __future__ import annotations

from localcluster.pods import Pods, pod, ready_probe, shell, sidecar, toy
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually


async def test_sidecar_has_started_before_the_engine_starts(node: VirtualNode, pods: Pods) -> None:
    startup = {"httpGet": {"port": 8001}, "periodSeconds": 1}
    agent = sidecar(toy("agent", 8001, startupProbe=startup))
    engine = toy("engine", readinessProbe=ready_probe())
    await pods.create(pod("p", node.selector, engine, initContainers=[agent]))

    await pods.ready("p")

    trace = (node.volume(pods.namespace, "p", "shared") / "trace").read_text().split("\n")
    assert trace[:2] == ["agent start", "engine start"]


async def test_engine_waits_for_a_sidecar_that_never_starts_up(
    node: VirtualNode, pods: Pods
) -> None:
    startup = {"httpGet": {"port": 8999}, "periodSeconds": 1, "failureThreshold": 60}
    agent = sidecar(toy("agent", 8001, startupProbe=startup))
    await pods.create(pod("p", node.selector, toy("engine"), initContainers=[agent]))

    await eventually(lambda: node.pid(pods.namespace, "p", "agent"), 10, "the sidecar runs")

    async def told() -> bool:
        state = (await pods.container("p", "engine"))["state"]
        return bool(state["waiting"]["reason"] == "PodInitializing")

    await eventually(told, 5, "the engine waits")
    assert (await pods.condition("p", "Initialized"))["status"] == "False"


async def test_main_containers_never_start_after_a_failed_init_container(
    node: VirtualNode, pods: Pods
) -> None:
    init = shell("init", "exit 3")
    await pods.create(
        pod("p", node.selector, toy("engine"), initContainers=[init], restartPolicy="Never")
    )

    async def failed() -> bool:
        return bool((await pods.get("p"))["status"]["phase"] == "Failed")

    await eventually(failed, 10, "the pod has failed")
    assert (await pods.container("p", "init"))["state"]["terminated"]["exitCode"] == 3
    assert "waiting" in (await pods.container("p", "engine"))["state"]


async def test_failing_init_container_is_tried_again_until_it_passes(
    node: VirtualNode, pods: Pods
) -> None:
    init = shell("init", "test -e /shared/second || { touch /shared/second; exit 1; }")
    await pods.create(pod("p", node.selector, toy("engine"), initContainers=[init]))

    await pods.ready("p")

    assert (await pods.container("p", "init"))["restartCount"] == 1


async def test_sidecars_outlive_the_engine_and_end_in_reverse_order(
    node: VirtualNode, pods: Pods
) -> None:
    sidecars = [sidecar(toy("first", 8001)), sidecar(toy("second", 8002))]
    engine = toy("engine", readinessProbe=ready_probe(8001))
    host = node.logs.parent / "kept"
    host.mkdir()
    volume = {"name": "kept", "hostPath": {"path": str(host)}}
    for container in (*sidecars, engine):
        container["volumeMounts"] = [{"name": "kept", "mountPath": "/shared"}]
    await pods.create(pod("p", node.selector, engine, initContainers=sidecars, volumes=[volume]))
    await pods.ready("p")

    await pods.delete("p")
    await pods.gone("p")

    ends = [line for line in (host / "trace").read_text().split("\n") if line.endswith("term")]
    assert ends == ["engine term", "second term", "first term"]
