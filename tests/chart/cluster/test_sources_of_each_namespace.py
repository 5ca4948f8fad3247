"""With `scope: cluster` the weights that a namespace may load are written on the Namespace, by whoever may change it."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import pytest
import yaml

from fleet.world import CRD_FILE
from helm.chart import SETS, one, rendered
from helm.sources import rollout, why_refused
from localcluster.access import make_service_account
from localcluster.api import Api
from localcluster.waiting import eventually

ANNOTATION: Final = "weightrollout.dev/allowed-sources"
SHARED: Final = "file:///models/shared/"  # what the set "everywhere" allows where nothing is said
SOON_S: Final = 30.0


@pytest.fixture(autouse=True)
async def policy(api: Api, namespace: str) -> AsyncIterator[None]:
    """In force in the whole cluster; gone in the end."""
    await api.apply(yaml.safe_load(CRD_FILE.read_text()))
    objects = rendered(SETS["everywhere"], namespace=namespace)
    made = [one(objects, f"ValidatingAdmissionPolicy{each}") for each in ("", "Binding")]
    for each in made:
        await api.apply(each)
    try:
        await eventually(partial(refused, api, namespace, "file:///no/"), SOON_S, "it is in force")
        # Not one that an earlier test left: the server forgets those a moment after they are gone.
        await eventually(partial(accepted, api, namespace, f"{SHARED}a/"), SOON_S, "it alone")
        yield
    finally:
        for each in reversed(made):
            await api.delete(await api.path_of(each))
        await eventually(partial(accepted, api, "default", "file:///no/"), SOON_S, "it is gone")


async def refused(api: Api, namespace: str, uri: str) -> bool:
    return "spec.weights" in await why_refused(api, namespace, uri)


async def accepted(api: Api, namespace: str, uri: str) -> bool:
    return not await why_refused(api, namespace, uri)


async def say(api: Api, namespace: str, allowed: str | None) -> None:
    path = f"/api/v1/namespaces/{namespace}"
    await api.patch(path, {"metadata": {"annotations": {ANNOTATION: allowed}}}, "merge")


async def test_namespace_of_which_nothing_is_said_has_what_the_chart_says(
    api: Api, namespace: str
) -> None:
    assert await accepted(api, namespace, f"{SHARED}a/")
    assert f"begins with {SHARED}" in await why_refused(api, namespace, "file:///models/own/")


async def test_each_namespace_has_its_own_sources_and_no_others(api: Api, namespace: str) -> None:
    await say(api, namespace, "file:///models/own/ file:///scratch/")
    await eventually(partial(accepted, api, namespace, "file:///models/own/a/"), SOON_S, "own")

    assert await accepted(api, namespace, "file:///scratch/run-7/")
    assert await refused(api, namespace, f"{SHARED}a/")
    assert await refused(api, "default", "file:///models/own/a/")
    assert await accepted(api, "default", f"{SHARED}a/")
    draft = {"uri": f"{SHARED}draft/", "digest": "sha256:" + "0" * 64}
    assert "begins with" in await why_refused(api, namespace, "file:///scratch/a/", draft=draft)
    assert "must have no" in await why_refused(api, namespace, "file:///scratch/../etc/")


async def test_bucket_of_one_team_is_not_another_bucket_that_begins_like_it(
    api: Api, namespace: str
) -> None:
    await say(api, namespace, "s3://team-a/ https://weights.example.com:8443/team-a/ hf://org/")
    await eventually(partial(accepted, api, namespace, "s3://team-a/chat/1/"), SOON_S, "given")

    assert await accepted(api, namespace, "https://weights.example.com:8443/team-a/1/")
    assert await accepted(api, namespace, "hf://org/chat@main")
    for uri in (
        "s3://team-a-secret/chat/",
        "gs://team-a/chat/",
        "https://weights.example.com/team-a/",
    ):
        assert await refused(api, namespace, uri)
    assert "must have no" in await why_refused(api, namespace, "s3://team-a/%2e%2e/b/")


async def test_source_that_is_taken_back_is_refused_from_then_on(api: Api, namespace: str) -> None:
    await say(api, namespace, "file:///models/own/")
    await eventually(partial(accepted, api, namespace, "file:///models/own/a/"), SOON_S, "given")
    await say(api, namespace, None)

    await eventually(partial(refused, api, namespace, "file:///models/own/a/"), SOON_S, "taken")
    assert await accepted(api, namespace, f"{SHARED}a/")


@pytest.mark.parametrize(
    "nonsense", ["", " ", "file:///models", "*", "/", "file://host/", "file:///a,b/", "s3://team-a"]
)
async def test_what_is_no_beginning_of_a_source_allows_nothing(
    api: Api, namespace: str, nonsense: str
) -> None:
    await say(api, namespace, nonsense)
    # What was allowed until now tells that the annotation has arrived.
    await eventually(partial(refused, api, namespace, f"{SHARED}a/"), SOON_S, "it has arrived")

    assert "nothing is allowed" in await why_refused(api, namespace, "file:///models/a/")


async def test_who_edits_in_a_namespace_cannot_give_it_more_sources(
    api: Api, namespace: str
) -> None:
    """With the widest of the roles that a cluster has for the people of one namespace."""
    await make_service_account(api, namespace, "boss")
    group = "rbac.authorization.k8s.io"
    await api.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "boss", "namespace": namespace},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "boss", "namespace": namespace}],
        }
    )

    async def may(verb: str, resource: str) -> bool:
        user = f"system:serviceaccount:{namespace}:boss"
        name = namespace if resource == "namespaces" else ""
        asked = {"namespace": namespace, "verb": verb, "resource": resource, "name": name}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": asked},
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool((await api.create(path, review))["status"]["allowed"])

    await eventually(partial(may, "patch", "configmaps"), SOON_S, "the binding is known")
    for verb in ("patch", "update"):
        assert not await may(verb, "namespaces")


async def test_rollout_that_is_older_than_the_policy_can_still_be_suspended(
    api: Api, namespace: str
) -> None:
    await say(api, namespace, "file:///before/")
    await eventually(partial(accepted, api, namespace, "file:///before/a/"), SOON_S, "allowed")
    old = rollout(namespace, "file:///before/a/")
    await api.apply(old)
    await say(api, namespace, None)
    await eventually(partial(refused, api, namespace, "file:///before/b/"), SOON_S, "taken back")
    old["spec"]["mode"] = "Suspended"

    assert (await api.apply(old))["spec"]["mode"] == "Suspended"
