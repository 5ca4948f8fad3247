"""Containers are restarted when, and only when, a kubelet would."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path

from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.node_settings import NodeSettings, python_environment
from localcluster.pods import Pods, pod, ready_probe, shell, sidecar, toy
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually

TESTS = Path(__file__).parent.parent


async def phase(pods: Pods, name: str, wanted: str) -> None:
    async def reached() -> bool:
        return bool((await pods.get(name))["status"]["phase"] == wanted)

    await eventually(reached, 15, f"{name} is {wanted}")


async def test_crash_loop_backs_off(node: VirtualNode, pods: Pods) -> None:
    script = "date +%s%N >> /shared/starts; exit 5"
    await pods.create(pod("p", node.selector, shell("c", script)))

    async def looping() -> bool:
        status = await pods.container("p", "c")
        waiting = status["state"].get("waiting", {})
        backs_off = waiting.get("reason") == "CrashLoopBackOff"
        return backs_off and int(status["restartCount"]) >= 3

    await eventually(looping, 15, "it backs off")

    starts = (node.volume(pods.namespace, "p", "shared") / "starts").read_text().split()
    gaps = [(int(b) - int(a)) / 1e9 for a, b in itertools.pairwise(starts)]
    assert gaps[1] >= 0.5
    assert gaps[2] >= 1.0
    last = (await pods.container("p", "c"))["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"]) == (5, "Error")


async def test_failed_liveness_probe_restarts_the_container(node: VirtualNode, pods: Pods) -> None:
    liveness = {
        "exec": {"command": ["test", "-e", "/shared/alive"]},
        "periodSeconds": 1,
        "failureThreshold": 1,
    }
    engine = shell("c", "touch /shared/alive; sleep 1000", livenessProbe=liveness)
    await pods.create(pod("p", node.selector, engine))
    await pods.ready("p")
    first = node.pid(pods.namespace, "p", "c")
    alive = node.volume(pods.namespace, "p", "shared") / "alive"
    await eventually(alive.exists, 5, "it lives")

    alive.unlink()

    await eventually(lambda: node.pid(pods.namespace, "p", "c") != first, 10, "it was restarted")
    assert "liveness probe failed" in node.log_tail(pods.namespace, "p", "c", restart=0)


async def test_stopped_process_fails_its_probe(node: VirtualNode, pods: Pods) -> None:
    liveness = {"httpGet": {"port": 8000}, "periodSeconds": 1, "failureThreshold": 2}
    startup = {"httpGet": {"port": 8000}, "periodSeconds": 1}
    engine = toy("engine", livenessProbe=liveness, startupProbe=startup)
    await pods.create(pod("p", node.selector, engine, terminationGracePeriodSeconds=1))
    await pods.ready("p")

    node.kill(pods.namespace, "p", "engine", signal.SIGSTOP)

    async def restarted() -> bool:
        return bool((await pods.container("p", "engine"))["restartCount"] == 1)

    await eventually(restarted, 15, "a hung process is restarted")


async def test_pod_fails_once_where_restarts_are_forbidden(node: VirtualNode, pods: Pods) -> None:
    await pods.create(pod("p", node.selector, shell("c", "exit 4"), restartPolicy="Never"))

    await phase(pods, "p", "Failed")

    assert (await pods.container("p", "c"))["restartCount"] == 0


async def test_pod_succeeds_after_failures_where_only_those_restart(
    node: VirtualNode, pods: Pods
) -> None:
    script = "test -e /shared/second || { touch /shared/second; exit 1; }"
    await pods.create(pod("p", node.selector, shell("c", script), restartPolicy="OnFailure"))

    await phase(pods, "p", "Succeeded")

    assert (await pods.container("p", "c"))["restartCount"] == 1


async def test_job_completes_although_its_sidecar_would_run_for_ever(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    template = pod("j", node.selector, shell("c", "exit 0"), restartPolicy="Never")
    template["spec"]["initContainers"] = [sidecar(toy("agent", 8001))]
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}}
    job["spec"] = {"template": {"spec": template["spec"]}}
    path = f"/apis/batch/v1/namespaces/{pods.namespace}/jobs"
    await api.create(path, job)

    async def complete() -> bool:
        return bool((await api.get(f"{path}/j")).get("status", {}).get("succeeded") == 1)

    await eventually(complete, 20, "the job is complete")


async def test_command_that_does_not_exist_is_told_in_the_status(
    node: VirtualNode, pods: Pods
) -> None:
    missing = {"name": "c", "image": "x", "command": ["no-such-program"]}
    await pods.create(pod("p", node.selector, missing))

    async def told() -> bool:
        ended = (await pods.container("p", "c"))["lastState"].get("terminated", {})
        return "no-such-program" in ended.get("message", "")

    await eventually(told, 10, "the status names the program")


async def test_image_with_an_entry_point_of_the_node_runs(
    cluster: Cluster, pods: Pods, tmp_path: Path
) -> None:
    settings = NodeSettings(entrypoints={"some/image": ["python", "-m", "localcluster.toy"]})
    programs = python_environment(TESTS)
    container = toy("c", readinessProbe=ready_probe())
    container["args"] = container.pop("command")[3:]
    container["image"] = "some/image:v2"
    async with VirtualNode(
        cluster, environment=programs, folder=tmp_path, settings=settings
    ) as node:
        await pods.create(pod("p", node.selector, container))
        await pods.ready("p")


async def test_image_without_a_command_is_told_in_the_status(node: VirtualNode, pods: Pods) -> None:
    await pods.create(pod("p", node.selector, {"name": "c", "image": "some/image:1"}))

    async def told() -> bool:
        waiting = (await pods.container("p", "c"))["state"].get("waiting", {})
        return "runs no images" in waiting.get("message", "")

    await eventually(told, 10, "the status says why")
