"""A canary on the real API server: it stops where its steps say, and people steer it by one annotation."""

from typing import Any, Final

import pytest

from fleet.manifests import FleetSpec, weight_rollout
from fleet.world import World
from weightrollout.api import names

pytestmark = pytest.mark.usefixtures("fleet")

STEPS: Final = [{"updated": 1}, {"pause": {}}]
SOON: Final = 60.0


async def _publish(world: World, written: dict[str, Any], version: str) -> dict[str, Any]:
    """Up to the first pause."""
    weights = {"version": version, "uri": written[version].uri}
    policy = {"strategy": {"steps": STEPS}, "swap": {"takeOut": "None", "drainSeconds": 0}}
    await world.apply(weight_rollout("chat", weights, **policy))
    return await world.until(
        "chat",
        lambda status: status["phase"] == "Paused" and status["desired"]["version"] == version,
        SOON,
        f"the canary of {version} waits for a person",
    )


async def _ask(world: World, text: str) -> dict[str, Any]:
    """Write the slot, and the answer to just this text."""
    path = f"/apis/{names.API_VERSION}/namespaces/{world.namespace}/{names.PLURAL}/chat"
    slot = {"metadata": {"annotations": {names.ANNOTATION_ACTION: text}}}
    await world.api.patch(path, slot, "merge")
    status = await world.until(
        "chat",
        lambda status: status.get("lastAction", {}).get("id") == text,
        SOON,
        f"{text} is answered",
    )
    answer: dict[str, Any] = status["lastAction"]
    return answer


async def _versions(world: World) -> list[str]:
    """Of each pod, proven. With takeOut None labels come later."""
    found = (await world.status("chat"))["versions"]
    return sorted(each["version"] for each in found for _ in range(each["pods"]))


async def test_fleet_stands_at_the_pause_and_a_promote_finishes_it(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    status = await _publish(world, written, "b")
    assert status["updated"] == "1/2"
    assert (status["step"]["index"], status["step"]["of"]) == (1, 2)
    assert status["hold"]["reason"] == "StepPaused"
    assert "kubectl weightrollout promote chat" in status["message"]
    assert await _versions(world) == ["b", "default"]

    answer = await _ask(world, f"promote:{status['target']['revision']}:1@one")
    assert answer["outcome"] == "Accepted"
    await world.until_phase("chat", "Complete", SOON)
    assert await _versions(world) == ["b", "b"]


async def test_abort_goes_back_with_the_spec_untouched_and_retry_begins_again(
    world: World, fleet: FleetSpec, written: dict[str, Any]
) -> None:
    status = await _publish(world, written, "c")
    revision = status["target"]["revision"]
    before = (await world.rollout("chat"))["spec"]

    stale = await _ask(world, f"promote:{revision}:0@late")
    assert stale["outcome"] == "Stale"
    assert (await _ask(world, f"abort:{revision}@two"))["outcome"] == "Accepted"
    status = await world.until_phase("chat", "RolledBack", SOON)
    assert (await world.rollout("chat"))["spec"] == before
    assert status["target"]["version"] == "b"
    stalled = next(each for each in status["conditions"] if each["type"] == "Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "Aborted")
    assert await _versions(world) == ["b", "b"]

    assert (await _ask(world, f"retry:{revision}@three"))["outcome"] == "Accepted"
    status = await world.until_phase("chat", "Paused", SOON)
    assert status["updated"] == "1/2"
    assert (await _ask(world, f"promote:{revision}:full@four"))["outcome"] == "Accepted"
    await world.until_phase("chat", "Complete", SOON)
    assert await _versions(world) == ["c", "c"]


async def test_abort_after_complete_is_an_undo_that_a_new_operator_keeps(
    world: World, fleet: FleetSpec, written: dict[str, Any], operator: Any
) -> None:
    status = await world.until_phase("chat", "Complete", SOON)
    assert (await _ask(world, f"abort:{status['target']['revision']}@five"))[
        "outcome"
    ] == "Accepted"
    await world.until_phase("chat", "RolledBack", SOON)
    epoch = (await world.status("chat"))["epoch"]

    await operator.stop()
    operator.start()
    await world.until("chat", lambda status: status["epoch"] > epoch, SOON, "a new leader reports")
    status = await world.until_phase("chat", "RolledBack", SOON)
    assert status["lastAction"]["id"].endswith("@five")
    assert await _versions(world) == ["b", "b"]
