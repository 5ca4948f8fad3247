"""What we keep in the cluster is wiped, edited or deleted under a fleet that serves: it comes back, and no pod moves."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import pytest

from fleet.manifests import FleetSpec, weight_rollout
from fleet.operator_process import OperatorProcess
from fleet.standing import Standing, standings
from fleet.world import World
from localcluster.api import ApiError
from localcluster.virtual_node import VirtualNode
from localcluster.waiting import eventually
from weightrollout.api import names

pytestmark = pytest.mark.faults

Json = dict[str, Any]
SOON_S: Final = 30.0
DONE_S: Final = 90.0
ARITHMETIC: Final = [{"prompt": "2+2=", "maxTokens": 4, "expect": {"contains": "4"}}]


@dataclass
class Scene:
    """Two pods that serve checkpoint b by a verified rollout."""

    world: World
    written: dict[str, Any]
    turn: "count[int]"
    good: Json  # spec.weights of what is stable

    async def standings(self) -> dict[str, Standing]:
        return await standings(await self.world.pods("chat"))

    async def declare(self, weights: Json, **spec: Any) -> None:
        await self.world.apply(weight_rollout("chat", weights, swap={"settleSeconds": 0}, **spec))

    def bad_weights(self) -> Json:
        """Of the same architecture, and with answers that fail the prompts."""
        return {"version": f"wrong-{next(self.turn)}", "uri": self.written["wrong"].uri}

    async def delete_rollout(self, propagation: str = "Background") -> None:
        options = {"propagationPolicy": propagation}
        await self.world.api.delete(f"{self._rollouts}/chat", options)

    async def has_no_rollout(self) -> bool:
        try:
            await self.world.rollout("chat")
        except ApiError as error:
            return error.status == 404
        return False

    async def complete(self) -> Json:
        return await self.world.until_phase("chat", "Complete", DONE_S)

    async def revisions(self) -> list[Json]:
        path = f"/apis/apps/v1/namespaces/{self.world.namespace}/controllerrevisions"
        found, _ = await self.world.api.list(path, labelSelector=f"{names.LABEL_NAME}=chat")
        # The StatefulSet's own history carries its pods' labels, and so ours.
        return [each for each in found if "weights" in each["data"]]

    async def delete_revisions(self) -> None:
        path = f"/apis/apps/v1/namespaces/{self.world.namespace}/controllerrevisions"
        for each in await self.revisions():
            await self.world.api.delete(f"{path}/{each['metadata']['name']}")

    async def wipe_status(self) -> None:
        await self.world.api.patch(f"{self._rollouts}/chat/status", {"status": None}, kind="merge")

    async def stable(self) -> Json:
        """What the fleet's ConfigMap says. LookupError or AssertionError where it says nothing."""
        try:
            found = await self.world.api.get(self.stable_path)
        except ApiError as error:
            raise AssertionError(str(error)) from error
        try:
            said: Json = json.loads(found["data"][names.STABLE_KEY])
        except ValueError as error:
            raise AssertionError(found["data"]) from error
        return said

    @property
    def stable_path(self) -> str:
        name = names.stable_configmap("chat")
        return f"/api/v1/namespaces/{self.world.namespace}/configmaps/{name}"

    @property
    def _rollouts(self) -> str:
        return f"/apis/{names.API_VERSION}/namespaces/{self.world.namespace}/{names.PLURAL}"

    @asynccontextmanager
    async def untouched(self) -> AsyncIterator[None]:
        """No pod is moved, restarted or even unready for a moment by what happens in the block."""
        before = await self.standings()
        yield
        assert await self.standings() == before


@pytest.fixture(scope="module")
async def scene(
    world: World, machine: VirtualNode, operator: OperatorProcess, written: dict[str, Any]
) -> Scene:
    spec = FleetSpec(
        "chat", written["a"].folder, replicas=2, gated=True, node_selector=machine.selector
    )
    await world.deploy(spec)
    await world.until_ready("chat", 2, 60)
    found = Scene(world, written, count(), {"version": "good", "uri": written["b"].uri})
    await found.declare(found.good)
    await found.complete()
    await eventually(lambda: found.stable(), SOON_S, "stable is published")
    return found


async def test_status_that_was_wiped_says_the_same_again(scene: Scene) -> None:
    before = await scene.world.status("chat")
    async with scene.untouched():
        await scene.wipe_status()
        status = await scene.complete()
    kept = ("phase", "updated", "desired", "target", "stable", "pods", "versions", "epoch")
    assert {key: status[key] for key in kept} == {key: before[key] for key in kept}


async def test_stable_that_was_deleted_is_published_again(scene: Scene) -> None:
    before = await scene.stable()
    async with scene.untouched():
        await scene.world.api.delete(scene.stable_path)
        await eventually(lambda: _says(scene, before), SOON_S, "it is published again")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({names.STABLE_KEY: "{"}, id="torn"),
        pytest.param({names.STABLE_KEY: None}, id="emptied"),
        pytest.param(
            {
                names.STABLE_KEY: json.dumps(
                    {
                        "schema": 1,
                        "owner": "x",
                        "epoch": 1,
                        "revision": "chat-0123456789",
                        "version": "evil",
                        "uri": "file:///evil/",
                        "digest": "sha256:" + "0" * 64,
                    }
                )
            },
            id="other-weights",
        ),
    ],
)
async def test_stable_that_was_edited_by_hand_is_written_again(scene: Scene, data: Json) -> None:
    before = await scene.stable()
    async with scene.untouched():
        await scene.world.api.patch(scene.stable_path, {"data": data}, kind="merge")
        await eventually(lambda: _says(scene, before), SOON_S, "it says stable again")


async def test_stable_that_lost_its_labels_is_found_again(scene: Scene) -> None:
    """Without them it is in none of our watches, and with them it is in ours again."""
    before = await scene.stable()
    async with scene.untouched():
        await scene.world.api.patch(scene.stable_path, {"metadata": {"labels": None}}, kind="merge")

        async def labelled() -> bool:
            found = await scene.world.api.get(scene.stable_path)
            return names.LABEL_NAME in found["metadata"].get("labels", {})

        await eventually(labelled, SOON_S, "the labels are back")
        spoilt = {"data": {names.STABLE_KEY: "{"}}
        await scene.world.api.patch(scene.stable_path, spoilt, kind="merge")
        await eventually(lambda: _says(scene, before), SOON_S, "it says stable again")


async def _says(scene: Scene, wanted: Json) -> bool:
    return {**await scene.stable(), "epoch": 0} == {**wanted, "epoch": 0}


async def test_history_that_was_deleted_is_written_again_and_no_pod_moves(scene: Scene) -> None:
    before = await scene.world.status("chat")
    async with scene.untouched():
        await scene.delete_revisions()

        async def verified() -> bool:
            verdicts = [
                each["metadata"].get("annotations", {}).get(names.ANNOTATION_VERDICT)
                for each in await scene.revisions()
            ]
            return verdicts == ["Verified"]

        await eventually(verified, SOON_S, "the history has what the fleet serves")
        status = await scene.complete()
    assert status["stable"] == before["stable"]


async def test_pod_facts_that_somebody_else_wrote_are_corrected(scene: Scene) -> None:
    async with scene.untouched():
        pod = (await scene.world.pods("chat"))[0]
        path = f"/api/v1/namespaces/{scene.world.namespace}/pods/{pod['metadata']['name']}"
        notes = {names.ANNOTATION_SWAP: '{"txn": "a/b/c/99999999999"}'}
        metadata = {"labels": {names.LABEL_VERSION: "other"}, "annotations": notes}
        wanted = (await scene.standings())[pod["metadata"]["name"]]
        await scene.world.api.patch(path, {"metadata": metadata}, kind="merge")

        async def corrected() -> bool:
            now = (await scene.standings())[pod["metadata"]["name"]]
            return (now.version_label, now.swap_note) == (wanted.version_label, wanted.swap_note)

        await eventually(corrected, SOON_S, "label and note are ours again")


async def test_gate_that_somebody_else_closed_is_opened_again(scene: Scene) -> None:
    pod = (await scene.world.pods("chat"))[1]
    name = pod["metadata"]["name"]
    path = f"/api/v1/namespaces/{scene.world.namespace}/pods/{name}/status"
    closed = {"type": names.GATE_SERVING, "status": "False", "reason": "Mine"}
    before = (await scene.standings())[name]
    await scene.world.api.patch(path, {"status": {"conditions": [closed]}}, kind="strategic")

    async def open_again() -> bool:
        now = (await scene.standings())[name]
        return (now.gate, now.ready, now.updates) == ("True", "True", before.updates)

    await eventually(open_again, SOON_S, "it serves again")


async def test_rollout_deleted_and_created_again_moves_no_pod_that_serves_it(scene: Scene) -> None:
    old = await scene.world.rollout("chat")
    before = await scene.standings()
    await scene.delete_rollout()
    await scene.declare(scene.good)
    status = await scene.complete()
    after = await scene.standings()
    assert {pod: (each.updates, each.ready_since) for pod, each in after.items()} == {
        pod: (each.updates, each.ready_since) for pod, each in before.items()
    }
    assert status["stable"]["version"] == "good"
    uid = (await scene.world.rollout("chat"))["metadata"]["uid"]
    assert uid != old["metadata"]["uid"]

    async def owned() -> bool:
        owners = [each["metadata"]["ownerReferences"][0]["uid"] for each in await scene.revisions()]
        assert owners == [uid]
        return True

    await eventually(owned, SOON_S, "the history is the new one's")
    await eventually(lambda: _owner_is(scene, uid), SOON_S, "stable is the new one's")


async def test_rollout_deleted_alone_and_created_again_owns_the_history_that_was_left_behind(
    scene: Scene,
) -> None:
    history, pods = [_told(each) for each in await scene.revisions()], await scene.standings()
    assert history
    await scene.delete_rollout("Orphan")

    async def left_behind() -> bool:
        owners = [each["metadata"].get("ownerReferences") for each in await scene.revisions()]
        return await scene.has_no_rollout() and not any(owners)

    await eventually(left_behind, SOON_S, "nobody owns the history")
    await scene.declare(scene.good)
    await scene.complete()
    uid = (await scene.world.rollout("chat"))["metadata"]["uid"]

    async def owned() -> bool:
        owners = [each["metadata"].get("ownerReferences") for each in await scene.revisions()]
        return [each[0]["uid"] for each in owners if each] == [uid] * len(history)

    await eventually(owned, SOON_S, "the history is the new one's")
    assert [_told(each) for each in await scene.revisions()] == history
    after = await scene.standings()
    assert {pod: each.updates for pod, each in after.items()} == {
        pod: each.updates for pod, each in pods.items()
    }


def _told(revision: Json) -> Json:
    """All that a revision says, but for its owner."""
    metadata = revision["metadata"]
    return {
        "uid": metadata["uid"],
        "annotations": metadata.get("annotations"),
        "revision": revision["revision"],
        "data": revision["data"],
    }


async def _owner_is(scene: Scene, uid: str) -> bool:
    return bool((await scene.stable())["owner"] == uid)


async def test_bad_weights_after_the_history_was_lost_lead_back_to_stable_not_to_the_baseline(
    scene: Scene,
) -> None:
    before = await scene.standings()
    await scene.delete_revisions()
    await scene.declare(scene.bad_weights(), verify={"prompts": ARITHMETIC})
    await _led_back(scene, before)


async def test_bad_weights_in_a_rollout_created_anew_lead_back_to_what_the_fleet_served(
    scene: Scene,
) -> None:
    before = await scene.standings()
    await scene.delete_rollout()
    await scene.declare(scene.bad_weights(), verify={"prompts": ARITHMETIC})
    await _led_back(scene, before)


async def _led_back(scene: Scene, before: dict[str, Standing]) -> None:
    status = await scene.world.until_phase("chat", "RolledBack", DONE_S)
    after = await scene.standings()
    assert {each.fingerprint for each in after.values()} == {scene.written["b"].fingerprint}
    assert {pod: each.instance for pod, each in after.items()} == {
        pod: each.instance for pod, each in before.items()
    }
    assert status["stable"]["version"] == "good"
    await scene.declare(scene.good)
    await scene.complete()


async def test_swap_note_with_an_absurd_attempt_does_not_stop_the_next_rollout(
    scene: Scene,
) -> None:
    """It is corrected only where the agent remembers a swap; a note alone is never believed."""
    for pod in await scene.world.pods("chat"):
        path = f"/api/v1/namespaces/{scene.world.namespace}/pods/{pod['metadata']['name']}"
        note = json.dumps({"txn": f"a/b/{pod['metadata']['uid']}/{'9' * 5000}"})
        patch = {"metadata": {"annotations": {names.ANNOTATION_SWAP: note}}}
        await scene.world.api.patch(path, patch, kind="merge")
    await scene.declare({"version": "next", "uri": scene.written["c"].uri})
    await scene.complete()
