"""Helm upgrades the release in the middle of a rollout, and removes it: the fleet serves on."""

import pytest

from node.site import Site

pytestmark = pytest.mark.timeout(900)


async def test_upgrade_in_mid_rollout_and_uninstall_fail_no_request(site: Site) -> None:
    """One test, since the order matters; the release is there again afterwards."""
    flags = ("--token-seconds=0.01", "--update-seconds=2")
    url = await site.deploy(site.workload("stays", engine_flags=flags))
    async with site.clients(url) as clients:
        await site.roll("stays", "b")
        await site.paused("stays")
        await site.install("--set=podAnnotations.generation=two")
        await site.rolled("stays")

        said = await site.uninstall()
        assert said.ok, said.error
        await clients.more(8)
        assert (await site.world.status("stays"))["updated"] == "3/3", "the CRD stays, by policy"

        await site.install()
        await site.operators(2)
        await site.roll("stays", "c")
        await site.rolled("stays")
        await clients.more(8)

    assert clients.last.failed == 0, clients.last.complaints
    assert clients.last.by_weights["?"] == 0, clients.last.complaints
    await site.holds("stays", "c", 3)
