"""The owner of the Deployment does not wait for our rollout: new pods and evictions come in its middle."""

import pytest

from localcluster.pods import Pods
from node.site import Site

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
async def url(site: Site) -> str:
    """Of a fleet of three whose updates take a moment."""
    flags = ("--token-seconds=0.01", "--update-seconds=2")
    return await site.deploy(site.workload("moving", engine_flags=flags))


async def test_deployment_that_replaces_all_pods_in_mid_rollout_ends_with_the_new_weights(
    site: Site, url: str
) -> None:
    path = f"/apis/apps/v1/namespaces/{site.world.namespace}/deployments/moving"
    before = {pod["metadata"]["uid"] for pod in await site.world.pods("moving")}
    async with site.clients(url) as clients:
        await site.roll("moving", "b")
        await site.paused("moving")
        note = {"metadata": {"annotations": {"image": "newer"}}}
        await site.world.api.patch(path, {"spec": {"template": note}}, "strategic")
        await site.replaced("moving", before, 3)
        await site.rolled("moving", 240)
        await clients.more(8)

    assert clients.last.by_weights["?"] == 0, clients.last.complaints
    assert clients.last.failed == 0, clients.last.complaints
    await site.holds("moving", "b", 3)


async def test_pod_that_is_drained_in_mid_swap_takes_nothing_with_it(site: Site, url: str) -> None:
    async with site.clients(url) as clients:
        await site.roll("moving", "c")
        name = await site.paused("moving")
        pods = Pods(site.world.api, site.world.namespace)
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        await site.world.api.create(f"{pods.path(name)}/eviction", eviction)
        await pods.gone(name, 120)
        await site.world.until_ready("moving", 3, 150)
        await site.rolled("moving", 240)
        await clients.more(8)

    assert clients.last.by_weights["?"] == 0, clients.last.complaints
    assert clients.last.failed == 0, clients.last.complaints
    await site.holds("moving", "c", 3)
