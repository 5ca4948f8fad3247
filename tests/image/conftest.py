"""The images of this checkout, unpacked: the cached ones, or built now where every tier is asked for."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from images import build
from images.archive import Archive
from images.commands import BuildFailed
from images.places import TARGETS
from images.running import Container, Unpacked
from tiers import all_asked_for, unavailable

HERE = Path(__file__).parent
#: Seconds for a test: the first one of an image unpacks 10,000 files.
TEST_S = 600

_unbuilt = pytest.StashKey[str]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(TEST_S))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build here, where no test's time limit counts the minutes that it takes once."""
    wanted = any(HERE in item.path.parents for item in session.items)
    if wanted and not session.config.option.collectonly:
        session.config.stash[_unbuilt] = _why_not()


def _why_not() -> str:
    if os.geteuid() != 0:
        return "images are unpacked and started by root only"
    try:
        if all_asked_for():
            build.built()
        return "" if build.is_built() else "the images are not built: make image"
    except BuildFailed as failed:
        return str(failed)


@pytest.fixture(scope="session")
def unpacked(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Unpacked]:
    """One image by its target, unpacked when it is first asked for."""
    if why := pytestconfig.stash.get(_unbuilt, ""):
        unavailable(why)

    @cache
    def once(target: str) -> Unpacked:
        found = build.built()[target]
        archive = Archive(found.archive)
        root = tmp_path_factory.mktemp(target)
        root.chmod(0o755)
        archive.unpack(root)
        return Unpacked(target, root, archive, found)

    return once


@pytest.fixture(params=TARGETS)
def image(request: pytest.FixtureRequest, unpacked: Callable[[str], Unpacked]) -> Unpacked:
    """Each of them in turn."""
    return unpacked(request.param)


@pytest.fixture
def container(image: Unpacked) -> Container:
    return Container(image.root, image.archive)
