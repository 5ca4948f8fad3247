"""Whatever a user or another controller writes, the operator says something to it and goes on.

A control plane of its own: one test takes the rules out of our definition.
"""

import asyncio
import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from crd_install import collection, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.world import CRD_FILE, World
from localcluster.access import make_namespace
from localcluster.api import ApiError
from localcluster.cluster import LocalCluster
from localcluster.waiting import eventually
from random_objects import wild_specs

pytestmark = pytest.mark.faults

Json = dict[str, Any]

SOON_S = 60.0
GOOD: Json = {"weights": {"version": "v1", "uri": "file:///models/chat/step-1/"}}
#: One run of many objects at once: each example would wait for the operator anew.
ONE_BATCH = settings(
    max_examples=1,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with LocalCluster() as cluster, cluster.api() as api:
        found = World(cluster, api, "wild", tmp_path_factory.mktemp("wild"))
        await make_namespace(api, found.namespace)
        await found.install_crd()
        yield found


@pytest.fixture(scope="module")
async def operator(world: World) -> AsyncIterator[OperatorProcess]:
    process = await world.operator()
    yield process
    await process.stop()


async def create(world: World, prefix: str, specs: list[Json]) -> tuple[list[str], list[ApiError]]:
    """Names of those that the API server took, and why it did not take the others."""
    names, refusals = [], []
    for number, spec in enumerate(specs):
        manifest = weight_rollout(f"{prefix}-{number}", spec)
        try:
            await world.api.create(collection(world.namespace), manifest)
            names.append(f"{prefix}-{number}")
        except ApiError as refused:
            refusals.append(refused)
    return names, refusals


async def answered(world: World, names: list[str], process: OperatorProcess) -> list[Json]:
    """The first status of each."""
    statuses = [
        await world.until(name, lambda said: said.get("phase"), SOON_S, f"{name} is answered")
        for name in names
    ]
    assert process.exit_code is None
    log = await asyncio.to_thread(process.log.read_text)
    assert "Traceback" not in log, log[-4000:]
    return statuses


def stalled(status: Json) -> str:
    """The reason, where it is stalled."""
    told: dict[str, Json] = {each["type"]: each for each in status["conditions"]}
    return str(told["Stalled"]["reason"]) if told["Stalled"]["status"] == "True" else ""


@ONE_BATCH
@given(st.lists(wild_specs(), min_size=30, max_size=30))
async def test_any_spec_is_refused_with_a_reason_or_gets_a_status(
    world: World, operator: OperatorProcess, specs: list[Json]
) -> None:
    names, refusals = await create(world, "strict", [*specs, GOOD])
    assert all(each.status in (400, 422) for each in refusals), refusals
    assert all(stalled(each) == "" for each in await answered(world, names, operator))


async def test_objects_of_other_writers_do_not_disturb_a_rollout(
    world: World, operator: OperatorProcess
) -> None:
    labels = {"weightrollout.dev/name": "calm"}
    revisions = f"/apis/apps/v1/namespaces/{world.namespace}/controllerrevisions"
    for number, data in enumerate(({"spec": {}}, {"weights": [1]}, {"weights": {"version": 7}})):
        foreign = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {"name": f"foreign-{number}", "labels": labels},
            "data": data,
            "revision": 1 << 40,
        }
        await world.api.create(revisions, foreign)
    await world.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": "calm.weightrollout",
                "labels": {**labels, "app.kubernetes.io/managed-by": "weightrollout"},
            },
            "data": {"stable.json": "[" * 20_000},
        }
    )
    await world.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "calm-0",
                "labels": labels,
                "annotations": {"weightrollout.dev/swap": "[" * 20_000},
            },
            "spec": {"schedulerName": "nobody", "containers": [{"name": "x", "image": "x"}]},
        }
    )
    await world.apply(weight_rollout("calm", GOOD))
    await world.until(
        "calm", lambda said: said["pods"]["selected"] == 1, SOON_S, "the pod is counted"
    )
    await answered(world, ["calm"], operator)

    async def recorded() -> bool:
        found = (await world.api.list(revisions))[0]
        ours = [each for each in found if each["metadata"]["name"].startswith("calm-")]
        assert [each["revision"] for each in ours] == [1]
        return True

    await eventually(recorded, SOON_S, "the revision is recorded, and is the first of its fleet")


@ONE_BATCH
@given(st.lists(wild_specs(), min_size=30, max_size=30))
async def test_any_spec_is_answered_without_the_rules_of_our_definition(
    world: World, operator: OperatorProcess, specs: list[Json]
) -> None:
    """As an API server has it whose definition is of another release."""
    loose = copy.deepcopy(yaml.safe_load(await asyncio.to_thread(CRD_FILE.read_text)))
    schema = loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    schema["spec"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    await world.api.apply(loose)

    async def taken() -> bool:
        probe = weight_rollout("probe", {"warpSpeed": "9"})
        made = await world.api.create(collection(world.namespace), probe, dryRun="All")
        return "warpSpeed" in made["spec"]

    await eventually(taken, SOON_S, "the loose schema is served")
    broken = {"weights": {"version": ["v1"], "uri": 7}}
    names, refusals = await create(world, "loose", [*specs, broken])
    assert refusals == []
    reasons = [stalled(each) for each in await answered(world, names, operator)]
    assert reasons[-1] == "InvalidSpec"
    assert set(reasons) <= {"", "InvalidSpec"}
