"""A cluster for the session, and for each test a namespace and a node of its own: a plugin of pytest."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gobinary import BuildFailed
from localcluster.access import Cluster, make_namespace, remove_namespace
from localcluster.api import Api
from localcluster.build import control_plane_binary
from localcluster.node_settings import python_environment
from localcluster.pods import Pods
from localcluster.provider import find_cluster, needs_build
from localcluster.virtual_node import VirtualNode
from tiers import unavailable

TESTS = Path(__file__).parent
CLUSTER_TIER = frozenset(
    {
        TESTS / "cluster",
        TESTS / "chaos",
        TESTS / "chart" / "cluster",
        TESTS / "image" / "cluster",
    }
)
PROGRAMS = (TESTS, TESTS.parent / "operator")  # what processes of pods can import

_unbuilt = pytest.StashKey[str]()
_failed = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_of_cluster_tier(item):
            item.add_marker(pytest.mark.cluster)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build here, where no test's time limit counts the five minutes that it takes once."""
    wanted = any(_is_of_cluster_tier(item) for item in session.items)
    if session.config.option.collectonly or not wanted or not needs_build():
        return
    try:
        control_plane_binary()
    except BuildFailed as failed:
        session.config.stash[_unbuilt] = str(failed)


def _is_of_cluster_tier(item: pytest.Item) -> bool:
    return not CLUSTER_TIER.isdisjoint(item.path.parents)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if report.failed:
        item.stash[_failed] = True
    return report  # type: ignore[return-value]


@pytest.fixture(scope="session")
async def cluster(pytestconfig: pytest.Config) -> AsyncIterator[Cluster]:
    """The cluster that this run was pointed at, or one of its own."""
    if why := pytestconfig.stash.get(_unbuilt, ""):
        unavailable(f"no cluster: the control plane could not be built: {why}")
    async with find_cluster() as found:
        yield found


@pytest.fixture(scope="session")
async def api(cluster: Cluster) -> AsyncIterator[Api]:
    """A client with full rights."""
    async with cluster.api() as client:
        yield client


@pytest.fixture
async def namespace(api: Api) -> AsyncIterator[str]:
    """A namespace of the test's own, ready for pods; deleted afterwards, in the background."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, name)
    yield name
    await remove_namespace(api, name)


@pytest.fixture
async def pods(api: Api, namespace: str) -> Pods:
    """The pods of the test's namespace."""
    return Pods(api, namespace)


@pytest.fixture
async def node(
    cluster: Cluster, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[VirtualNode]:
    """A virtual node of the test's own; pods get to it with `node.selector`. A failed test shows its containers' logs."""
    async with VirtualNode(
        cluster, environment=python_environment(*PROGRAMS), folder=tmp_path
    ) as virtual:
        yield virtual
        if request.node.stash.get(_failed, False):
            for path in sorted(virtual.logs.glob("*.log")):
                print(f"--- {path.name}\n" + "\n".join(path.read_text().splitlines()[-40:]))
