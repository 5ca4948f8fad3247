"""From a chart of an earlier commit to this one: what was chosen is kept, the schema is new, no object is lost.

The earlier one lies here as Helm packed it, with the schema that was before (`tests/chart/earlier`).
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from fleet.manifests import weight_rollout
from helm.chart import CHART, OF_TESTS
from helm.release import Release
from localcluster.access import Cluster
from localcluster.api import Api, ApiError
from localcluster.waiting import eventually
from weightrollout.api import names
from weightrollout.api.schema import schema_hash

EARLIER: Final = OF_TESTS / "earlier" / "first.tgz"
CRD: Final = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{names.PLURAL}.{names.GROUP}"
CHOSEN: Final[dict[str, Any]] = {
    "image": {"repository": "registry.example/wr", "tag": "0.1.0-mine"},
    "replicas": 3,
    "lease": {"seconds": 21, "renewSeconds": 14},
    "resources": {"limits": {"memory": "640Mi"}},
    "priorityClassName": "system-cluster-critical",
    "podAnnotations": {"example.com/team": "inference"},
    "networkPolicy": {"engines": {"enabled": True, "servingPorts": [8000, 8001]}},
    "sources": {"enabled": True, "allowed": ["file:///models/"]},
}
WEIGHTS: Final = {"version": "v1", "uri": "file:///models/chat/"}
NEW_FIELD: Final = {"version": "v2", "uri": "file:///models/chat-2/", "metadata": "Ignore"}
SOON_S: Final = 30.0

Json = dict[str, Any]


@pytest.fixture
async def release(
    cluster: Cluster, api: Api, namespace: str, tmp_path: Path
) -> AsyncIterator[Release]:
    """Of the earlier chart, with a rollout in it."""
    found = Release(cluster, api, namespace)
    values = tmp_path / "chosen.yaml"
    values.write_text(yaml.safe_dump(CHOSEN))
    said = found.install(chart=EARLIER, values=values)
    assert said.ok, said.error
    await api.apply(rollout(namespace, WEIGHTS))
    yield found
    # The schema is every test's: an upgrade that failed must leave ours.
    found.helm("upgrade", "wr", str(CHART), "--reset-then-reuse-values")
    await found.end()


def rollout(namespace: str, weights: Json) -> Json:
    found = weight_rollout("chat", weights)
    found["metadata"]["namespace"] = namespace
    return found


async def uids(api: Api, release: Release) -> dict[str, str]:
    """Of all that the release made."""
    manifest = release.helm("get", "manifest", "wr").out
    found = {}
    for each in filter(None, yaml.safe_load_all(manifest)):
        stored = await api.get(await api.path_of(each))
        found[f"{each['kind']} {each['metadata']['name']}"] = stored["metadata"]["uid"]
    return found


async def installed_schema(api: Api) -> str:
    found: str = (await api.get(CRD))["metadata"]["annotations"][names.ANNOTATION_SCHEMA]
    return found


# Helm's first way forgets no default of the new chart, the second keeps to the old ones: a value that is new is absent.
@pytest.mark.parametrize("way", ["--reset-then-reuse-values", "--reuse-values"])
async def test_upgrade_from_an_earlier_chart_keeps_values_and_objects_and_brings_the_schema(
    api: Api, release: Release, way: str
) -> None:
    before, made = await api.get(CRD), await uids(api, release)
    known = await api.get(await api.path_of(rollout(release.namespace, WEIGHTS)))
    assert await installed_schema(api) != schema_hash()

    said = release.helm("upgrade", "wr", str(CHART), way)

    assert said.ok, said.error
    assert (
        json.loads(release.helm("get", "values", "wr", "--output=json").out).items()
        >= CHOSEN.items()
    )
    await chosen_is_there(release)
    assert await installed_schema(api) == schema_hash()
    assert (await api.get(CRD))["metadata"]["uid"] == before["metadata"]["uid"]
    now = await uids(api, release)
    assert {name: now.get(name) for name in made} == made
    kept = await api.get(await api.path_of(rollout(release.namespace, WEIGHTS)))
    for what in ("uid", "generation", "creationTimestamp"):
        assert kept["metadata"][what] == known["metadata"][what]
    assert kept["spec"]["weights"].items() >= WEIGHTS.items()


async def chosen_is_there(release: Release) -> None:
    spec = (await release.deployment())["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert spec["replicas"] == 3
    assert container["image"] == "registry.example/wr:0.1.0-mine"
    assert {"--lease-seconds=21", "--renew-seconds=14", "--retry-seconds=2"} <= {*container["args"]}
    assert "--scope=cluster" not in container["args"], "one namespace stays one"
    assert container["resources"]["limits"] == {"memory": "640Mi"}
    assert pod["priorityClassName"] == "system-cluster-critical"
    assert spec["template"]["metadata"]["annotations"] == {"example.com/team": "inference"}


async def test_field_of_the_new_schema_is_kept_from_the_upgrade_on(
    api: Api, release: Release
) -> None:
    wanted = rollout(release.namespace, NEW_FIELD)
    with pytest.raises(ApiError, match="metadata: field not declared in schema"):
        await api.apply(wanted)

    assert release.helm("upgrade", "wr", str(CHART), "--reset-then-reuse-values").ok

    async def ignores() -> bool:
        try:
            stored = await api.apply(wanted)
        except ApiError:  # the server has yet to take the new schema up
            return False
        return bool(stored["spec"]["weights"]["metadata"] == "Ignore")

    await eventually(ignores, SOON_S, "the new field is stored")


async def test_upgrade_gives_the_operator_no_right_beyond_its_namespace(
    api: Api, release: Release
) -> None:
    group = "/apis/rbac.authorization.k8s.io/v1"
    path = f"{group}/clusterroles/weightrollout-operator:{release.namespace}"
    before = (await api.get(path))["rules"]

    assert release.helm("upgrade", "wr", str(CHART), "--reuse-values").ok

    assert (await api.get(path))["rules"] == before
