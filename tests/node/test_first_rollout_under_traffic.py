"""Installed by Helm, injected by the command line, rolled by one apply: and no client notices."""

import pytest

from node.site import Site

pytestmark = pytest.mark.timeout(600)


async def test_first_rollout_through_a_service_fails_no_request(site: Site) -> None:
    url = await site.deploy(site.workload("chat"))
    async with site.clients(url) as clients:
        await site.roll("chat", "b")
        status = await site.rolled("chat")
        await clients.more(8)

    tally = clients.last
    assert tally.failed == 0, tally.complaints
    assert tally.by_weights["?"] == 0, tally.complaints
    assert tally.by_weights["a"] > 0
    assert tally.by_weights["b"] > 0
    assert status["updated"] == "3/3"
    await site.holds("chat", "b", 3)
