"""The judge is built before the first test, where no time limit counts the minute that it takes once."""

from pathlib import Path

import pytest

from gitops.judge import Judgement, build, judged
from gitops.objects import Recorded, recorded
from gobinary import BuildFailed
from tiers import unavailable

_unbuilt = pytest.StashKey[str]()


def pytest_collection_finish(session: pytest.Session) -> None:
    wanted = any(Path(__file__).parent in item.path.parents for item in session.items)
    if session.config.option.collectonly or not wanted:
        return
    try:
        build()
    except BuildFailed as failed:
        session.config.stash[_unbuilt] = f"kstatus could not be built: {failed}"


@pytest.fixture(scope="module")
def judgements(pytestconfig: pytest.Config) -> dict[str, tuple[Recorded, Judgement]]:
    """By what is the case with the object."""
    if why := pytestconfig.stash.get(_unbuilt, ""):
        unavailable(why)
    objects = recorded()
    found = judged([each.body for each in objects])
    return {each.name: (each, said) for each, said in zip(objects, found, strict=True)}
