"""What the how-to about node volumes has people apply fits together, and is let in where it says so."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
from typer.testing import CliRunner

from injecting import IMAGE, deployment, engine
from localcluster.access import make_namespace, remove_namespace
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually
from nodevolumepage import AGENT_IMAGE, inject_flags, manifests
from weightrollout.cli.inject import documents
from weightrollout.cli.main import app

Json = dict[str, Any]

NODE = "node-of-the-page"
#: What its owner must say for the engine itself; ours say it by themselves.
RESTRICTED: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture
async def restricted(api: Api) -> AsyncIterator[str]:
    name = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, name)
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    await api.patch(f"/api/v1/namespaces/{name}", {"metadata": {"labels": labels}}, "merge")
    yield name
    await remove_namespace(api, name)


def pod(workload: Json) -> Json:
    template = workload["spec"]["template"]
    metadata = {**template["metadata"], "name": "one"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def injected(*flags: str) -> Json:
    """A pod, as the page's command makes it."""
    text = documents.write([deployment(engine(securityContext=RESTRICTED))])
    order = ["inject", "-f", "-", "--agent-image", IMAGE, *flags]
    done = CliRunner().invoke(app, order, input=text)
    assert done.exit_code == 0, done.stderr
    [found] = documents.read(done.stdout)
    return pod(dict(found))


async def let_in(api: Api, namespace: str, pod: Json) -> None:
    """Raises ApiError. Nothing is kept."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    await api.create(path, pod, dryRun="All", fieldValidation="Strict")


async def test_nodes_are_prepared_in_a_namespace_that_lets_it(api: Api) -> None:
    namespace, daemons = manifests("nodes", {AGENT_IMAGE: IMAGE})
    try:
        await api.apply(namespace)
        await api.apply(daemons)
        await let_in(api, namespace["metadata"]["name"], pod(daemons))
    finally:
        await remove_namespace(api, namespace["metadata"]["name"])


async def test_claim_is_bound_to_its_volume_and_lets_a_restricted_pod_in(
    api: Api, restricted: str
) -> None:
    volume, claim = manifests("claim", {"NAMESPACE": restricted, "NODE": NODE})
    at = await api.path_of(volume)
    try:
        for each in (volume, claim):
            await api.apply(each)

        async def is_bound() -> bool:
            return bool((await api.get(await api.path_of(claim)))["status"]["phase"] == "Bound")

        await eventually(is_bound, 30, "the claim is bound", every_s=0.2)
        flags = inject_flags("16Gi", folder=False)
        assert flags[-1] == claim["metadata"]["name"]
        await let_in(api, restricted, injected(*flags))
    finally:
        await api.delete(at)


async def test_folder_of_the_node_is_refused_under_restricted_and_let_in_elsewhere(
    api: Api, restricted: str
) -> None:
    flags = inject_flags("16Gi", folder=True)
    [daemons] = manifests("nodes", {})[1:]
    [volume] = daemons["spec"]["template"]["spec"]["volumes"]
    assert flags[-1] == volume["hostPath"]["path"]
    with pytest.raises(ApiError, match="hostPath"):
        await let_in(api, restricted, injected(*flags))
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    await api.patch(f"/api/v1/namespaces/{restricted}", {"metadata": {"labels": labels}}, "merge")
    await let_in(api, restricted, injected(*flags))
