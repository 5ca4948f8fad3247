"""Two operators over one namespace would take the lead from each other for ever: Helm refuses the second."""

import uuid
from collections.abc import AsyncIterator

import pytest

from helm.chart import CHART
from helm.release import Release
from localcluster.access import Cluster, make_namespace, remove_namespace
from localcluster.api import Api

EVERYWHERE = (
    "--set=scope=cluster",
    "--set=crds.install=false",
)


@pytest.fixture
async def release(cluster: Cluster, api: Api, namespace: str) -> AsyncIterator[Release]:
    found = Release(cluster, api, namespace)
    yield found
    await found.end()


@pytest.fixture
async def second(cluster: Cluster, api: Api) -> AsyncIterator[Release]:
    """In a namespace of its own."""
    namespace = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, namespace)
    found = Release(cluster, api, namespace)
    yield found
    await found.end()
    await remove_namespace(api, namespace)


async def test_operator_for_all_is_refused_where_one_for_a_namespace_is(
    release: Release, second: Release
) -> None:
    assert release.install().ok

    said = second.install(*EVERYWHERE)

    assert not said.ok
    assert f"installed in the namespace {release.namespace} already" in said.error


async def test_operator_for_a_namespace_is_refused_where_one_for_all_is(
    release: Release, second: Release
) -> None:
    said = release.install(*EVERYWHERE)
    assert said.ok, said.error

    refused = second.install("--set=crds.install=false")

    assert not refused.ok
    assert f"the operator in the namespace {release.namespace} works in all" in refused.error


async def test_second_operator_for_all_is_refused(release: Release, second: Release) -> None:
    assert release.install(*EVERYWHERE).ok

    refused = second.install(*EVERYWHERE)

    assert not refused.ok
    assert release.namespace in refused.error


async def test_release_changes_its_own_scope_by_an_upgrade_and_back(release: Release) -> None:
    assert release.install("--set=crds.install=false").ok
    for scope, flag in (("cluster", True), ("namespace", False), ("cluster", True)):
        said = release.helm(
            "upgrade", "wr", str(CHART), "--reset-then-reuse-values", f"--set=scope={scope}"
        )
        assert said.ok, said.error
        (container,) = (await release.deployment())["spec"]["template"]["spec"]["containers"]
        assert ("--scope=cluster" in container["args"]) is flag


async def test_notes_of_an_operator_for_all_say_how_a_namespace_gets_its_sources(
    release: Release,
) -> None:
    said = release.install(*EVERYWHERE, "--set=sources.enabled=true")
    assert said.ok, said.error

    notes = release.helm("get", "notes", "wr").out
    commands = [line.split() for line in notes.splitlines() if line.startswith("  kubectl")]
    assert [each[1:4] for each in commands] == [
        ["-n", release.namespace, "rollout"],
        ["-n", "default", "apply"],
        ["weightrollout", "inject", "--operator-account"],
        ["annotate", "namespace", "default"],
    ]
