"""The fleet lives while nobody leads it."""

import pytest

from node.site import Site

pytestmark = pytest.mark.timeout(600)


async def test_pods_that_join_without_an_operator_get_the_stable_weights(site: Site) -> None:
    workload = site.workload("alone", "--agent-arg=--alone-after-seconds=5", replicas=1)
    url = await site.deploy(workload)
    await site.roll("alone", "b")
    await site.rolled("alone")
    await site.operators(0)
    try:
        async with site.clients(url) as clients:
            await site.scale("alone", 2)
            await site.world.until_ready("alone", 2, 150)
            await site.holds("alone", "b", 2)
            await clients.more(8)
    finally:
        await site.operators(2)

    assert set(clients.last.by_weights) == {"b"}, clients.last.complaints
    assert clients.last.failed == 0, clients.last.complaints
