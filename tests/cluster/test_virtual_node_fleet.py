"""A fleet on a virtual node behaves as on a real one: scheduler, controllers, API server restarts, traffic."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.cluster import LocalCluster
from localcluster.node_settings import python_environment
from localcluster.pods import Pods, pod, ready_probe, toy
from localcluster.router import ReadyPods
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually

TESTS = Path(__file__).parent.parent


async def deploy(api: Api, namespace: str, selector: dict[str, str], replicas: int) -> str:
    template = pod("d", selector, toy("engine", readinessProbe=ready_probe()))
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "d"}},
        "template": {"metadata": {"labels": {"app": "d"}}, "spec": template["spec"]},
    }
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    await api.create(path, body)
    return f"{path}/d"


async def test_pods_of_a_deployment_come_to_the_node_and_follow_its_scale(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    path = await deploy(api, pods.namespace, node.selector, 3)
    async with ReadyPods(api, pods.namespace, "app=d", "p8000") as router:
        await eventually(lambda: len(router.current) == 3, 20, "three pods take traffic")
        assert len({backend.ip for backend in router.current}) == 3
        assert len({router.pick() for _ in range(3)}) == 3

        await api.patch(path, {"spec": {"replicas": 5}})
        await eventually(lambda: len(router.current) == 5, 20, "five pods take traffic")

        await api.patch(path, {"spec": {"replicas": 1}})
        await eventually(lambda: len(router.current) == 1, 20, "one pod takes traffic")
        await eventually(lambda: len(node.runners) == 1, 20, "the others are gone")


async def test_terminating_pod_takes_no_traffic_although_it_still_answers(
    node: VirtualNode, pods: Pods, api: Api
) -> None:
    hook = {"preStop": {"sleep": {"seconds": 3}}}
    await pods.create(
        pod("p", node.selector, toy("engine", readinessProbe=ready_probe(), lifecycle=hook))
    )
    async with ReadyPods(api, pods.namespace, "app=p", 8000) as router:
        await eventually(lambda: router.current, 15, "the pod takes traffic")
        version = router.version

        await pods.delete("p")

        async with asyncio.timeout(2):
            assert await router.changed(version) == ()
        assert node.pid(pods.namespace, "p", "engine")


async def test_pods_of_two_nodes_have_different_addresses(
    cluster: Cluster, pods: Pods, tmp_path: Path
) -> None:
    programs = python_environment(TESTS)
    async with (
        VirtualNode(cluster, environment=programs, folder=tmp_path / "1") as first,
        VirtualNode(cluster, environment=programs, folder=tmp_path / "2") as second,
    ):
        await pods.create(pod("a", first.selector, toy("engine")))
        await pods.create(pod("b", second.selector, toy("engine")))
        a, b = await pods.ready("a"), await pods.ready("b")
        assert a["status"]["podIP"] != b["status"]["podIP"]


@pytest.mark.slow
async def test_pods_run_on_while_the_api_server_is_away(tmp_path: Path) -> None:
    programs = python_environment(TESTS)
    async with (
        LocalCluster() as own,
        VirtualNode(own, environment=programs, folder=tmp_path) as node,
        own.api() as api,
    ):
        pods = Pods(api, "default")
        engine = toy("engine", 8000, "--ready", "/shared/up", readinessProbe=ready_probe())
        await pods.create(pod("stays", node.selector, engine))
        await pods.create(pod("goes", node.selector, toy("engine", 8001)))
        up = await eventually(lambda: node.volume("default", "stays", "shared"), 10, "volume")
        (up / "up").touch()
        await pods.ready("stays")
        await pods.ready("goes")
        process = node.pid("default", "stays", "engine")

        await own.stop_apiserver()
        (up / "up").unlink()  # decided while nobody can be told
        await asyncio.sleep(1.5)
        await own.start_apiserver()

        async def told() -> bool:
            try:
                return not await pods.is_ready("stays")
            except ApiError:
                return False

        await eventually(told, 15, "the status is written when the server is back")
        assert node.pid("default", "stays", "engine") == process
        await pods.delete("goes")
        await pods.gone("goes")
        await pods.create(pod("new", node.selector, toy("engine")))
        await pods.ready("new")


@pytest.mark.slow
async def test_forty_pods_are_ready_in_good_time(node: VirtualNode, pods: Pods, api: Api) -> None:
    path = await deploy(api, pods.namespace, node.selector, 40)
    async with ReadyPods(api, pods.namespace, "app=d", "p8000") as router:
        await eventually(lambda: len(router.current) == 40, 60, "forty pods take traffic")
        await api.patch(path, {"spec": {"replicas": 0}})
        await eventually(lambda: not node.runners, 60, "all are gone")
