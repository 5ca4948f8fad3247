"""Two processes die in one rollout, the second while the first is still coming back."""

import pytest

from killing.campaign import Campaign

pytestmark = pytest.mark.faults


@pytest.mark.timeout(1800)
async def test_fleet_converges_when_two_are_killed_at(
    campaign: Campaign, pair: tuple[str, str]
) -> None:
    assert (await campaign.outcome(pair)).struck >= 1
