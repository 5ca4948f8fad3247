"""A world over a small API server, with pictures that a test fills itself."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from apifront import ApiFront, api_front
from clusterof import complete_cluster
from issuing import Issuer
from laterclock import LaterClock
from weightrollout.api.names import OPERATOR_ACCOUNT
from weightrollout.controller.agent_tokens import Tokens
from weightrollout.controller.world import Cluster, World
from weightrollout.kube.client import Client

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


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    async with api_front(tmp_path) as (front, client):
        yield Ground(front, complete_cluster(client))


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
