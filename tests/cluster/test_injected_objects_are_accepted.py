"""What inject prints is what the API server takes, to the last field, also where Pod Security is restricted."""

import copy
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from injecting import IMAGE, deployment, engine, injected, pod_spec
from localcluster.access import make_namespace, remove_namespace
from localcluster.api import Api, ApiError
from weightrollout.api import names
from weightrollout.cli.inject import documents
from weightrollout.cli.inject.report import Options, Staging
from weightrollout.cli.inject.workloads import inject_all

Json = dict[str, Any]

DOCS = Path(__file__).parents[2] / "docs"
GOLDENS = Path(__file__).parents[1] / "unit" / "cli" / "inject" / "goldens"
BUILT_IN = ("v1", "apps/v1")
#: What its owner must say for the engine itself; ours say it by themselves.
RESTRICTED: Json = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


async def tried(api: Api, namespace: str, manifest: Json) -> Json:
    """Server-side dry run of a server-side apply, where unknown fields are errors. Raises ApiError."""
    there = {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}
    query = {"fieldManager": "test", "fieldValidation": "Strict", "dryRun": "All"}
    return await api.patch(await api.path_of(there), there, "apply", **query)


def printed() -> list[Any]:
    found = []
    for path in sorted(GOLDENS.glob("*.out.yaml")):
        for each in documents.read(path.read_text()):
            items = each["items"] if each["kind"] == "List" else [each]
            found += [
                pytest.param(item, id=f"{path.name.partition('.')[0]}-{item['kind']}")
                for item in items
                if item["apiVersion"] in BUILT_IN
            ]
    return found


@pytest.fixture(scope="module")
async def here(api: Api) -> AsyncIterator[str]:
    name = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, name)
    yield name
    await remove_namespace(api, name)


@pytest.fixture(scope="module")
async def restricted(api: Api, here: str) -> str:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    await api.patch(f"/api/v1/namespaces/{here}", {"metadata": {"labels": labels}}, "merge")
    return here


def pod_of(workload: Json) -> Json:
    template = workload["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template.get("metadata", {}), "name": "chat"},
        "spec": template["spec"],
    }


@pytest.mark.parametrize("manifest", printed())
async def test_the_api_server_knows_every_field(api: Api, here: str, manifest: Json) -> None:
    taken = await tried(api, here, manifest)
    assert taken["kind"] == manifest["kind"]


async def test_our_containers_are_let_in_where_pod_security_is_restricted(
    api: Api, restricted: str
) -> None:
    how = Options(IMAGE, staging=Staging.MEMORY, checkpoint_bytes=1 << 30, gate=True)
    pod = pod_of(injected(deployment(engine(securityContext=RESTRICTED)), how))
    taken = await tried(api, restricted, pod)
    assert [each["name"] for each in taken["spec"]["initContainers"]] == [
        names.PLUGIN_CONTAINER,
        names.AGENT_CONTAINER,
    ]


async def test_the_digest_job_is_let_in_there_too(api: Api, restricted: str) -> None:
    [job] = documents.read((DOCS / "examples" / "digest-job.yaml").read_text())
    del job["spec"]["template"]["spec"]["serviceAccountName"]  # of the reader's engine
    taken = await tried(api, restricted, pod_of(job))
    assert taken["spec"]["containers"][0]["name"] == "digest"


@pytest.mark.parametrize("name", [names.PLUGIN_CONTAINER, names.AGENT_CONTAINER])
@pytest.mark.parametrize("field", sorted(RESTRICTED))
async def test_every_one_of_these_lines_is_needed(
    api: Api, restricted: str, name: str, field: str
) -> None:
    workload = copy.deepcopy(injected(deployment(engine(securityContext=RESTRICTED))))
    [container] = [each for each in pod_spec(workload)["initContainers"] if each["name"] == name]
    del container["securityContext"][field]
    with pytest.raises(ApiError, match=rf"(?s)restricted.*{name}"):
        await tried(api, restricted, pod_of(workload))


def by_name(node: Any) -> Any:
    """Without the order of lists of named things: a merge may put new ones first."""
    if isinstance(node, dict):
        return {key: by_name(each) for key, each in node.items()}
    if isinstance(node, list):
        found = [by_name(each) for each in node]
        return sorted(found, key=str) if found and isinstance(found[0], dict) else found
    return node


async def test_the_kustomize_component_does_the_same_as_inject(api: Api, here: str) -> None:
    """Its two patches are of kinds that the API server applies, too."""
    paper = (DOCS / "inject.md").read_text()
    [before] = documents.read(
        re.findall(r"<!-- before -->\n```yaml\n(.*?)```", paper, re.DOTALL)[0]
    )
    how = Options("weightrollout-agent", checkpoint_bytes=16 << 30, folder="/models/x", gate=True)
    [wanted] = inject_all([before], how).objects
    del wanted["spec"]["template"]["metadata"]["annotations"]
    wanted = await tried(api, here, wanted)

    plain = {**before, "spec": {**before["spec"], "replicas": 0}}
    await api.create(f"/apis/apps/v1/namespaces/{here}/deployments", plain)
    path = f"/apis/apps/v1/namespaces/{here}/deployments/chat"
    [pod] = documents.read((DOCS / "kustomize" / "pod.yaml").read_text())
    del pod["metadata"]  # kustomize takes the target's
    await api.patch(path, pod, "strategic")
    [arguments] = documents.read((DOCS / "kustomize" / "arguments.yaml").read_text())
    found = await api.patch(path, arguments, "json")

    assert by_name(found["spec"]["template"]) == by_name(wanted["spec"]["template"])
