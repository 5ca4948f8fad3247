"""Watch that no serving pod is taken out while another one is out because of us."""

from dataclasses import dataclass
from typing import Any

from localcluster.api import Api
from localcluster.pod_status import is_ready
from localcluster.pod_watch import PodWatch
from weightrollout.api.names import GATE_SERVING

Json = dict[str, Any]


@dataclass(frozen=True)
class _Sight:
    serving: bool
    taken_out: bool  # its gate is shut


class BudgetWatch(PodWatch):
    """For a fleet of gated pods with maxUnavailable 1; use as an async context manager."""

    def __init__(self, api: Api, namespace: str, app: str) -> None:
        super().__init__(api, namespace, f"app={app}")
        self.breaches: list[str] = []
        self._pods: dict[str, _Sight] = {}

    def _look(self, pod: Json) -> None:
        name, now = pod["metadata"]["name"], _sight(pod)
        before = self._pods.get(name)
        self._pods[name] = now
        if before is None or not before.serving or not now.taken_out:
            return
        others = [each for each, sight in self._pods.items() if each != name and sight.taken_out]
        if others:
            self.breaches.append(f"{name} was serving and was taken out while {others} were out")

    def _gone(self, pod: Json) -> None:
        self._pods.pop(pod["metadata"]["name"], None)


def _sight(pod: Json) -> _Sight:
    status = pod.get("status") or {}
    gates = [each for each in status.get("conditions") or () if each["type"] == GATE_SERVING]
    return _Sight(is_ready(status), any(gate["status"] == "False" for gate in gates))
