"""The Eviction API as a real API server answers it: what it refuses becomes a reason, and no other pod is hit."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet import rbac
from localcluster.access import Cluster
from localcluster.api import Api
from localcluster.waiting import eventually
from weightrollout.kube.client import Client, connect
from weightrollout.kube.errors import Conflict
from weightrollout.kube.evictions import EvictionForbidden, EvictionRefused, evict_pod
from weightrollout.kube.pods import Pod, trim_pod

Json = dict[str, Any]
ANOTHER_UID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"


@pytest.fixture
async def client(cluster: Cluster, namespace: str, tmp_path: Path) -> AsyncIterator[Client]:
    """With the rights that the chart gives with rbac.evictPods."""
    namespaced, everywhere = rbac.OF_ONE_NAMESPACE
    rules = (*namespaced, *rbac.EVICTING)
    kubeconfig = await cluster.kubeconfig_for_serviceaccount(
        namespace, "evicting", tmp_path, rules, everywhere
    )
    async with connect(namespace, kubeconfig) as found:
        yield found


@pytest.fixture
async def pods(api: Api, namespace: str) -> list[Pod]:
    """chat-0 is unready, the others are Ready: what a kubelet would say is written by us."""
    return [await _pod(api, namespace, number, ready=number > 0) for number in range(3)]


async def _pod(api: Api, namespace: str, number: int, *, ready: bool) -> Pod:
    path = f"/api/v1/namespaces/{namespace}/pods"
    name = f"chat-{number}"
    spec = {"schedulerName": "nobody", "containers": [{"name": "engine", "image": "x"}]}
    metadata = {"name": name, "labels": {"weightrollout.dev/name": "chat"}}
    await api.create(path, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    body = {"status": {"phase": "Running", "conditions": [condition]}}
    return trim_pod(await api.patch(f"{path}/{name}/status", body))


async def _budget(api: Api, namespace: str, name: str, min_available: int) -> None:
    path = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    selector = {"matchLabels": {"weightrollout.dev/name": "chat"}}
    spec = {"minAvailable": min_available, "selector": selector}
    body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": spec}
    made = await api.create(path, {**body, "metadata": {"name": name}})

    async def counted() -> bool:
        status = (await api.get(f"{path}/{name}")).get("status", {})
        seen = status.get("observedGeneration", 0) >= made["metadata"]["generation"]
        return bool(seen and status.get("currentHealthy") == 2)

    await eventually(counted, 30, "its controller has counted the pods")


async def _there(api: Api, pod: Pod) -> bool:
    found, _ = await api.list(f"/api/v1/namespaces/{pod.namespace}/pods")
    return pod.uid in {each["metadata"]["uid"] for each in found}


async def test_unready_pod_is_evicted_and_a_second_run_finds_it_gone(
    client: Client, api: Api, namespace: str, pods: list[Pod]
) -> None:
    await _budget(api, namespace, "chat-pdb", 2)
    await evict_pod(client, pods[0])
    assert not await _there(api, pods[0])
    await evict_pod(client, pods[0])


async def test_budget_in_the_way_is_a_refusal_that_names_it_and_comes_at_once(
    client: Client, api: Api, namespace: str, pods: list[Pod]
) -> None:
    await _budget(api, namespace, "chat-pdb", 3)
    with pytest.raises(EvictionRefused, match="chat-pdb"):
        await evict_pod(client, pods[0])
    assert await _there(api, pods[0])


async def test_pod_that_was_written_since_or_is_another_one_is_left_alone(
    client: Client, api: Api, pods: list[Pod]
) -> None:
    for other in (
        replace(pods[0], uid=ANOTHER_UID),
        replace(pods[0], resource_version=pods[0].resource_version - 1),
    ):
        with pytest.raises(Conflict):
            await evict_pod(client, other)
        assert await _there(api, pods[0])


async def test_missing_right_is_named_with_the_value_that_gives_it(
    cluster: Cluster, api: Api, namespace: str, pods: list[Pod], tmp_path: Path
) -> None:
    kubeconfig = await cluster.kubeconfig_for_serviceaccount(
        namespace, "plain", tmp_path, *rbac.OF_ONE_NAMESPACE
    )
    async with connect(namespace, kubeconfig) as plain:
        with pytest.raises(EvictionForbidden, match=r"rbac\.evictPods"):
            await evict_pod(plain, pods[0])
    assert await _there(api, pods[0])
