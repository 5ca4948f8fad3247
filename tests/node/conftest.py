"""One node for the session, as a cluster of its own; for each test a namespace under the restricted profile."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from fleet.world import World
from gobinary import BuildFailed
from localcluster.access import make_namespace, remove_namespace
from localcluster.api import Api
from localcluster.build import control_plane_binary
from localnode.build import node_binary, program
from localnode.ground import Ground
from localnode.oci import Image
from localnode.packages import Missing, ensure
from localnode.provider import find_ground, import_made, why_none
from node.product import Images, NoImages, bring_images
from node.site import Site, remove_crd, write_models
from node.toys import TOY_IMAGE
from tiers import unavailable

HERE: Final = Path(__file__).parent
#: Kept after the run, for people: see docs/node-tier.md.
LOGS: Final = HERE.parents[1] / "build" / "node-logs"
RESTRICTED: Final = {"pod-security.kubernetes.io/enforce": "restricted"}

_why = pytest.StashKey[str]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One of them needs a cluster in which the chart is not installed yet."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.node)
    items.sort(key=lambda item: item.path != HERE / "test_readme_path.py")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build and install here, where no test's time limit counts the minutes that it takes once."""
    config = session.config
    if config.option.collectonly or not any(HERE in item.path.parents for item in session.items):
        return
    if why := why_none():
        config.stash[_why] = why
        return
    try:
        ensure()
        control_plane_binary()
        node_binary()
        program("toy")
    except (BuildFailed, Missing) as failed:
        config.stash[_why] = str(failed)


@pytest.fixture(scope="session")
async def ground(pytestconfig: pytest.Config) -> AsyncIterator[Ground]:
    """A cluster with a real kubelet; the toy image is on it."""
    if why := pytestconfig.stash.get(_why, ""):
        unavailable(f"no node: {why}")
    async with find_ground(LOGS) as found:
        await import_made(found, Image(TOY_IMAGE, {"toy": program("toy")}, ["/toy"]))
        yield found


@pytest.fixture(scope="session")
async def cluster(ground: Ground) -> Ground:
    """In this folder the cluster is the ground."""
    return ground


@pytest.fixture
async def namespace(api: Api) -> AsyncIterator[str]:
    """A namespace of the test's own that refuses pods which break the restricted profile."""
    name = f"t-{uuid.uuid4().hex[:8]}"
    await make_namespace(api, name, deadline_s=60)
    await api.patch(f"/api/v1/namespaces/{name}", {"metadata": {"labels": RESTRICTED}})
    yield name
    await remove_namespace(api, name)


@pytest.fixture(scope="session")
async def images(ground: Ground) -> Images:
    """Of this checkout, on the node."""
    try:
        return await bring_images(ground)
    except NoImages as failed:
        unavailable(f"no images: {failed}")


@pytest.fixture(scope="module")
async def site(installed: Site) -> AsyncIterator[Site]:
    """For the scenarios of one file: their fleets end with it, as a small machine has not room for all."""
    yield installed
    await installed.clear()


@pytest.fixture(scope="session")
async def installed(
    ground: Ground, images: Images, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Site]:
    """A namespace with the chart installed, for all scenarios of the product."""
    async with ground.api() as api:
        name = f"site-{uuid.uuid4().hex[:8]}"
        await make_namespace(api, name, deadline_s=60)
        await api.patch(f"/api/v1/namespaces/{name}", {"metadata": {"labels": RESTRICTED}})
        folder = tmp_path_factory.mktemp("site")
        known = write_models(folder)
        found = Site(ground, World(ground, api, name, folder), images, known)
        await found.prepare()
        try:
            await found.install()
            yield found
        finally:
            # In a cluster that stays, what belongs to no namespace would be in the way of the next release.
            await found.uninstall()
            await remove_crd(api)
            await remove_namespace(api, name)
