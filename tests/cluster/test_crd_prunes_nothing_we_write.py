"""What we write is what an API server keeps: a pruned field would be written again for ever."""

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings

from crd_install import collection, install_crd, weight_rollout
from localcluster.access import Cluster
from localcluster.api import Api
from random_objects import specs, statuses
from weightrollout.api.spec import WeightRolloutSpec
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.kube.client import connect
from weightrollout.kube.rollouts import Rollouts

pytestmark = pytest.mark.cluster

Json = dict[str, Any]

#: Each example is a handful of calls to a real API server. The fixtures hold no state of a test.
REMOTE = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
async def api(api: Api) -> Api:
    """The session's client, once our definition is there."""
    await install_crd(api)
    return api


def missing(sent: Any, kept: Any, path: str = "") -> list[str]:
    """Paths of what was sent and is not there as it was sent; what was added does not count."""
    if isinstance(sent, dict) and isinstance(kept, dict):
        return [
            found
            for name, value in sent.items()
            for found in missing(value, kept.get(name), f"{path}.{name}")
        ]
    if isinstance(sent, list) and isinstance(kept, list) and len(sent) == len(kept):
        pairs = enumerate(zip(sent, kept, strict=True))
        return [found for i, pair in pairs for found in missing(*pair, f"{path}[{i}]")]
    number = isinstance(sent, float) and type(kept) is int  # an API server writes 0.0 as 0
    return [] if sent == kept and (number or type(sent) is type(kept)) else [path]


def as_we_write_it(wire: Json) -> Json:
    status = WeightRolloutStatus.model_validate(wire)
    dumped: Json = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


@REMOTE
@given(wire=specs())
async def test_no_spec_loses_a_field_in_the_api_server(
    api: Api, namespace: str, wire: Json
) -> None:
    manifest = weight_rollout(f"c-{uuid4().hex[:12]}", wire)
    made = await api.create(collection(namespace), manifest, fieldValidation="Strict", dryRun="All")
    assert missing(wire, made["spec"]) == []
    assert WeightRolloutSpec.model_validate(made["spec"]) == WeightRolloutSpec.model_validate(wire)


@REMOTE
@given(first=statuses().map(as_we_write_it), second=statuses().map(as_we_write_it))
async def test_no_status_loses_a_field_and_a_second_write_of_it_changes_nothing(
    cluster: Cluster, api: Api, namespace: str, first: Json, second: Json
) -> None:
    """`second` over `first`: a whole status leaves nothing of the one before."""
    name = f"c-{uuid4().hex[:12]}"
    read = await api.create(collection(namespace), weight_rollout(name, {}))
    async with connect(namespace, cluster.kubeconfig) as client:
        rollouts = Rollouts(client)
        for status in (first, second):
            read = await rollouts.write_status(read, status)
            assert read["status"] == status
            again = await rollouts.write_status(read, status)
            assert again["metadata"]["resourceVersion"] == read["metadata"]["resourceVersion"]
            assert again["metadata"]["generation"] == 1
    await api.delete(f"{collection(namespace)}/{name}")


async def test_a_character_beyond_the_basic_plane_does_not_lose_the_status(
    cluster: Cluster, api: Api, namespace: str
) -> None:
    """An apply is read as YAML, where the surrogate pairs of ASCII-only JSON are an error."""
    read = await api.create(collection(namespace), weight_rollout("chat", {}))
    status = as_we_write_it({"message": "chat-5: the answer does not contain '\N{ROCKET}'"})
    async with connect(namespace, cluster.kubeconfig) as client:
        written = await Rollouts(client).write_status(read, status)
    assert written["status"]["message"] == status["message"]


async def test_an_empty_spec_gets_the_types_defaults(api: Api, namespace: str) -> None:
    made = await api.create(collection(namespace), weight_rollout("chat", {}), dryRun="All")
    assert WeightRolloutSpec.model_validate(made["spec"]) == WeightRolloutSpec()


async def test_new_weights_never_keep_the_digest_of_another_manager(
    api: Api, namespace: str
) -> None:
    name = f"c-{uuid4().hex[:12]}"
    path = f"{collection(namespace)}/{name}"
    old = {"version": "v1", "uri": "file:///models/a/", "digest": f"sha256:{'0' * 64}"}
    new = {"version": "v2", "uri": "file:///models/b/"}
    for manager, weights in (("git", old), ("trainer", new)):
        manifest = weight_rollout(name, {"weights": weights})
        made = await api.patch(path, manifest, "apply", fieldManager=manager, force="true")
    assert made["spec"]["weights"] == {**new, "metadata": "Require"}
    await api.delete(path)


def test_missing_sees_what_is_lost() -> None:
    assert missing({"a": [{"b": 1}]}, {"a": [{"b": 1, "c": 2}]}) == []
    assert missing({"a": [{"b": 1}]}, {"a": [{}]}) == [".a[0].b"]
    assert missing({"a": True}, {"a": 1}) == [".a"]
