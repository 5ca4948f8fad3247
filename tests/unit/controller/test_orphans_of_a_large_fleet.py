"""A round of orphans takes long where there are many, and the world goes on meanwhile."""

import asyncio
from pathlib import Path

import pytest

from apifront import api_front
from clusterof import complete_cluster
from weightrollout.controller.leader import Guard
from weightrollout.controller.orphans import Orphans
from weightrollout.kube.client import EVERYWHERE

PODS = "/api/v1/namespaces/blue/pods"
ROLLOUTS = "/apis/weightrollout.dev/v1alpha1/namespaces/blue/weightrollouts"
GATED = {
    "metadata": {"name": "chat-0", "labels": {"weightrollout.dev/name": "chat"}},
    "spec": {
        "readinessGates": [{"conditionType": "weightrollout.dev/Serving"}],
        "containers": [{"name": "engine"}],
    },
    "status": {"phase": "Running", "podIP": "127.0.0.1"},
}


class Busy(asyncio.Semaphore):
    """All slots are taken by other pods."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked = asyncio.Event()

    async def acquire(self) -> bool:  # type: ignore[override]
        self.asked.set()
        return await super().acquire()


@pytest.mark.parametrize("comes", [False, True])
async def test_pod_whose_rollout_comes_while_it_waits_for_its_visit_is_left_to_it(
    tmp_path: Path, comes: bool
) -> None:
    """Its gate would be opened as nobody's, in the middle of its swap."""
    async with api_front(tmp_path) as (front, client):
        cluster = complete_cluster(client.within(EVERYWHERE))
        cluster.pods.learn(front.put(PODS, GATED))
        slots = Busy()
        orphans = Orphans(cluster.within("blue"), Guard(lambda: True, lambda why: None), slots)
        visits = asyncio.create_task(orphans.run_pass())
        await slots.asked.wait()
        if comes:
            body = {"metadata": {"name": "chat", "generation": 1}, "spec": {}}
            cluster.rollouts.learn(front.put(ROLLOUTS, body))
        slots.release()
        await visits
        written = [path for verb, path in front.requests if verb == "PATCH"]
        assert written == ([] if comes else [f"{PODS}/chat-0/status"])
