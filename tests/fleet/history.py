"""A rollout's history as after many versions, without rolling them."""

from typing import Any, Final

from fleet.world import World
from weightrollout.api import names
from weightrollout.api.spec import WeightRolloutSpec

Json = dict[str, Any]
HISTORY: Final = WeightRolloutSpec().revision_history_limit


async def fill_history(world: World, name: str) -> None:
    """As many versions as are kept: from now on each new one makes the operator forget an old one."""
    owner = await world.rollout(name)
    for number in range(HISTORY):
        await world.apply(_old(owner, number))


def _old(owner: Json, number: int) -> Json:
    metadata = owner["metadata"]
    reference = {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{metadata['name']}-old-{number}",
            "labels": {names.LABEL_NAME: metadata["name"]},
            "ownerReferences": [reference],
        },
        "data": {"schema": 1, "weights": {"version": f"old-{number}", "uri": "file:///old/"}},
        "revision": 1,
    }
