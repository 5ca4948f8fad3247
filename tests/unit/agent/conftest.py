"""One pod on a disk that fails on demand, shared by the tests of one file."""

from collections.abc import AsyncIterator

import pytest

from faultydisk import FaultyDisk
from faultypod import FaultyPod
from onepod import one_pod


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FaultyPod]:
    folder = tmp_path_factory.mktemp("pod")
    disk = FaultyDisk(folder / "disk")
    async with one_pod(folder, killable=True, environment=disk.environment) as pod:
        await pod.hello()
        await pod.until(lambda state: state.ready)
        yield FaultyPod(pod, disk)


@pytest.fixture
def ground(shared: FaultyPod) -> FaultyPod:
    shared.disk.heal()
    return shared
