"""The journal cannot be written: nothing new starts, and what has started ends by its own rules."""

import errno
import signal

import pytest

from faultydisk import Fault
from faultypod import FaultyPod
from localcluster.waiting import eventually
from onepod import Refusal

pytestmark = [pytest.mark.slow, pytest.mark.faults]
SOON = 20.0
#: Journal writes of one swap: begun, Pause, Start, Update, Finish, Resume, ended.
WRITES = 7
#: Writes that must not be missing: before the weights are touched the swap is given up.
NEEDED = 3


def no_journal(ground: FaultyPod, skip: int = 0) -> Fault:
    return Fault("create", errno.ENOSPC, ground.pod.staging / ".journal.json.tmp", skip=skip)


@pytest.mark.parametrize("call", ["create", "write", "rename", "fsync"])
async def test_reservation_that_cannot_be_kept_is_refused_and_keeps_nobody_out(
    call: str, ground: FaultyPod
) -> None:
    pod, name = ground.pod, ground.new_weights()
    assert not (await pod.stage(name)).reason
    place = pod.staging / ("journal.json" if call in ("fsync", "rename") else ".journal.json")
    ground.disk.fail(Fault(call, errno.EDQUOT, place))

    with pytest.raises(Refusal) as refused:
        await pod.reserve(name, f"reserve-{call}")

    assert refused.value.reason == "JournalUnwritable"
    assert not (await pod.state()).HasField("reservation")
    assert await pod.readyz() == (200, "")
    assert not (pod.staging / ".journal.json.tmp").exists()
    ground.disk.heal()
    await pod.reserve(name, f"reserve-{call}-again")
    await pod.release()


async def test_new_leader_is_refused_until_its_epoch_can_be_kept(ground: FaultyPod) -> None:
    pod = ground.pod
    ground.disk.fail(no_journal(ground))
    pod.epoch += 1
    with pytest.raises(Refusal) as refused:
        await pod.hello(takeover=True)
    assert refused.value.reason == "JournalUnwritable"
    assert await pod.readyz() == (200, "")
    ground.disk.heal()
    await pod.hello(takeover=True)


async def ready_to_swap(ground: FaultyPod, txn: str) -> tuple[str, str]:
    """What it serves and what it is reserved for."""
    pod, old, new = ground.pod, ground.new_weights(), ground.new_weights()
    assert (await pod.bring(old, f"before-{txn}")).outcome == "Committed"
    assert not (await pod.stage(new)).reason
    await pod.reserve(new, txn)
    return old, new


async def test_swap_that_cannot_be_noted_does_not_begin(ground: FaultyPod) -> None:
    pod = ground.pod
    old, new = await ready_to_swap(ground, "first")
    ground.disk.fail(no_journal(ground))
    with pytest.raises(Refusal) as refused:
        await pod.swap(new, "first")
    assert refused.value.reason == "JournalUnwritable"
    ground.disk.heal()
    assert (await pod.swap(new, "first")).outcome == "Committed"
    assert not await pod.answers_with(old)


@pytest.mark.parametrize("kept", range(1, WRITES))
async def test_disk_that_fills_up_in_mid_swap_leaves_whole_weights_that_have_a_name(
    kept: int, ground: FaultyPod
) -> None:
    """Also when the agent dies before its journal has caught up: it reads the engine back."""
    pod, txn = ground.pod, f"fills-{kept}"
    old, new = await ready_to_swap(ground, txn)
    ground.disk.fail(no_journal(ground, skip=kept))

    end = await pod.swap(new, txn)
    if kept < NEEDED:
        assert (end.outcome, end.reason) == ("Untouched", "JournalUnwritable")
        assert end.failure_class == "Environment"
    else:
        assert end.outcome == "Committed"
    serves = new if kept >= NEEDED else old
    assert await pod.answers_with(serves)
    await pod.until(lambda state: state.ready)

    await pod.agent.end(signal.SIGKILL)
    await pod.agent.start()
    state = await pod.until(lambda state: state.ready and state.transaction.outcome != "")
    assert state.serving.version == f"v-{serves}"
    assert await pod.answers_with(serves)
    assert (await pod.engine.state())["unguardedUpdates"] == 0


async def test_journal_catches_up_by_itself_when_there_is_space(ground: FaultyPod) -> None:
    pod, txn = ground.pod, "later"
    _, new = await ready_to_swap(ground, txn)
    ground.disk.fail(no_journal(ground, skip=NEEDED))
    assert (await pod.swap(new, txn)).outcome == "Committed"
    ground.disk.heal()
    await eventually(
        lambda: '"running":null' in (pod.staging / "journal.json").read_text(),
        SOON,
        "the journal has caught up",
    )


async def test_reservation_ends_by_its_time_also_on_a_full_disk(ground: FaultyPod) -> None:
    pod, name = ground.pod, ground.new_weights()
    assert not (await pod.stage(name)).reason
    await pod.reserve(name, "short", ttl_s=0.5)
    ground.disk.fail(no_journal(ground))
    await pod.until(lambda state: not state.HasField("reservation") and state.ready)
    ground.disk.heal()
    await eventually(
        lambda: '"reservation":null' in (pod.staging / "journal.json").read_text(),
        SOON,
        "the disk knows as well",
    )
