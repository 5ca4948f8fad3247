"""helm for the tests of the chart: the cached one, or one that is built where every tier is asked for."""

from pathlib import Path

import pytest

from gobinary import BuildFailed
from helm.build import helm_binary, is_built
from tiers import all_asked_for, unavailable

HERE = Path(__file__).parent

_unbuilt = pytest.StashKey[str]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build here, where no test's time limit counts the minutes that it takes once."""
    wanted = any(HERE in item.path.parents for item in session.items)
    if session.config.option.collectonly or not wanted or is_built():
        return
    if not all_asked_for():
        session.config.stash[_unbuilt] = "helm is not built: make helm"
        return
    try:
        helm_binary()
    except BuildFailed as failed:
        session.config.stash[_unbuilt] = str(failed)


@pytest.fixture(scope="session", autouse=True)
def _helm(pytestconfig: pytest.Config) -> None:
    if why := pytestconfig.stash.get(_unbuilt, ""):
        unavailable(why)
