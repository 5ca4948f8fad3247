"""With `verbs.enabled`, whoever publishes weights does not thereby approve them, and the other way round."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from fleet.manifests import weight_rollout
from fleet.world import CRD_FILE
from helm.chart import SETS, one, rendered
from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually
from weightrollout.api import names

SOON_S: Final = 30.0
STEPS: Final = [{"updated": 1}, {"pause": {}}]
EDIT: Final = ("get", "create", "patch", "update")


def _weights(version: str) -> dict[str, Any]:
    return {"spec": {"weights": {"version": version, "uri": "file:///models/a/"}}}


def _asks(text: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {names.ANNOTATION_ACTION: text}}}


CHANGES: Final[dict[str, dict[str, Any]]] = {
    "publish": _weights("v2"),
    "promote": _asks("promote:chat-0@1"),
    "steps": {"spec": {"strategy": {"steps": []}}},
    "abort": _asks("abort:chat-0@1"),
    "retry": _asks("retry:chat-0@1"),
    "pause": {"spec": {"mode": "Paused"}},
}


@pytest.fixture(autouse=True)
async def policy(api: Api, namespace: str) -> AsyncIterator[None]:
    await api.apply(yaml.safe_load(CRD_FILE.read_text()))
    objects = rendered(SETS["verbs"], namespace=namespace)
    made = [one(objects, f"ValidatingAdmissionPolicy{each}") for each in ("", "Binding")]
    for each in made:
        await api.apply(each)
    yield
    for each in reversed(made):
        await api.delete(await api.path_of(each))


@pytest.fixture(autouse=True)
async def canary(api: Api, namespace: str, policy: None) -> None:
    """By somebody who may do everything."""
    spec = {**_weights("v1")["spec"], "strategy": {"steps": STEPS}}
    found = weight_rollout("chat", spec.pop("weights"), **spec)
    found["metadata"]["namespace"] = namespace
    await api.apply(found)


@asynccontextmanager
async def person(cluster: Cluster, namespace: str, folder: Path, *verbs: str) -> AsyncIterator[Api]:
    """May edit WeightRollouts, and has these verbs beside."""
    rule = {
        "apiGroups": [names.GROUP],
        "resources": [names.PLURAL],
        "verbs": [*EDIT, *verbs],
    }
    who = "-".join(("p", *verbs))
    kubeconfig = await cluster.kubeconfig_for_serviceaccount(namespace, who, folder, [rule])
    async with Api(kubeconfig) as api:
        yield api


async def refusal(api: Api, namespace: str, change: str) -> str:
    """ "": it would be accepted."""
    path = f"/apis/{names.API_VERSION}/namespaces/{namespace}/{names.PLURAL}/chat"
    try:
        await api.patch(path, CHANGES[change], "merge", dryRun="All")
    except ApiError as refused:
        return str(refused)
    return ""


async def _in_force(api: Api, namespace: str) -> None:
    """Nobody but the policy refuses a change of weights to one who may edit."""

    async def refused() -> bool:
        return "the verb publish" in await refusal(api, namespace, "publish")

    await eventually(refused, SOON_S, "the policy is in force")


@pytest.mark.parametrize(
    ("verbs", "allowed"),
    [
        ((), {"pause"}),
        (("promote",), {"pause", "promote", "steps"}),
        (("abort", "retry"), {"pause", "abort", "retry"}),
    ],
    ids=["nothing", "approver", "on call"],
)
async def test_each_verb_is_a_right_of_its_own(
    cluster: Cluster,
    api: Api,
    namespace: str,
    tmp_path: Path,
    verbs: tuple[str, ...],
    allowed: set[str],
) -> None:
    async with person(cluster, namespace, tmp_path, *verbs) as somebody:
        await _in_force(somebody, namespace)
        told = {change: await refusal(somebody, namespace, change) for change in CHANGES}

    assert {change for change, why in told.items() if not why} == allowed
    for verb in {"publish", "promote", "abort", "retry"} - allowed:
        assert f"need the verb {verb} on" in told[verb]


async def test_who_publishes_can_neither_promote_nor_drop_the_steps(
    cluster: Cluster, api: Api, namespace: str, tmp_path: Path
) -> None:
    async with person(cluster, namespace, tmp_path) as nobody:
        await _in_force(nobody, namespace)
    async with person(cluster, namespace, tmp_path, "publish") as trainer:
        told = {change: await refusal(trainer, namespace, change) for change in CHANGES}

    assert {change for change, why in told.items() if not why} == {"publish", "pause"}


async def test_slot_that_stays_as_it_is_needs_no_right(
    cluster: Cluster, api: Api, namespace: str, tmp_path: Path
) -> None:
    """Else a promote of one person would lock everybody else out."""
    path = f"/apis/{names.API_VERSION}/namespaces/{namespace}/{names.PLURAL}/chat"
    await api.patch(path, CHANGES["promote"], "merge")
    async with person(cluster, namespace, tmp_path) as somebody:
        await _in_force(somebody, namespace)
        assert await refusal(somebody, namespace, "pause") == ""
