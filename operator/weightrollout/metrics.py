"""Every metric that is exported: name, unit, help and labels in one table.

Promise: one row per metric, nothing is registered by importing this module, and nothing here knows who
measures. Seconds and bytes are the only units of time and size. `namespace` and `rollout` are
the WeightRollout's: a scrape must keep them (honorLabels), since the operator's own may be another.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PREFIX: Final = "weightrollout"
PAUSE_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
PASS_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Kind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Door(StrEnum):
    OPERATOR = "operator"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Row:
    name: str  # without the prefix, with the unit as its end
    door: Door
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


PODS: Final = Row(
    "pods",
    Door.OPERATOR,
    Kind.GAUGE,
    "Pods of the fleet, by the counts of status.pods.",
    ("namespace", "rollout", "class"),
)
STAGED_BYTES: Final = Row(
    "staging_bytes",
    Door.OPERATOR,
    Kind.GAUGE,
    "Read and hashed so far by the pods that stage now.",
    ("namespace", "rollout"),
)
STAGING_RATE: Final = Row(
    "staging_bytes_per_second",
    Door.OPERATOR,
    Kind.GAUGE,
    "Read from the weights' source by the pods that stage now, over the last seconds.",
    ("namespace", "rollout"),
)
SWAP_PAUSE: Final = Row(
    "swap_pause_seconds",
    Door.OPERATOR,
    Kind.HISTOGRAM,
    "Pause sent to Resume answered, of swaps that paused.",
    ("namespace", "rollout"),
    PAUSE_BUCKETS,
)
SWAPS: Final = Row(
    "swaps_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Ended swaps; class and reason are empty when they went well, draft included.",
    ("namespace", "rollout", "outcome", "class", "reason"),
)
ACTIONS: Final = Row(
    "actions_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Ended actions of the operator; reason is empty when they went well.",
    ("action", "reason"),
)
PASSES: Final = Row(
    "pass_seconds",
    Door.OPERATOR,
    Kind.HISTOGRAM,
    "One pass: observe, plan, start actions, report.",
    (),
    PASS_BUCKETS,
)
PASS_ERRORS: Final = Row(
    "pass_errors_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Passes that ended with an error and are repeated.",
    ("reason",),
)
QUEUE_DEPTH: Final = Row(
    "queue_depth", Door.OPERATOR, Kind.GAUGE, "Rollouts that were woken and wait for their pass."
)
LOOP_LAG: Final = Row(
    "loop_lag_seconds",
    Door.OPERATOR,
    Kind.GAUGE,
    "How late the event loop woke a timer, last measured.",
)
LEADER: Final = Row("leader", Door.OPERATOR, Kind.GAUGE, "1 in the replica that leads.")
API_REQUESTS: Final = Row(
    "api_requests_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Requests to the API server; code 0: no answer; 403-ending: refused since the namespace is deleted.",
    ("verb", "code"),
)
STATUS_WRITES: Final = Row(
    "status_writes_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Writes of a WeightRollout's status.",
    ("namespace", "rollout"),
)
WATCH_STARTS: Final = Row(
    "watch_starts_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Watches opened by the own list+watch loops.",
    ("store",),
)
EVENTS_DROPPED: Final = Row(
    "events_dropped_total",
    Door.OPERATOR,
    Kind.COUNTER,
    "Kubernetes Events that were not posted.",
    ("reason",),
)

ENGINE_INFO: Final = Row(
    "engine_info",
    Door.AGENT,
    Kind.GAUGE,
    "1 for what this engine is proven to hold; for joins.",
    ("version", "digest", "instance"),
)
AGENT_INFO: Final = Row(
    "agent_info",
    Door.AGENT,
    Kind.GAUGE,
    "1; releases of this agent, of the plugin in its engine, and of the engine: who still runs what.",
    ("release", "plugin", "vllm"),
)
AGENT_READY: Final = Row(
    "agent_ready", Door.AGENT, Kind.GAUGE, "1 while the readiness port answers 200."
)
AGENT_ALONE: Final = Row(
    "agent_alone", Door.AGENT, Kind.GAUGE, "1 while no operator has spoken for too long."
)
AGENT_ALONE_STEPS: Final = Row(
    "agent_alone_steps_total",
    Door.AGENT,
    Kind.COUNTER,
    "Ended steps that the agent took without an operator; reason is empty when they went well.",
    ("step", "reason"),
)
AGENT_TRAINER_GUARD: Final = Row(
    "agent_trainer_guard",
    Door.AGENT,
    Kind.GAUGE,
    "1 for what the RL routes ask of a trainer now, as spec.guard has it; none where they are shut.",
    ("guard",),
)
AGENT_PHASE_SECONDS: Final = Row(
    "agent_swap_phase_seconds",
    Door.AGENT,
    Kind.HISTOGRAM,
    "Time in each phase of a swap.",
    ("phase",),
    PAUSE_BUCKETS,
)
AGENT_PAUSE: Final = Row(
    "agent_swap_pause_seconds",
    Door.AGENT,
    Kind.HISTOGRAM,
    "Pause sent to Resume answered.",
    (),
    PAUSE_BUCKETS,
)
AGENT_SWAPS: Final = Row(
    "agent_swaps_total",
    Door.AGENT,
    Kind.COUNTER,
    "Ended swaps; class and reason are empty when they went well.",
    ("outcome", "class", "reason"),
)
AGENT_STAGED_BYTES: Final = Row(
    "agent_staged_bytes_total", Door.AGENT, Kind.COUNTER, "Bytes read from the weights' source."
)
AGENT_NODE_BYTES: Final = Row(
    "agent_node_volume_bytes_total",
    Door.AGENT,
    Kind.COUNTER,
    "Bytes taken from the node's volume, which a pod of this node has read from the source.",
)
AGENT_NODE_NOTICES: Final = Row(
    "agent_node_volume_notices_total",
    Door.AGENT,
    Kind.COUNTER,
    "Times that the node's volume was of no use, or held other bytes than it should.",
    ("reason",),
)
AGENT_STAGING_SECONDS: Final = Row(
    "agent_staging_seconds",
    Door.AGENT,
    Kind.HISTOGRAM,
    "One staging, from the first byte read to the image committed.",
    (),
    (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1800.0),
)

TABLE: Final = (
    PODS, STAGED_BYTES, STAGING_RATE, SWAP_PAUSE, SWAPS, ACTIONS, PASSES, PASS_ERRORS, QUEUE_DEPTH, LOOP_LAG, LEADER,
    API_REQUESTS, STATUS_WRITES, WATCH_STARTS, EVENTS_DROPPED,
    ENGINE_INFO, AGENT_INFO, AGENT_READY, AGENT_ALONE, AGENT_ALONE_STEPS, AGENT_TRAINER_GUARD, AGENT_PHASE_SECONDS, AGENT_PAUSE, AGENT_SWAPS, AGENT_STAGED_BYTES, AGENT_STAGING_SECONDS,
    AGENT_NODE_BYTES, AGENT_NODE_NOTICES,
)  # fmt: skip


class Metrics:
    """The rows of one door, registered in one registry; a row is asked for by itself."""

    def __init__(self, door: Door, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._made = {row: _make(row, self.registry) for row in TABLE if row.door is door}

    def counter(self, row: Row) -> Counter:
        made = self._made[row]
        assert isinstance(made, Counter)
        return made

    def gauge(self, row: Row) -> Gauge:
        made = self._made[row]
        assert isinstance(made, Gauge)
        return made

    def histogram(self, row: Row) -> Histogram:
        made = self._made[row]
        assert isinstance(made, Histogram)
        return made


def _make(row: Row, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    name = f"{PREFIX}_{row.name}"
    match row.kind:
        case Kind.COUNTER:
            return Counter(name, row.help, row.labels, registry=registry)
        case Kind.GAUGE:
            return Gauge(name, row.help, row.labels, registry=registry)
        case Kind.HISTOGRAM:
            return Histogram(name, row.help, row.labels, buckets=row.buckets, registry=registry)
