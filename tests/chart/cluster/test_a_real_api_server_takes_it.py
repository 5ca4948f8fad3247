"""Every object that the chart renders is one that a real API server accepts, field by field."""

import copy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from fleet.world import CRD_FILE
from helm.chart import SETS, of_kind, one, rendered
from helm.sources import dry_run, rollout, why_refused
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually
from weightrollout.api import names

Json = dict[str, Any]
FOREIGN: Final = Path(__file__).resolve().parents[1] / "monitoring_crds.yaml"
SERVED_S: Final = 30.0
ABSENT: Final = (404, 429)  # not there; "storage is (re)initializing", just now


@pytest.fixture(scope="module", autouse=True)
async def _kinds(api: Api) -> AsyncIterator[None]:
    """Ours, and those of Prometheus Operator: the cluster's own where it has them, else short ones until the end."""
    await api.apply(yaml.safe_load(CRD_FILE.read_text()))
    made = []
    for definition in yaml.safe_load_all(FOREIGN.read_text()):
        path = await api.path_of(definition)
        if not await is_there(api, path):
            await api.apply(definition)
            made.append(path)
        group, plural = definition["spec"]["group"], definition["spec"]["names"]["plural"]
        await eventually(
            partial(is_there, api, f"/apis/{group}/v1/{plural}"), SERVED_S, f"{plural} are served"
        )
    await eventually(
        partial(is_there, api, f"/apis/{names.API_VERSION}/{names.PLURAL}"), SERVED_S, "ours too"
    )
    yield
    for path in made:
        await api.delete(path)


async def is_there(api: Api, path: str) -> bool:
    try:
        await api.get(path)
    except ApiError as missing:
        if missing.status in ABSENT:
            return False
        raise
    return True


@pytest.mark.parametrize("name", SETS)
async def test_every_object_is_accepted(api: Api, namespace: str, name: str) -> None:
    refused = []
    # Policies for namespaces by name: those of the set need not be there.
    here = f"--set=networkPolicy.engines.namespaces={{{namespace}}}"
    objects = rendered(SETS[name], here, namespace=namespace)
    for each in objects:
        try:
            await dry_run(api, each)
        except ApiError as error:
            refused.append(f"{each['kind']} {each['metadata']['name']}: {error}")

    assert objects
    assert not refused, "\n".join(refused)


async def test_misspelt_field_would_have_been_refused(api: Api, namespace: str) -> None:
    """What the test above rests on."""
    for kind in ("Deployment", "ServiceMonitor", "PodMonitor", "PrometheusRule", "NetworkPolicy"):
        (found, *_) = of_kind(rendered(SETS["everything"], namespace=namespace), kind)
        found["spec"]["selektor"] = {}
        with pytest.raises(ApiError, match="selektor"):
            await dry_run(api, found)


@pytest.fixture
async def restricted(api: Api, namespace: str) -> str:
    """The namespace, with the strictest profile of Pod Security enforced, and the operator's account in it."""
    path = f"/api/v1/namespaces/{namespace}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    await api.patch(path, {"metadata": {"labels": labels}}, "merge")
    await api.apply(one(rendered(SETS["minimal"], namespace=namespace), "ServiceAccount"))
    return namespace


@pytest.mark.parametrize("name", SETS)
async def test_pod_of_the_operator_meets_the_restricted_profile(
    api: Api, restricted: str, name: str
) -> None:
    """And its priority class is one that exists, where the set names one."""
    made = await create_pod(api, restricted, operator_pod(SETS[name], restricted))

    assert made["metadata"]["namespace"] == restricted


WEAKER: Final[dict[str, Callable[[Json], object]]] = {
    "runAsNonRoot": lambda spec: spec["securityContext"].pop("runAsNonRoot"),
    "seccompProfile": lambda spec: spec["securityContext"].pop("seccompProfile"),
    "allowPrivilegeEscalation": lambda spec: spec["containers"][0]["securityContext"].pop(
        "allowPrivilegeEscalation"
    ),
    "capabilities": lambda spec: spec["containers"][0]["securityContext"].pop("capabilities"),
}


@pytest.mark.parametrize("left_out", WEAKER)
async def test_without_any_part_of_its_security_context_it_would_be_refused(
    api: Api, restricted: str, left_out: str
) -> None:
    pod = operator_pod(SETS["minimal"], restricted)
    WEAKER[left_out](pod["spec"])

    with pytest.raises(ApiError, match=left_out):
        await create_pod(api, restricted, pod)


@asynccontextmanager
async def policy_in_force(api: Api, namespace: str) -> AsyncIterator[None]:
    """file:///models/ and file:///scratch/rl/ are allowed there."""
    objects = rendered(SETS["everything"], namespace=namespace)
    made = [one(objects, f"ValidatingAdmissionPolicy{each}") for each in ("", "Binding")]
    for each in made:
        await api.apply(each)
    try:

        async def holds() -> bool:
            return await why_refused(api, namespace, "file:///elsewhere/") != ""

        await eventually(holds, SERVED_S, "the policy is in force")
        yield
    finally:
        for each in reversed(made):
            await api.delete(await api.path_of(each))


@pytest.fixture
async def allowed(api: Api, namespace: str) -> AsyncIterator[str]:
    """A namespace with the policy in force."""
    async with policy_in_force(api, namespace):
        yield namespace


async def test_sources_beside_the_allowed_ones_are_refused(api: Api, allowed: str) -> None:
    outside = await why_refused(api, allowed, "file:///models-of-others/a/")
    said = "allowed in this namespace is what begins with file:///models/ or file:///scratch/rl/"
    assert said in outside
    for way_out in (
        "file:///models/../etc/",
        "file:///models/./a/",
        "file:///models/..",
        "file:///models/%2e%2E/etc/",
        "file:///models/a%2f..%2Fb/",
        "file:///models/.\t./etc/",
        "file:///models/a b/",
    ):
        assert "must have no" in await why_refused(api, allowed, way_out), way_out
    for inside in ("file:///models/chat/step-1/", "file:///scratch/rl/..a/b..c/"):
        assert not await why_refused(api, allowed, inside), inside


async def test_source_of_a_draft_is_held_to_the_same(api: Api, allowed: str) -> None:
    draft = {"uri": "file:///elsewhere/draft/", "digest": "sha256:" + "0" * 64}

    assert "begins with" in await why_refused(api, allowed, "file:///models/a/", draft=draft)


async def test_policy_of_one_namespace_holds_in_no_other(api: Api, allowed: str) -> None:
    assert not await why_refused(api, "default", "file:///elsewhere/")


async def test_rollout_that_is_older_than_the_policy_can_still_be_suspended(
    api: Api, namespace: str
) -> None:
    old = rollout(namespace, "file:///before/the/policy/")
    await api.apply(old)
    async with policy_in_force(api, namespace):
        old["spec"]["mode"] = "Suspended"
        changed = await api.apply(old)

    assert changed["spec"]["mode"] == "Suspended"


def operator_pod(values: Path, namespace: str) -> Json:
    """As its ReplicaSet would create it."""
    template = one(rendered(values, namespace=namespace), "Deployment")["spec"]["template"]
    found = copy.deepcopy(template)
    metadata = {**found["metadata"], "name": "operator", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": found["spec"]}


async def create_pod(api: Api, namespace: str, pod: Json) -> Json:
    return await api.create(f"/api/v1/namespaces/{namespace}/pods", pod, dryRun="All")
