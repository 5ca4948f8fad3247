"""The node that the other tests here stand on does what a kubelet and kube-proxy do."""

import pytest

from localcluster.api import Api, ApiError
from localcluster.pods import Pods, sidecar
from localcluster.waiting import eventually
from node.toys import (
    PORT,
    SOON_S,
    ask,
    create_service,
    once,
    pod,
    ready_probe,
    said,
    server,
    toy,
)


async def test_pod_is_reached_through_a_service_from_another_pod(api: Api, pods: Pods) -> None:
    address = await create_service(api, pods, "echo")
    await pods.create(pod("echo", server(readinessProbe=ready_probe())))
    await pods.ready("echo", SOON_S)

    assert await said(api, pods, once("client", "get", f"http://{address}/", "20s")) == "echo"


async def test_pod_reaches_the_api_server_through_its_service(api: Api, pods: Pods) -> None:
    assert await said(api, pods, once("client", "dial", "10.96.0.1:443")) == "open\n"


async def test_container_is_as_ready_as_the_sidecar_that_its_probe_asks(
    api: Api, pods: Pods
) -> None:
    beside = sidecar(toy("beside", "serve", f":{PORT}"))
    main = toy("main", "wait", readinessProbe=ready_probe(PORT))
    await pods.create(pod("pair", main, initContainers=[beside]))
    await pods.ready("pair", SOON_S)

    await ask(api, pods, "pair", "/unready")

    async def unready() -> bool:
        return not await pods.is_ready("pair")

    await eventually(unready, SOON_S, "the sidecar's answer takes the pod out")
    await ask(api, pods, "pair", "/ready-again")
    await pods.ready("pair", SOON_S)


async def test_container_that_dies_is_started_again_in_the_same_pod(api: Api, pods: Pods) -> None:
    before = await pods.create(pod("dies", server(readinessProbe=ready_probe())))
    await pods.ready("dies", SOON_S)

    with pytest.raises(LookupError):
        await ask(api, pods, "dies", "/exit")

    async def restarted() -> bool:
        return bool((await pods.container("dies", "server"))["restartCount"] == 1)

    await eventually(restarted, SOON_S, "the kubelet starts it again")
    after = await pods.ready("dies", SOON_S)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


async def test_volume_in_memory_is_shared_by_the_containers_of_a_pod(api: Api, pods: Pods) -> None:
    writer = sidecar(toy("writer", "write", "/shared/word", "handed over"))
    reader = toy("reader", "read", "/shared/word", "20s")
    found = pod("share", reader, initContainers=[writer], restartPolicy="Never")

    assert await said(api, pods, found) == "handed over"


async def test_pod_that_breaks_the_restricted_profile_is_refused(api: Api, pods: Pods) -> None:
    with pytest.raises(ApiError, match='violates PodSecurity "restricted'):
        await pods.create(pod("root", server(securityContext={"runAsUser": 0})))


async def test_drained_pod_ends_and_its_deployment_makes_another(api: Api, pods: Pods) -> None:
    template = pod("moves", server(readinessProbe=ready_probe()))
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "moves"},
        "spec": {
            "selector": {"matchLabels": {"app": "moves"}},
            "template": {
                "metadata": {"labels": {"app": "moves"}},
                "spec": template["spec"],
            },
        },
    }
    await api.create(f"/apis/apps/v1/namespaces/{pods.namespace}/deployments", deployment)
    first = await eventually(pods.names, SOON_S, "the deployment makes a pod")
    await pods.ready(first[0], SOON_S)

    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": first[0]}}
    await api.create(f"{pods.path(first[0])}/eviction", eviction)

    await pods.gone(first[0], SOON_S)
    (second,) = await eventually(pods.names, SOON_S, "the deployment makes another pod")
    await pods.ready(second, SOON_S)
