"""An owner gives the agent less memory than the weights need: that is said, and no kernel kills anything."""

from typing import Any

import pytest

from node.product import engine_state
from node.site import Site
from weightrollout.api import names

pytestmark = pytest.mark.timeout(600)

LIMIT_MIB = 160  # the agent itself takes about half of it


def with_little_memory(workload: dict[str, Any]) -> dict[str, Any]:
    """As an owner writes it who does not know that what lies in a memory volume counts."""
    spec = workload["spec"]["template"]["spec"]
    for container in spec["initContainers"]:
        if container["name"] == names.AGENT_CONTAINER:
            memory = {"memory": f"{LIMIT_MIB}Mi"}
            container["resources"] = {"requests": memory, "limits": memory}
    for volume in spec["volumes"]:
        if volume["name"] == names.VOLUME_STAGING:
            volume["emptyDir"] = {"medium": "Memory", "sizeLimit": "2Gi"}
    return workload


async def test_weights_that_do_not_fit_are_refused_before_they_are_staged(site: Site) -> None:
    size = await site.write_large("large-a", "large-b")
    assert size > LIMIT_MIB / 2 * 2**20, "they would fit"
    workload = site.workload("tight", "--staging", "memory", replicas=1, model="large-a")
    await site.deploy(with_little_memory(workload))

    await site.roll("tight", "large-b")
    status = await site.world.until(
        "tight",
        lambda seen: seen.get("hold", {}).get("reason") == "StagingSpaceTooSmall",
        120,
        "the agent says that it has too little memory",
    )

    assert "memory" in status["hold"]["message"]
    [pod] = await site.world.pods("tight")
    name = pod["metadata"]["name"]
    assert (await site.container(name, names.AGENT_CONTAINER))["restartCount"] == 0
    assert "PauseGeneration" not in (await engine_state(site.world, name))["calls"]
    await site.world.until_ready("tight", 1, 30)
