"""What a plan may ask for. Each action names its pod by uid and carries its reason."""

from dataclasses import dataclass

from weightrollout.api.spec import PauseMode, Prompt, TakeOut
from weightrollout.api.status import WeightRolloutStatus
from weightrollout.rollout.arguments import Arguments
from weightrollout.rollout.fleet import Memory, Ref, Retry, Verdict


@dataclass(frozen=True, slots=True)
class Stage:
    pod: str  # name, for people
    pod_uid: str
    weights: Ref  # digest None: find it (scout)
    keep_last_good: bool
    keep: frozenset[str]  # digests that must stay staged
    reason: str
    message: str
    limit: int = 0  # bytes per second from the source; 0: as fast as they come
    joins: bool = False  # it runs already; the agent only learns of another limit


@dataclass(frozen=True, slots=True)
class Reserve:
    pod: str
    pod_uid: str
    txn: str
    weights: Ref
    take_out: TakeOut
    ttl_s: float
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class TakeOutPod:
    """Close the readiness gate of a gated pod that is reserved."""

    pod: str
    pod_uid: str
    txn: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class SwapPod:
    pod: str
    pod_uid: str
    txn: str
    attempt: int
    weights: Ref
    pause_mode: PauseMode
    clear_cache: bool
    drain_s: float
    deadline_s: float
    prompts: tuple[Prompt, ...]
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What Kubernetes shows of a pod that serves: label and annotation."""

    pod: str
    pod_uid: str
    txn: str
    attempt: int
    serving: Ref
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class PutIn(Shown):
    """And, where gated, the condition: one PATCH on pods/status, which its way back waits for."""


@dataclass(frozen=True, slots=True)
class LabelPod(Shown):
    """No more than that: the pod serves without, and nothing waits for it."""


@dataclass(frozen=True, slots=True)
class Release:
    pod: str
    pod_uid: str
    txn: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RestartEngine:
    pod: str
    pod_uid: str
    serve: Ref  # may be the baseline
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class EvictPod:
    """Remove a pod that is out of service, by the Eviction API. A second run finds it gone."""

    pod: str
    pod_uid: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RecordRevision:
    """Create the ControllerRevision, or write digest and verdict to it (compare-and-swap)."""

    ref: Ref
    number: int
    digest_given: bool
    verdict: Verdict | None  # None: as it is, or none after another retry than is written there
    reason: str
    message: str
    retry: Retry | None = None


@dataclass(frozen=True, slots=True)
class PruneRevision:
    """Delete a ControllerRevision that nobody uses any more."""

    revision: str
    number: int  # as it was when this was decided; a newer one has come back
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class AdoptRevision:
    """Become the owner of a ControllerRevision that has none (compare-and-swap)."""

    revision: str
    number: int
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class PublishStable:
    """Write the fleet ConfigMap. The baseline removes the key, but for the trainer that drives."""

    stable: Ref
    reason: str
    message: str
    trainer_drives: bool = False


@dataclass(frozen=True, slots=True)
class AskPrometheus:
    address: str | None  # None: the operator's own
    query: str  # with its arguments filled in


@dataclass(frozen=True, slots=True)
class PostWebhook:
    url: str
    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Measure:
    """Ask one question of an analysis. A second run asks again under the same number."""

    analysis: str  # hash and index of the step
    number: int  # from 1
    revision: str
    question: AskPrometheus | PostWebhook
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Announce:
    """A Kubernetes Event on the CR, or on a pod when `pod_uid` is set."""

    warning: bool
    reason: str
    message: str
    pod: str = ""
    pod_uid: str = ""


Action = (
    Stage
    | Reserve
    | TakeOutPod
    | SwapPod
    | PutIn
    | LabelPod
    | Release
    | RestartEngine
    | EvictPod
    | RecordRevision
    | PublishStable
    | PruneRevision
    | AdoptRevision
    | Measure
    | Announce
)


@dataclass(frozen=True, slots=True)
class Plan:
    actions: tuple[Action, ...]
    status: WeightRolloutStatus
    wake_at: float | None  # Fleet.now seconds at which time alone changes the plan
    memory: Memory
    quiet: bool = False  # nothing is started: agents bring back what is out, as without an operator
