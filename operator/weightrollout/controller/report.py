"""One status write per pass, and only when what we would send has changed.

Phase, hold, conditions and references are written at once, counters, failures and messages at most once a
second per rollout: with 5,000 pods every pod event changes a counter, in an outage the newest failures are
others in every pass, and every write reaches every watcher.
"Changed" is judged against what we sent last, not against what was read back.
"""

from dataclasses import dataclass
from typing import Final

from weightrollout.api.status import PodCounts, StagingStatus, WeightRolloutStatus
from weightrollout.controller.leader import Guard
from weightrollout.controller.world import World
from weightrollout.kube.client import Json
from weightrollout.metrics import PODS, STAGED_BYTES, STAGING_RATE, STATUS_WRITES

COUNTERS_S: Final = 1.0

#: What waits for its turn. Everything else is written at once.
COUNTERS: Final = frozenset(
    {"updated", "pods", "staging", "versions", "pauseMillis", "failures", "message"}
)


@dataclass(frozen=True, slots=True)
class _Sent:
    uid: str
    status: Json
    at: float


class Reporter:
    """The status writes of one term."""

    def __init__(self, world: World, guard: Guard) -> None:
        self._world = world
        self._guard = guard
        self._sent: dict[str, _Sent] = {}
        self._measured: set[str] = set()

    async def report(self, body: Json, status: WeightRolloutStatus) -> float | None:
        """None: all is written. Else when the counters may be. Raises Conflict when `body` is old."""
        name, uid = body["metadata"]["name"], body["metadata"]["uid"]
        self._measure(name, status)
        wanted = status.model_dump(mode="json", by_alias=True, exclude_none=True)
        sent, read = self._last(name, uid), body.get("status") or {}
        now = self._world.clock.monotonic()
        if sent is None:
            # First pass of this term, or a new object: an earlier leader may have written just this.
            sent = _Sent(uid, read, now - COUNTERS_S)
        lost = read.get("epoch") != wanted.get("epoch")  # somebody replaced the object
        if wanted == sent.status and not lost:
            self._sent[name] = sent
            return None
        due = sent.at + COUNTERS_S
        if not lost and _urgent(wanted) == _urgent(sent.status) and now < due:
            return due
        self._guard()
        await self._world.rollouts.write_status(body, wanted)
        self._sent[name] = _Sent(uid, wanted, now)
        self._world.metrics.counter(STATUS_WRITES).labels(self._world.namespace, name).inc()
        return None

    def forget(self, name: str) -> None:
        self._sent.pop(name, None)
        if name in self._measured:
            self._measured.remove(name)
            for row in (STAGED_BYTES, STAGING_RATE):
                self._world.metrics.gauge(row).remove(self._world.namespace, name)
            for key in PodCounts.model_fields:
                self._world.metrics.gauge(PODS).remove(self._world.namespace, name, key)

    def _last(self, name: str, uid: str) -> _Sent | None:
        sent = self._sent.get(name)
        return sent if sent is not None and sent.uid == uid else None

    def _measure(self, name: str, status: WeightRolloutStatus) -> None:
        self._measured.add(name)
        pods = self._world.metrics.gauge(PODS)
        for key, value in status.pods.model_dump().items():
            pods.labels(self._world.namespace, name, key).set(value)
        staged = status.staging or StagingStatus(bytes=0, total=0, pods=0)
        for row, value in ((STAGED_BYTES, staged.bytes), (STAGING_RATE, staged.bytes_per_second)):
            self._world.metrics.gauge(row).labels(self._world.namespace, name).set(value)


def _urgent(status: Json) -> Json:
    """What a person or a gate waits for. Messages carry numbers, so they count as counters."""
    urgent = {key: value for key, value in status.items() if key not in COUNTERS}
    hold = urgent.get("hold")
    if hold is not None:
        urgent["hold"] = (hold["gate"], hold["reason"])
    urgent["conditions"] = [
        (each["type"], each["status"], each["reason"], each["observedGeneration"])
        for each in status.get("conditions", ())
    ]
    return urgent
