"""Pods without a node: objects whose status we write as a kubelet would, from what agent and gate say."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any, Final, Self

from bench.scale.agents import HOST, SimulatedAgent, Times
from localcluster.api import Api, Mirror
from localcluster.pod_status import now_text
from localcluster.waiting import eventually
from weightrollout.api import names

STARTED: Final = "2026-11-29T10:00:00Z"
#: No scheduler of this name exists, and what belongs to no node no controller looks after.
NOBODY: Final = "nobody"
#: Probe period 1 s, three failures.
PATIENCE_S: Final = 3.0
AT_ONCE: Final = 8  # requests of ours
SYNCED_S: Final = 60.0

Json = dict[str, Any]


class Pods:
    """A fleet of `count` pods and their agents; use as an async context manager."""

    def __init__(self, api: Api, namespace: str, name: str, count: int) -> None:
        self.times = Times()
        self.agents = {
            agent.name: agent
            for agent in (
                SimulatedAgent(f"{name}-{index}", self.times, self._probe) for index in range(count)
            )
        }
        self._api = api
        self._fleet = name
        self._path = f"/api/v1/namespaces/{namespace}/pods"
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._gates: dict[str, bool] = {}  # as the pod's object says
        self._written: dict[str, bool] = {}  # Ready, as we wrote it
        self._looks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._ended = False
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        mirror = Mirror(
            self._api,
            self._path,
            on_set=self._seen,
            labelSelector=f"{names.LABEL_NAME}={self._fleet}",
        )
        await asyncio.gather(*(self._create(agent) for agent in self.agents.values()))
        watching = asyncio.create_task(mirror.run())
        self._stack.callback(watching.cancel)
        await eventually(mirror.synced.is_set, SYNCED_S, "the pods are watched")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ended = True
        await self._stack.aclose()
        await asyncio.gather(*self._looks.values(), return_exceptions=True)
        await asyncio.gather(*(agent.stop() for agent in self.agents.values()))

    def first_pause_after(self, begun: float) -> float | None:
        """time.monotonic() seconds; None: no engine was paused since."""
        paused = [agent.paused_at for agent in self.agents.values() if agent.paused_at > begun]
        return min(paused, default=None)

    def ready(self, name: str) -> bool:
        """As its object says: what sends requests to it."""
        return self._written.get(name, False)

    async def _create(self, agent: SimulatedAgent) -> None:
        async with self._slots:
            await agent.start()
            await self._api.create(self._path, _pod(agent, self._fleet))
            await self._write(agent.name, ready=False)

    def _seen(self, pod: Json) -> None:
        conditions = pod.get("status", {}).get("conditions", ())
        gate = any(
            each["type"] == names.GATE_SERVING and each["status"] == "True" for each in conditions
        )
        self._gates[pod["metadata"]["name"]] = gate
        self._probe(self.agents[pod["metadata"]["name"]])

    def _probe(self, agent: SimulatedAgent) -> None:
        """One look at a time for each pod; what happens meanwhile leads to another one."""
        self._again.add(agent.name)
        if agent.name not in self._looks and not self._ended:
            self._looks[agent.name] = asyncio.create_task(self._look(agent))

    async def _look(self, agent: SimulatedAgent) -> None:
        name = agent.name
        while name in self._again:
            self._again.discard(name)
            ready = self._is_ready(agent) and self._gates.get(name, False)
            if ready != self._written.get(name):
                async with self._slots:
                    await self._write(name, ready=ready)
        del self._looks[name]

    def _is_ready(self, agent: SimulatedAgent) -> bool:
        """By its readiness probe, which fails some times before that counts."""
        left_s = agent.unready_since + PATIENCE_S - time.monotonic()
        if agent.ready or left_s <= 0:
            return agent.ready
        asyncio.get_running_loop().call_later(left_s, self._probe, agent)
        return True

    async def _write(self, name: str, *, ready: bool) -> None:
        """By server-side apply: the operator's condition stays as it is."""
        conditions = [_condition("Ready", ready), _condition("ContainersReady", ready)]
        body: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
        body["status"] = {**_running(name), "conditions": conditions}
        self._written[name] = ready
        path = f"{self._path}/{name}/status"
        await self._api.patch(path, body, "apply", fieldManager="kubelet", force="true")


def _pod(agent: SimulatedAgent, fleet: str) -> Json:
    port = {"name": names.PORT_GRPC, "containerPort": agent.port}
    sidecar = {"name": names.AGENT_CONTAINER, "image": "agent", "ports": [port]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": agent.name, "labels": {names.LABEL_NAME: fleet}},
        "spec": {
            "schedulerName": NOBODY,
            "automountServiceAccountToken": False,
            "readinessGates": [{"conditionType": names.GATE_SERVING}],
            "initContainers": [{**sidecar, "restartPolicy": "Always"}],
            "containers": [{"name": "engine", "image": "engine"}],
        },
    }


def _running(name: str) -> Json:
    sidecar = {
        "name": names.AGENT_CONTAINER,
        "containerID": f"containerd://{name}",
        **{"image": "agent", "imageID": "", "ready": True, "restartCount": 0, "started": True},
        "state": {"running": {"startedAt": STARTED}},
    }
    return {
        "phase": "Running",
        "podIP": HOST,
        "podIPs": [{"ip": HOST}],
        "initContainerStatuses": [sidecar],
    }


def _condition(kind: str, true: bool) -> Json:
    status = "True" if true else "False"
    return {"type": kind, "status": status, "lastTransitionTime": now_text(datetime.now(UTC))}
