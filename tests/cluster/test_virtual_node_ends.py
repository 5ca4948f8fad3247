"""Nothing of a pod or a node is left behind, however it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.guard import marked
from localcluster.node_settings import python_environment
from localcluster.pods import SHARED, Pods, pod, shell, toy
from localcluster.virtual_node import NODE_MARK, VirtualNode
from localcluster.waiting import eventually

TESTS = Path(__file__).parent.parent


def processes_of(pid: int) -> str:
    """The mark that all processes of the node that runs process `pid` carry."""
    for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        if entry.startswith(NODE_MARK.encode()):
            return entry.decode()
    raise LookupError(f"process {pid} belongs to no node")


async def mark_of(node: VirtualNode, namespace: str) -> str:
    """Of the node that runs container c of pod p; it has it from the moment on when its own program has begun."""
    pid = node.pid(namespace, "p", "c")
    return await eventually(lambda: processes_of(pid), 5, "the program has begun")


async def test_terminated_pod_leaves_no_process_not_even_one_that_fled(
    node: VirtualNode, pods: Pods
) -> None:
    fled = "setsid sleep 1000 & sleep 1000 & touch /shared/up; wait"
    await pods.create(pod("p", node.selector, shell("c", fled)))
    await pods.ready("p")
    up = node.volume(pods.namespace, "p", "shared") / "up"
    await eventually(up.exists, 5, "the children were started")
    mark = await mark_of(node, pods.namespace)
    assert len(marked(mark)) == 3

    await pods.delete("p")
    await pods.gone("p")

    assert marked(mark) == []


async def test_pre_stop_hook_runs_before_sigterm(node: VirtualNode, pods: Pods) -> None:
    host = node.logs.parent / "kept"
    host.mkdir()
    hook = {"preStop": {"httpGet": {"port": 8000, "path": "/drain"}}}
    engine = toy("engine", lifecycle=hook)
    engine["volumeMounts"] = [{"name": "kept", "mountPath": "/shared"}]
    volume = {"name": "kept", "hostPath": {"path": str(host)}}
    startup = {"tcpSocket": {"port": 8000}, "periodSeconds": 1}
    engine["startupProbe"] = startup
    await pods.create(pod("p", node.selector, engine, volumes=[volume]))
    await pods.ready("p")

    await pods.delete("p")
    await pods.gone("p")

    trace = (host / "trace").read_text().splitlines()
    assert trace == ["engine start", "engine GET /drain", "engine term"]


async def test_deaf_container_is_killed_when_its_grace_period_is_over(
    node: VirtualNode, pods: Pods
) -> None:
    deaf = shell("c", "trap '' TERM; touch /shared/up; while :; do sleep 0.1; done")
    await pods.create(pod("p", node.selector, deaf, terminationGracePeriodSeconds=1))
    await pods.ready("p")
    up = node.volume(pods.namespace, "p", "shared") / "up"
    await eventually(up.exists, 5, "it does not hear")
    loop = asyncio.get_running_loop()
    began = loop.time()

    await pods.delete("p")
    await pods.gone("p", 5)

    assert loop.time() - began >= 0.9


async def test_force_deleted_pod_is_killed_at_once(node: VirtualNode, pods: Pods) -> None:
    deaf = shell("c", "trap '' TERM; while :; do sleep 0.1; done")
    await pods.create(pod("p", node.selector, deaf, terminationGracePeriodSeconds=60))
    await pods.ready("p")
    mark = await mark_of(node, pods.namespace)

    await pods.delete("p", 0)

    await eventually(lambda: marked(mark) == [], 5, "no process is left")


async def test_second_delete_with_less_grace_shortens_the_first(
    node: VirtualNode, pods: Pods
) -> None:
    deaf = shell("c", "trap '' TERM; touch /shared/up; while :; do sleep 0.1; done")
    await pods.create(pod("p", node.selector, deaf, terminationGracePeriodSeconds=60))
    await pods.ready("p")
    up = node.volume(pods.namespace, "p", "shared") / "up"
    await eventually(up.exists, 5, "it does not hear")

    await pods.delete("p")
    await pods.delete("p", 1)

    await pods.gone("p", 8)


async def test_pod_that_is_deleted_while_it_initializes_ends(node: VirtualNode, pods: Pods) -> None:
    init = shell("init", "sleep 1000")
    await pods.create(pod("p", node.selector, toy("engine"), initContainers=[init]))
    await eventually(lambda: node.pid(pods.namespace, "p", "init"), 10, "it initializes")

    await pods.delete("p")
    await pods.gone("p")


async def test_killed_node_leaves_no_process_and_no_volume(
    cluster: Cluster, api: Api, pods: Pods
) -> None:
    flags = ["node", "--kubeconfig", str(cluster.kubeconfig), "--name", f"doomed-{pods.namespace}"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "localcluster",
        *flags,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        assert b"ready" in await asyncio.wait_for(process.stdout.readline(), 30)
        selector = {"kubernetes.io/hostname": f"doomed-{pods.namespace}"}
        script = "setsid sleep 1000 & wait"
        await pods.create(pod("p", selector, shell("c", script)))
        await pods.ready("p")
        mark = await eventually(lambda: mark_of_child(process.pid), 5, "its container runs")
        folder = Path(f"/proc/{marked(mark)[0]}/cwd").readlink()
        assert len(marked(mark)) >= 2
        assert folder.is_dir()
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()
        await api.delete(f"/api/v1/nodes/doomed-{pods.namespace}")

    await eventually(lambda: marked(mark) == [], 5, "no process is left")
    await eventually(lambda: not folder.exists(), 5, "no folder is left")


def mark_of_child(parent: int) -> str:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    for child in children:
        try:
            return processes_of(int(child))
        except (LookupError, OSError):
            continue
    raise LookupError("no child carries a mark")


async def test_pods_of_a_dead_node_are_taken_over_by_one_of_its_name(
    cluster: Cluster, pods: Pods, tmp_path: Path
) -> None:
    programs = python_environment(TESTS)
    first = VirtualNode(cluster, environment=programs, folder=tmp_path / "1")
    async with first:
        await pods.create(pod("p", first.selector, toy("engine", volumeMounts=[SHARED])))
        before = await pods.ready("p")
        await first.crash()

    async with VirtualNode(cluster, first.name, programs, tmp_path / "2") as second:

        async def restarted() -> bool:
            status = await pods.container("p", "engine")
            assert status["restartCount"] == 1, status
            return True

        await eventually(restarted, 15, "the container was started anew")
        after = await pods.ready("p")
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after["status"]["podIP"] != before["status"]["podIP"]
        assert second.pid(pods.namespace, "p", "engine")
