"""Engine, agent and operator are killed as a kernel would kill them; no answer comes from weights that nobody asked for."""

import pytest

from node.site import Site

pytestmark = pytest.mark.timeout(900)

SLOW = ("--token-seconds=0.01", "--update-seconds=4")  # long enough to be found in a pause


@pytest.fixture(scope="module")
async def url(site: Site) -> str:
    """Of a fleet that has already been given version b."""
    found = await site.deploy(site.workload("killed", engine_flags=SLOW))
    await site.roll("killed", "b")
    await site.rolled("killed")
    return found


async def test_engine_that_was_killed_serves_again_only_with_the_weights_of_the_rollout(
    site: Site, url: str
) -> None:
    async with site.clients(url) as clients:
        pod = (await site.world.pods("killed"))[0]["metadata"]["name"]
        before = await site.kill(pod, "vllm")
        await site.restarted(pod, "vllm", before)
        await site.holds("killed", "b", 3)
        await site.world.until_ready("killed", 3, 120)
        await clients.more(8)

    # What it was answering when it died is lost; what it had loaded at its start was never heard.
    assert set(clients.last.by_weights) == {"b"}, clients.last.complaints


async def test_agent_that_is_killed_in_mid_swap_finishes_the_swap(site: Site, url: str) -> None:
    async with site.clients(url) as clients:
        await site.roll("killed", "c")
        pod = await site.paused("killed")
        before = await site.kill(pod, "weightrollout-agent")
        await site.restarted(pod, "weightrollout-agent", before)
        await site.rolled("killed")
        await clients.more(8)

    assert clients.last.by_weights["?"] == 0, clients.last.complaints
    assert clients.last.failed == 0, clients.last.complaints
    await site.holds("killed", "c", 3)


async def test_operator_that_is_killed_in_mid_swap_is_followed_by_another(
    site: Site, url: str
) -> None:
    async with site.clients(url) as clients:
        await site.roll("killed", "d")
        await site.paused("killed")
        leader = await site.leader()
        await site.kill(leader, "operator")
        await site.rolled("killed")
        await clients.more(8)

    assert clients.last.by_weights["?"] == 0, clients.last.complaints
    assert clients.last.failed == 0, clients.last.complaints
    await site.holds("killed", "d", 3)
