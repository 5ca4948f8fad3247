"""A world over a small API server, with pictures that a test fills itself."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apifront import ApiFront, api_front
from issuing import Issuer
from laterclock import LaterClock
from weightrollout.api.names import OPERATOR_ACCOUNT
from weightrollout.clock import SystemClock
from weightrollout.controller.agent_access import AgentAccess
from weightrollout.controller.agent_tokens import Tokens
from weightrollout.controller.world import Cluster, World
from weightrollout.kube.client import Client
from weightrollout.kube.configmaps import stable_source
from weightrollout.kube.events import Events
from weightrollout.kube.pods import MEMBERS, STRAYS, pod_source
from weightrollout.kube.podwrites import PodWriter
from weightrollout.kube.revisions import revision_source
from weightrollout.kube.rollouts import Rollouts
from weightrollout.kube.store import Store
from weightrollout.metrics import Door, Metrics

PODS = "/api/v1/namespaces/ns/pods"
ROLLOUTS = "/apis/weightrollout.dev/v1alpha1/namespaces/ns/weightrollouts"
WEIGHTS = {"version": "v1", "uri": "file:///m/"}


@dataclass
class Ground:
    """`cluster` as the operator has it, `front` as the API server has it; `world` is its one namespace."""

    front: ApiFront
    cluster: Cluster

    @property
    def world(self) -> World:
        return self.cluster.within("ns")

    def rollout(self, name: str = "chat", **spec: Any) -> dict[str, Any]:
        """Create or change one; known to both."""
        known = self.front.objects.get(f"{ROLLOUTS}/{name}", {})
        body = {
            "metadata": {"name": name, "namespace": "ns", "generation": 1},
            "spec": {"weights": WEIGHTS, **spec},
            "status": known.get("status", {}),
        }
        stored = self.front.put(ROLLOUTS, body)
        self.cluster.rollouts.learn(stored)
        return stored

    def pod(self, name: str, target: str = "", **labels: str) -> dict[str, Any]:
        """A running pod of "chat"; its agent listens on `target`."""
        host, _, port = (target or "127.0.0.1:1").rpartition(":")
        agent = {
            "name": "weightrollout-agent",
            "ports": [{"name": "wr-grpc", "containerPort": int(port)}],
        }
        body = {
            "metadata": {"name": name, "labels": {"weightrollout.dev/name": "chat", **labels}},
            "spec": {"containers": [agent]},
            "status": {"phase": "Running", "podIP": host},
        }
        stored = self.front.put(PODS, body)
        self.world.pods.learn(stored)
        return stored

    def status(self, name: str = "chat") -> dict[str, Any]:
        """As the API server has it."""
        found: dict[str, Any] = self.front.objects[f"{ROLLOUTS}/{name}"].get("status", {})
        return found

    def status_writes(self) -> int:
        return sum(
            path.endswith("/status") and "weightrollouts" in path for _, path in self.front.requests
        )


def make_cluster(client: Client) -> Cluster:
    """`client` may be one for all namespaces."""
    clock = SystemClock()
    return Cluster(
        client=client,
        clock=clock,
        metrics=Metrics(Door.OPERATOR),
        rollouts=Rollouts(client),
        pods=Store(client, pod_source(client, "pods", MEMBERS)),
        strays=Store(client, pod_source(client, "strays", STRAYS)),
        revisions=Store(client, revision_source(client)),
        stables=Store(client, stable_source(client)),
        pod_writer=PodWriter(client, clock),
        events=Events(client, clock, "test", lambda reason: None),
        access=AgentAccess(),
    )


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with api_front(tmp_path) as (front, client):
        cluster = make_cluster(client)
        cluster.rollouts.complete = True
        for store in cluster.stores:
            store.synced.set()
        yield Ground(front, cluster)


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


@pytest.fixture
async def front(tmp_path: Path, issuer: Issuer) -> AsyncIterator[tuple[ApiFront, Client]]:
    async with api_front(tmp_path) as (found, client):
        found.issue = issuer.issue
        yield found, client


@pytest.fixture
async def tokens(front: tuple[ApiFront, Client], clock: LaterClock) -> AsyncIterator[Tokens]:
    found = Tokens(front[1], OPERATOR_ACCOUNT, clock)
    yield found
    await found.close()
