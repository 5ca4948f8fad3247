"""Watch that no serving pod is taken out while another one is out because of us."""

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from localcluster.api import Api, Mirror
from localcluster.pod_status import is_ready
from weightrollout.api.names import GATE_SERVING

Json = dict[str, Any]


@dataclass(frozen=True)
class _Sight:
    serving: bool
    taken_out: bool  # its gate is shut


class BudgetWatch:
    """For a fleet of gated pods with maxUnavailable 1; use as an async context manager."""

    def __init__(self, api: Api, namespace: str, app: str) -> None:
        self.breaches: list[str] = []
        self._pods: dict[str, _Sight] = {}
        path = f"/api/v1/namespaces/{namespace}/pods"
        self._mirror = Mirror(api, path, self._look, labelSelector=f"app={app}")
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._watch = asyncio.create_task(self._mirror.run(), name="budget watch")
        await self._mirror.synced.wait()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})

    def _look(self, pod: Json) -> None:
        name, now = pod["metadata"]["name"], _sight(pod)
        before = self._pods.get(name)
        self._pods[name] = now
        if before is None or not before.serving or not now.taken_out:
            return
        others = [each for each, sight in self._pods.items() if each != name and sight.taken_out]
        if others:
            self.breaches.append(f"{name} was serving and was taken out while {others} were out")


def _sight(pod: Json) -> _Sight:
    status = pod.get("status") or {}
    gates = [each for each in status.get("conditions") or () if each["type"] == GATE_SERVING]
    return _Sight(is_ready(status), any(gate["status"] == "False" for gate in gates))
