"""One operator for all namespaces: fleets of the same name in two of them never meet."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_double import AgentDouble, served
from apifront import ApiFront, api_front
from clusterof import complete_cluster
from localcluster.waiting import eventually
from weightrollout.api.status import Phase
from weightrollout.controller.leader import Guard
from weightrollout.controller.term import Term
from weightrollout.controller.world import Cluster
from weightrollout.kube.client import EVERYWHERE
from weightrollout.kube.picture import Key
from weightrollout.rollout.actions import Action, Announce, Plan, PublishStable, PutIn
from weightrollout.rollout.fleet import Fleet, Ref

SOON = 5.0
REF = Ref("chat-1", "v1", "file:///m/", "sha256:" + "a" * 64)
BOTH = ("blue", "green")


def rollouts(namespace: str) -> str:
    return f"/apis/weightrollout.dev/v1alpha1/namespaces/{namespace}/weightrollouts"


def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


@dataclass
class Realm:
    """A leader of all namespaces, with a planner that writes down what it was shown."""

    front: ApiFront
    cluster: Cluster
    fleets: dict[str, Fleet] = field(default_factory=dict)  # the last one, by namespace
    actions: dict[str, tuple[Action, ...]] = field(default_factory=dict)

    def rollout(self, namespace: str, **spec: Any) -> dict[str, Any]:
        body = {
            "metadata": {"name": "chat", "generation": 1},
            "spec": {"weights": {"version": namespace, "uri": "file:///m/"}, **spec},
        }
        stored = self.front.put(rollouts(namespace), body)
        self.cluster.rollouts.learn(stored)
        return stored

    def pod(self, namespace: str, target: str = "127.0.0.1:1") -> str:
        """Its uid."""
        host, _, port = target.rpartition(":")
        agent = {
            "name": "weightrollout-agent",
            "ports": [{"name": "wr-grpc", "containerPort": int(port)}],
        }
        body = {
            "metadata": {"name": "chat-0", "labels": {"weightrollout.dev/name": "chat"}},
            "spec": {"containers": [agent]},
            "status": {"phase": "Running", "podIP": host},
        }
        stored = self.front.put(pods(namespace), body)
        self.cluster.pods.learn(stored)
        return str(stored["metadata"]["uid"])

    def plan(self, fleet: Fleet) -> Plan:
        self.fleets[fleet.namespace] = fleet
        changed = {"epoch": fleet.epoch, "phase": Phase.PROGRESSING, "message": fleet.namespace}
        status = fleet.status.model_copy(update=changed)
        return Plan(self.actions.pop(fleet.namespace, ()), status, None, fleet.memory)

    def status(self, namespace: str) -> dict[str, Any]:
        found: dict[str, Any] = self.front.objects[f"{rollouts(namespace)}/chat"].get("status", {})
        return found

    def written(self) -> set[str]:
        """Paths of all that was changed, but for the status of rollouts."""
        changes = {path for verb, path in self.front.requests if verb not in ("GET", "WATCH")}
        return {path for path in changes if not path.endswith("/weightrollouts/chat/status")}


@pytest.fixture
async def realm(tmp_path: Path) -> AsyncIterator[Realm]:
    async with api_front(tmp_path) as (front, client):
        yield Realm(front, complete_cluster(client.within(EVERYWHERE)))


@pytest.fixture
async def term(realm: Realm) -> AsyncIterator[Term]:
    for namespace in BOTH:
        realm.rollout(namespace)
    found = Term(realm.cluster, Guard(lambda: True, lambda why: None), realm.plan)
    yield found
    await found.end()


async def both_planned(realm: Realm) -> None:
    await eventually(lambda: set(realm.fleets) == set(BOTH), SOON, "both were planned")


async def test_each_fleet_is_planned_with_its_own_pods_alone(realm: Realm, term: Term) -> None:
    uids = {namespace: realm.pod(namespace) for namespace in BOTH}

    def seen() -> bool:
        shown = {name: [pod.uid for pod in fleet.pods] for name, fleet in realm.fleets.items()}
        return shown == {namespace: [uid] for namespace, uid in uids.items()}

    await eventually(seen, SOON, "each sees its own pod and no other")
    for namespace, fleet in realm.fleets.items():
        assert fleet.spec.weights is not None
        assert fleet.spec.weights.version == namespace


async def test_each_status_is_written_where_its_rollout_is(realm: Realm, term: Term) -> None:
    def told() -> bool:
        return all(realm.status(namespace).get("message") == namespace for namespace in BOTH)

    await eventually(told, SOON, "each is told its own")


async def test_what_is_done_for_one_fleet_is_written_in_its_namespace_alone(
    realm: Realm, term: Term
) -> None:
    async with served(AgentDouble()) as one, served(AgentDouble()) as two:
        uids = dict(zip(BOTH, (realm.pod("blue", one), realm.pod("green", two)), strict=True))
        await both_planned(realm)
        realm.actions["blue"] = (
            PutIn("chat-0", uids["blue"], "uid/chat-1/pod/1", 1, REF, "Committed", ""),
            PublishStable(REF, "Verified", ""),
        )
        term.wake_all()
        stable = "/api/v1/namespaces/blue/configmaps/chat.weightrollout"
        await eventually(lambda: stable in realm.front.objects, SOON, "it was published")
        await eventually(
            lambda: f"{pods('blue')}/chat-0/status" in realm.written(), SOON, "it was put in"
        )

        assert all("/namespaces/blue/" in path for path in realm.written())


async def test_event_is_posted_beside_the_object_it_is_about(realm: Realm, term: Term) -> None:
    await both_planned(realm)
    realm.actions["green"] = (Announce(False, "Started", "it begins"),)
    term.wake_all()
    await eventually(lambda: "green" not in realm.actions, SOON, "it was announced")
    await realm.cluster.events._write(realm.cluster.events._queue.get_nowait())

    ((path, found),) = [each for each in realm.front.objects.items() if "/events/" in each[0]]
    assert "/namespaces/green/" in path
    assert found["metadata"]["namespace"] == found["regarding"]["namespace"] == "green"


async def test_rollout_that_goes_takes_nothing_from_the_other_of_its_name(
    realm: Realm, term: Term
) -> None:
    double = AgentDouble()
    async with served(double) as target:
        realm.pod("green", target)
        await eventually(lambda: double.watchers, SOON, "the agent of the one that stays is heard")
        body = realm.front.objects[f"{rollouts('blue')}/chat"]
        realm.front.remove(f"{rollouts('blue')}/chat")
        realm.cluster.rollouts.forget(Key("blue", "chat"), body["metadata"]["uid"])
        sample = realm.cluster.metrics.registry.get_sample_value

        def series(namespace: str) -> float | None:
            labels = {"namespace": namespace, "rollout": "chat", "class": "selected"}
            return sample("weightrollout_pods", labels)

        await eventually(lambda: series("blue") is None, SOON, "its series are gone")
        assert series("green") is not None
        assert double.watchers


async def test_namespace_in_which_nothing_is_left_is_let_go_and_found_again(
    realm: Realm, term: Term
) -> None:
    await both_planned(realm)
    body = realm.front.objects[f"{rollouts('blue')}/chat"]
    realm.front.remove(f"{rollouts('blue')}/chat")
    realm.cluster.rollouts.forget(Key("blue", "chat"), body["metadata"]["uid"])
    await eventually(lambda: set(term._parts) == {"green"}, SOON, "only the other is left")
    realm.fleets.clear()

    realm.rollout("blue")
    await eventually(lambda: "blue" in realm.fleets, SOON, "it is planned again")


async def test_pod_without_a_rollout_is_an_orphan_though_another_namespace_has_one(
    realm: Realm, term: Term
) -> None:
    realm.pod("red")
    await eventually(lambda: realm.cluster.events._queue.qsize(), SOON, "somebody is told")

    event = realm.cluster.events._queue.get_nowait()
    assert event.regarding.namespace == "red"
    assert event.reason == "LabelPointsToNoRollout"
