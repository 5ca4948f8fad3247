"""Ready tells the truth, soon, and together with what others write."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.node_settings import NodeSettings, python_environment
from localcluster.pods import Pods, pod, ready_probe, sidecar, toy
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually

GATE = "example.dev/Serving"


async def set_gate(api: Api, pods: Pods, name: str, status: str) -> None:
    condition = {"type": GATE, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    uid = (await pods.get(name))["metadata"]["uid"]
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "uid": uid},
        "status": {"conditions": [condition]},
    }
    await api.patch(f"{pods.path(name)}/status", body, "apply", fieldManager="gate", force="true")


async def test_restarted_container_is_unready_until_its_probe_passes(
    node: VirtualNode, pods: Pods
) -> None:
    engine = toy("engine", 8000, "--ready", "/shared/up", readinessProbe=ready_probe())
    await pods.create(pod("p", node.selector, engine))
    up = (await eventually(lambda: node.volume(pods.namespace, "p", "shared"), 10, "volume")) / "up"
    up.touch()
    before = await pods.ready("p")
    up.unlink()
    node.kill(pods.namespace, "p", "engine", signal.SIGKILL)

    async def restarted() -> bool:
        return bool((await pods.container("p", "engine"))["state"].get("running")) and (
            (await pods.container("p", "engine"))["restartCount"] == 1
        )

    await eventually(restarted, 10, "the engine was restarted")
    assert not await pods.is_ready("p")
    up.touch()
    after = await pods.ready("p")
    old, new = (p["status"]["containerStatuses"][0] for p in (before, after))
    assert old["containerID"] != new["containerID"]
    assert new["lastState"]["terminated"]["exitCode"] == 128 + signal.SIGKILL
    assert new["lastState"]["terminated"]["containerID"] == old["containerID"]


async def test_dead_engine_is_unready_although_its_probe_asks_a_healthy_sidecar(
    node: VirtualNode, pods: Pods
) -> None:
    agent = sidecar(toy("agent", 8001, "--ready", "/shared/up"))
    engine = toy("engine", readinessProbe=ready_probe(8001))
    await pods.create(pod("p", node.selector, engine, initContainers=[agent]))
    up = (await eventually(lambda: node.volume(pods.namespace, "p", "shared"), 10, "volume")) / "up"
    up.touch()
    await pods.ready("p")

    up.unlink()  # so that the restarted engine stays unready
    node.kill(pods.namespace, "p", "engine", signal.SIGKILL)

    async def unready() -> bool:
        return not await pods.is_ready("p")

    await eventually(unready, 0.8, "unready before the next probe could have told")


async def test_unready_pod_loses_traffic_long_before_the_next_probe(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    engine = toy("engine", 8000, readinessProbe=ready_probe(periodSeconds=5))
    await pods.create(pod("p", node.selector, engine))
    async with ReadyPods(api, pods.namespace, "app=p", 8000) as router:
        await eventually(lambda: router.current, 15, "the pod takes traffic")
        loop = asyncio.get_running_loop()
        version, began = router.version, loop.time()
        node.kill(pods.namespace, "p", "engine", signal.SIGKILL)  # its end is the decision
        async with asyncio.timeout(5):
            assert await router.changed(version) == ()
        assert loop.time() - began < 0.5  # 0.05 on a quiet machine


async def test_gate_condition_of_another_writer_survives_our_status_writes(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    gates = [{"conditionType": GATE}]
    await pods.create(pod("p", node.selector, toy("engine"), readinessGates=gates))

    async def gated() -> bool:
        return (await pods.condition("p", "Ready")).get("reason") == "ReadinessGatesNotReady"

    await eventually(gated, 15, "only the gate is missing")
    await set_gate(api, pods, "p", "True")
    await pods.ready("p")
    node.kill(pods.namespace, "p", "engine", signal.SIGKILL)  # makes us write
    await eventually(lambda: restarts_once(pods), 10, "the restart is in the status")
    assert (await pods.condition("p", GATE))["status"] == "True"
    await pods.ready("p")
    await set_gate(api, pods, "p", "False")
    await eventually(gated, 5, "a closed gate takes the pod out")
    assert (await pods.condition("p", "ContainersReady"))["status"] == "True"


async def restarts_once(pods: Pods) -> bool:
    return bool((await pods.container("p", "engine"))["restartCount"] == 1)


async def test_port_name_of_another_container_is_refused_as_a_kubelet_refuses_it(
    node: VirtualNode, pods: Pods
) -> None:
    agent = sidecar(toy("agent", 8001))
    engine = toy("engine", readinessProbe=ready_probe("p8001"))
    await pods.create(pod("p", node.selector, engine, initContainers=[agent]))

    def told() -> bool:
        return "no port named p8001" in node.log_tail(pods.namespace, "p", "engine")

    await eventually(told, 15, "the log says why the probe fails")
    assert not await pods.is_ready("p")


async def test_port_name_of_another_container_is_accepted_where_a_node_is_told_to(
    cluster: Cluster, pods: Pods, tmp_path: Path
) -> None:
    lenient = NodeSettings(ports_of_any_container=True)
    programs = python_environment(Path(__file__).parent.parent)
    agent = sidecar(toy("agent", 8001))
    engine = toy("engine", readinessProbe=ready_probe("p8001"))
    async with VirtualNode(
        cluster, environment=programs, folder=tmp_path, settings=lenient
    ) as node:
        await pods.create(pod("p", node.selector, engine, initContainers=[agent]))
        await pods.ready("p")


async def test_identical_status_is_not_written_again(node: VirtualNode, pods: Pods) -> None:
    engine = toy("engine", readinessProbe=ready_probe())
    await pods.create(pod("p", node.selector, engine))
    version = (await pods.ready("p"))["metadata"]["resourceVersion"]
    trace = node.volume(pods.namespace, "p", "shared") / "trace"
    trace.unlink(missing_ok=True)

    await asyncio.sleep(2.2)  # two more probes: nothing else tells that they were made

    assert (await pods.get("p"))["metadata"]["resourceVersion"] == version
