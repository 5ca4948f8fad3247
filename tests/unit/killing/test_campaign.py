"""A campaign ends with nothing left running, whenever it is asked to end."""

import asyncio
from typing import Any

import pytest

from killing import campaign as campaign_module
from killing.campaign import Campaign
from killing.lane import Outcome
from localcluster.waiting import eventually

SOON = 5.0
KILL = ("agent/step/Pause/before",)


class Lanes:
    """Stands for the real ones, each of which is a fleet; both ends wait until they are let go."""

    def __init__(self) -> None:
        self.ran, self.closed = asyncio.Event(), asyncio.Event()
        self.running = self.closing = self.ended = 0

    def __call__(self, ground: object) -> "Lanes":
        return self

    async def open(self) -> None:
        pass

    async def run(self, kill: tuple[str, ...]) -> Outcome:
        self.running += 1
        await self.ran.wait()
        return Outcome(kill, 1, 0.0, 0)

    async def close(self) -> None:
        self.closing += 1
        await self.closed.wait()
        self.ended += 1


@pytest.fixture
async def lanes(monkeypatch: pytest.MonkeyPatch) -> Lanes:
    found = Lanes()
    monkeypatch.setattr(campaign_module, "Lane", found)
    return found


async def test_lane_that_is_being_closed_when_the_campaign_ends_is_closed_to_its_end(
    lanes: Lanes,
) -> None:
    ground: Any = None
    campaign = Campaign(ground, [KILL])
    campaign.start()
    lanes.ran.set()
    assert (await campaign.outcome(KILL)).struck == 1
    await eventually(lambda: lanes.closing, SOON, "it is being closed")
    stopping = asyncio.create_task(campaign.stop())
    asyncio.get_running_loop().call_later(0.05, lanes.closed.set)
    await stopping
    assert lanes.ended == 1


async def test_run_that_nobody_waits_for_any_more_is_given_up_and_its_lane_closed(
    lanes: Lanes,
) -> None:
    ground: Any = None
    campaign = Campaign(ground, [KILL])
    campaign.start()
    lanes.closed.set()
    await eventually(lambda: lanes.running, SOON, "it runs")
    await campaign.stop()
    assert lanes.ended == 1
