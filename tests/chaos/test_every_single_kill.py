"""A process dies at one boundary of a rollout, at every one that there is: the fleet converges all the same."""

import pytest

from killing.campaign import Campaign

pytestmark = pytest.mark.faults


@pytest.mark.timeout(1800)
async def test_fleet_converges_when_a_process_is_killed_at(campaign: Campaign, point: str) -> None:
    assert (await campaign.outcome((point,))).struck == 1
