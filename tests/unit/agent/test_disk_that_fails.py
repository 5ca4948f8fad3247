"""Calls to the disk fail under the agent: it says why, keeps the engine serving, leaves nothing
behind, and works again when the disk does."""

import asyncio
import errno
import signal

import pytest

from faultydisk import Fault
from faultypod import FaultyPod
from localcluster.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.faults]
SOON = 20.0


#: (call, error, where, calls that go through) -> the reason that is told
STAGING = {
    ("pwrite", errno.ENOSPC, "staging", 2): "StagingSpaceTooSmall",
    ("pwrite", errno.EDQUOT, "staging", 2): "StagingSpaceTooSmall",
    ("pwrite", errno.EIO, "staging", 2): "StagingUnwritable",
    ("fallocate", errno.ENOSPC, "staging", 0): "StagingSpaceTooSmall",
    ("create", errno.ENOSPC, "staging", 0): "StagingSpaceTooSmall",  # no inode is left
    ("create", errno.EMFILE, "staging", 0): "StagingUnwritable",
    ("create", errno.ENOSPC, "staging", 1): "StagingSpaceTooSmall",  # for the index
    ("write", errno.EIO, "staging", 0): "StagingUnwritable",
    ("mkdir", errno.ENOSPC, "staging", 0): "StagingSpaceTooSmall",
    ("mkdir", errno.EROFS, "staging", 1): "StagingUnwritable",
    ("fsync", errno.EIO, "staging", 0): "StagingUnwritable",
    ("fsync", errno.ENOSPC, "staging", 2): "StagingSpaceTooSmall",
    ("rename", errno.EDQUOT, "staging", 1): "StagingSpaceTooSmall",
    ("open", errno.EMFILE, "source", 1): "SourceUnreadable",
    ("open", errno.EACCES, "source", 0): "SourceUnreadable",
    ("read", errno.EIO, "source", 0): "SourceUnreadable",
    ("read", errno.EIO, "source", 12): "SourceUnreadable",  # in the middle of a file
}


@pytest.mark.parametrize("case", STAGING, ids=lambda case: "-".join(map(str, case)))
async def test_staging_ends_with_its_reason_and_works_when_the_disk_does(
    case: tuple[str, int, str, int], ground: FaultyPod
) -> None:
    call, error, where, skip = case
    pod, name = ground.pod, ground.new_weights()
    paused = await ground.pauses()
    ground.disk.fail(Fault(call, error, ground.place(where, name), skip=skip))

    failed = await pod.stage(name)
    assert (failed.reason, failed.failure_class) == (STAGING[case], "Environment")
    assert failed.message
    assert ground.leftovers() == []
    assert ground.is_alive()
    assert await pod.readyz() == (200, "")
    assert await ground.pauses() == paused
    state = await pod.state()
    assert state.staging.reason == STAGING[case]

    ground.disk.heal()
    assert not (await pod.stage(name)).reason
    assert pod.digests[name] in (await pod.state()).staged


async def test_slow_disk_delays_the_staging_and_nothing_else(ground: FaultyPod) -> None:
    pod, name = ground.pod, ground.new_weights()
    slow = Fault("pwrite", 0, ground.place("staging", name), delay_ms=200)
    ground.disk.fail(slow)

    staging = asyncio.create_task(pod.stage(name))
    await pod.until(lambda state: state.HasField("staging"))
    for _ in range(5):
        assert await pod.readyz() == (200, "")
    assert not staging.done()
    assert not (await staging).reason


async def test_what_a_killed_agent_left_half_written_is_finished_by_the_next(
    ground: FaultyPod,
) -> None:
    pod, name = ground.pod, ground.new_weights()
    ground.disk.fail(Fault("pwrite", 0, ground.place("staging", name), delay_ms=2000))

    staging = asyncio.create_task(pod.stage(name))
    await eventually(lambda: ground.leftovers(), SOON, "an image is half written")
    await pod.agent.end(signal.SIGKILL)
    with pytest.raises(AssertionError):
        await staging
    ground.disk.heal()
    await pod.agent.start()
    await pod.until(lambda state: state.ready)
    await pod.hello()
    assert not (await pod.stage(name)).reason
    assert ground.leftovers() == []


async def test_agent_starts_and_is_ready_on_a_volume_that_takes_nothing(ground: FaultyPod) -> None:
    pod, name = ground.pod, ground.new_weights()
    everything = ("create", "mkdir", "rename", "unlink", "write", "pwrite", "fsync")
    unlisted = Fault("list", errno.EIO, pod.staging / "images")
    ground.disk.fail(unlisted, *(Fault(call, errno.ENOSPC, pod.staging) for call in everything))
    await pod.agent.end(signal.SIGKILL)
    await pod.agent.start()
    await pod.until(lambda state: state.ready)
    await pod.hello()  # nothing new is to be written for it
    assert (await pod.stage(name)).reason == "StagingUnwritable"
    assert await pod.readyz() == (200, "")
    ground.disk.heal()
    assert not (await pod.stage(name)).reason


async def test_agent_that_cannot_list_its_volumes_serves_on(ground: FaultyPod) -> None:
    """No file handle is left: what cannot be looked at is unknown, and no reason to end."""
    pod, name = ground.pod, ground.new_weights()
    places = (pod.staging / "images", pod.handover)
    ground.disk.fail(*(Fault("list", errno.EMFILE, place) for place in places))
    assert (await pod.stage(name)).reason == "StagingUnwritable"
    await pod.engine.restart()  # the agent looks closely at every new process
    state = await pod.until(lambda state: state.engine.instance == pod.engine.instance)
    assert state.incompatible_reason == "NoEngineReport"
    assert ground.is_alive()
    ground.disk.heal()
    await pod.until(lambda state: state.ready and not state.incompatible_reason)
    assert not (await pod.stage(name)).reason
