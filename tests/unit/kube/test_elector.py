"""Two leaders at once is the worst that can happen; a fence that comes too late is the second worst."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from localcluster.waiting import eventually
from weightrollout.clock import SystemClock
from weightrollout.kube.errors import Conflict, Unavailable
from weightrollout.kube.lease import Elector, LeaseRecord, LeaseTimes, Step, next_step

TIMES = LeaseTimes(lease_s=0.6, renew_s=0.3, retry_s=0.03)
SOON = 5.0


class FakeLease:
    """One Lease with the API server's rules; `down` and `hung` are its outages."""

    def __init__(self) -> None:
        self.record: LeaseRecord | None = None
        self.down = False
        self.hung = False

    async def get(self) -> LeaseRecord | None:
        await self._reach()
        return self.record

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        await self._reach()
        if self.record is not None:
            raise Conflict("exists")
        return self._write(record)

    async def replace(self, record: LeaseRecord) -> LeaseRecord:
        await self._reach()
        if self.record is None or self.record.version != record.version:
            raise Conflict("changed")
        return self._write(record)

    def _write(self, record: LeaseRecord) -> LeaseRecord:
        before = int(self.record.version) if self.record is not None else 0
        self.record = replace(record, version=str(before + 1))
        return self.record

    async def _reach(self) -> None:
        if self.hung:
            await asyncio.Event().wait()
        if self.down:
            raise Unavailable("refused")


class Replica:
    """An elector and what it said, with the time of the loop."""

    def __init__(self, name: str, lease: FakeLease) -> None:
        self.lease = lease
        self.said: list[tuple[str, float]] = []
        self.elector = Elector(
            lease,
            name,
            TIMES,
            SystemClock(),
            lambda: self._say("lead"),
            lambda why: self._say("fence"),
        )

    @property
    def words(self) -> list[str]:
        return [word for word, _ in self.said]

    def at(self, word: str) -> float:
        return next(when for said, when in self.said if said == word)

    def _say(self, word: str) -> None:
        self.said.append((word, asyncio.get_running_loop().time()))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Replica"]:
        task = asyncio.create_task(self.elector.run())
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self.elector.release()


class OwnWay(FakeLease):
    """Another way to the same Lease, with outages of its own."""

    def __init__(self, lease: FakeLease) -> None:
        super().__init__()
        self._lease = lease

    async def get(self) -> LeaseRecord | None:
        await self._reach()
        return await self._lease.get()

    async def create(self, record: LeaseRecord) -> LeaseRecord:
        await self._reach()
        return await self._lease.create(record)

    async def replace(self, record: LeaseRecord) -> LeaseRecord:
        await self._reach()
        return await self._lease.replace(record)


RECORD = LeaseRecord("other", 15.0, 3, "", "", "7")


@pytest.mark.parametrize(
    ("record", "unchanged_s", "step"),
    [
        (None, 0.0, Step.CREATE),
        (RECORD, 15.0, Step.WAIT),
        (RECORD, 15.1, Step.TAKE),
        (replace(RECORD, holder=""), 0.0, Step.TAKE),
        (replace(RECORD, holder="me"), 0.0, Step.RENEW),
    ],
)
def test_foreign_lease_is_taken_only_after_we_saw_it_unchanged(
    record: LeaseRecord | None, unchanged_s: float, step: Step
) -> None:
    assert next_step(record, "me", unchanged_s) is step


def test_times_that_could_let_two_lead_are_refused() -> None:
    with pytest.raises(ValueError, match="lease > renew > retry"):
        LeaseTimes(10.0, 15.0, 2.0)


async def test_second_replica_does_not_lead() -> None:
    lease = FakeLease()
    async with Replica("a", lease).running() as first:
        await eventually(lambda: first.elector.leading, SOON, "the first leads")
        async with Replica("b", lease).running() as second:
            before = lease.record
            await eventually(lambda: lease.record != before, SOON, "the first renews")
            assert second.words == []


@pytest.mark.parametrize("outage", ["down", "hung"])
async def test_cut_leader_stops_itself_before_another_begins(outage: str) -> None:
    lease = FakeLease()
    way = OwnWay(lease)
    async with Replica("a", way).running() as first:
        await eventually(lambda: first.elector.leading, SOON, "the first leads")
        async with Replica("b", lease).running() as second:
            setattr(way, outage, True)
            await eventually(lambda: second.elector.leading, SOON, "the second leads")
            assert first.words == ["lead", "fence"]
            assert first.at("fence") < second.at("lead")
            assert lease.record is not None
            assert lease.record.transitions == 1


async def test_short_outage_costs_no_leadership() -> None:
    lease = FakeLease()
    async with Replica("a", lease).running() as replica:
        await eventually(lambda: replica.elector.leading, SOON, "it leads")
        lease.down = True
        version = lease.record.version if lease.record else ""
        await eventually(lambda: replica.elector._record is None, SOON, "an attempt failed")
        lease.down = False
        await eventually(
            lambda: lease.record is not None and lease.record.version != version, SOON, "it renewed"
        )
        assert replica.words == ["lead"]


async def test_leader_that_lost_its_lease_to_another_stops_at_once() -> None:
    lease = FakeLease()
    async with Replica("a", lease).running() as replica:
        await eventually(lambda: replica.elector.leading, SOON, "it leads")
        assert lease.record is not None
        lease._write(replace(lease.record, holder="thief"))
        begun = asyncio.get_running_loop().time()
        await eventually(lambda: replica.words == ["lead", "fence"], SOON, "it stopped")
        assert replica.at("fence") - begun < TIMES.renew_s


async def test_released_lease_is_taken_without_waiting_for_its_end() -> None:
    lease = FakeLease()
    async with Replica("a", lease).running() as first:
        await eventually(lambda: first.elector.leading, SOON, "the first leads")
    begun = asyncio.get_running_loop().time()
    async with Replica("b", lease).running() as second:
        await eventually(lambda: second.elector.leading, SOON, "the second leads")
        assert second.at("lead") - begun < TIMES.lease_s


async def test_loop_that_was_stuck_does_not_lead_before_its_timer_ran() -> None:
    lease = FakeLease()
    clock = SystemClock()

    class Late(SystemClock):
        offset = 0.0

        def monotonic(self) -> float:
            return clock.monotonic() + self.offset

    late = Late()
    elector = Elector(lease, "a", LeaseTimes(15, 10, 2), late, lambda: None, lambda why: None)
    task = asyncio.create_task(elector.run())
    await eventually(lambda: elector.leading, SOON, "it leads")
    late.offset = 11.0
    assert not elector.leading
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    elector.fence("test ends")
