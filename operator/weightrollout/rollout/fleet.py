"""Everything one decision may look at, frozen.

Seconds are `Fleet.now` seconds (monotonic, of this leader). None always means "unknown" or
"absent" as the comment says, never a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final

from weightrollout.api.disruption import DisruptionBudget
from weightrollout.api.names import (
    CAPABILITIES,
    CAPABILITY_DRAFTS,
    CAPABILITY_DRIVER,
    CAPABILITY_GIVE_UP,
    CAPABILITY_LIMITS,
    CAPABILITY_SIGNATURES,
    TRAINER_REVISION,
)
from weightrollout.api.reasons import HoldReason
from weightrollout.api.signature import Signature
from weightrollout.api.spec import (
    Draft,
    Driver,
    Metadata,
    PauseMode,
    WeightRolloutSpec,
    proofs,
)
from weightrollout.api.status import AnalysisStatus, MeasurementOutcome, WeightRolloutStatus
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase

BASELINE_REVISION: Final = "baseline"


class Verdict(StrEnum):
    VERIFIED = "Verified"
    REJECTED = "Rejected"


@dataclass(frozen=True, slots=True)
class Ref:
    """One loadable content. The baseline has revision "baseline" and neither uri nor digest."""

    revision: str
    version: str
    uri: str = ""
    digest: str | None = None  # None: not pinned yet, or the baseline
    metadata: Metadata = Metadata.REQUIRE
    draft: Draft | None = None  # as spec.weights.draft says it
    signature: Signature | None = None  # as spec.weights.signature says it

    @property
    def proofs(self) -> frozenset[str]:
        """Of the signatures that must have been found on its weights, as far as digests are known."""
        return proofs(self.digest, self.signature, self.draft)

    @property
    def digests(self) -> frozenset[str]:
        """Of all checkpoints whose images it needs, as far as they are known."""
        own = self.draft.digest if self.draft is not None else None
        return frozenset(digest for digest in (self.digest, own) if digest)

    @property
    def is_baseline(self) -> bool:
        return self.revision == BASELINE_REVISION


@dataclass(frozen=True, slots=True)
class Retry:
    """A person asked for a rejected revision again."""

    id: str  # of the verb, so that it is never acted on twice
    tries: int  # how often the revision was begun, this time included
    after: int  # highest attempt of any pod before it: what those attempts said is old


@dataclass(frozen=True, slots=True)
class Revision:
    """A ControllerRevision: immutable content, mutable facts."""

    ref: Ref  # digest: given by the user or pinned by the scout
    number: int  # grows; the newest content has the highest
    digest_given: bool  # spec.weights.digest was set
    verdict: Verdict | None = None
    reason: str = ""
    message: str = ""
    retry: Retry | None = None  # the newest one
    owned: bool = True  # False: its WeightRollout was deleted and left it behind

    @property
    def tries(self) -> int:
        return self.retry.tries if self.retry is not None else 1

    @property
    def tried_after(self) -> int:
        return self.retry.after if self.retry is not None else 0


@dataclass(frozen=True, slots=True)
class EngineView:
    reachable: bool
    instance: str = ""
    engine_version: str = ""
    weight_version: str = ""
    baseline: bool = False  # untouched since its start
    paused: bool = False
    draft: bool = False  # it speculates with a draft whose weights can be loaded
    plugin_version: str = ""


@dataclass(frozen=True, slots=True)
class StagingView:
    uri: str
    digest: str  # "" until known
    bytes: int
    total: int
    done: bool
    failure_class: FailureClass | None = None
    reason: str = ""
    message: str = ""
    revision: str = ""  # it was asked for; "": the agent does not say
    bytes_per_second: int = 0  # read from the source, over the last seconds
    limit: int = 0  # bytes per second that it is held to; 0: none


@dataclass(frozen=True, slots=True)
class TransactionView:
    txn: str
    attempt: int
    weights: Ref
    phase: SwapPhase
    outcome: Outcome | None  # None while it runs
    failure_class: FailureClass | None = None
    reason: str = ""
    message: str = ""
    pause_millis: float = 0.0

    @property
    def running(self) -> bool:
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class AttemptsView:
    """Attempts that reached the pause, as the agent journaled them."""

    attempts: int
    failure_class: FailureClass | None = None  # of the newest one; None after a success
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class AgentView:
    """What the pod's agent said last on a stream that is alive now."""

    ready: bool
    engine: EngineView
    not_ready_reason: str = ""
    not_ready_message: str = ""
    serving: Ref | None = None  # proven to be loaded in this instance; None: unknown
    told: Ref | None = None  # meant to serve; None: baseline
    last_good: Ref | None = None
    staged: frozenset[str] = frozenset()  # digests
    staging: StagingView | None = None  # running, or the newest one that failed
    reserved_txn: str | None = None
    transaction: TransactionView | None = None  # running or newest
    attempts: Mapping[str, AttemptsView] = field(default_factory=dict)  # by digest
    poisoned: bool = False
    incompatible_reason: str = ""
    incompatible_message: str = ""
    drafts_staged: frozenset[str] = frozenset()  # digests
    degraded_reason: str = ""  # the weights that it serves are right, and their draft is not
    degraded_message: str = ""
    version: str = ""  # release of the agent
    capabilities: frozenset[str] = CAPABILITIES
    signed: frozenset[str] = frozenset()  # `Ref.proofs` of staged weights
    drivable: bool = False  # its RL routes are open, and its engine takes weights there
    guard: str = ""  # what they ask of a trainer; "": nobody says

    @property
    def held_by_trainer(self) -> bool:
        """Paused, asleep or in an update of a trainer's."""
        return self.not_ready_reason == HoldReason.HELD_BY_TRAINER

    @property
    def has_trainers_weights(self) -> bool:
        return self.serving is not None and self.serving.revision == TRAINER_REVISION

    def lacks(
        self, ref: Ref, pause_mode: PauseMode = PauseMode.KEEP, *, limited: bool = False
    ) -> str:
        """The capability without which these weights cannot be loaded as they are asked for; "" for none.

        `limited`: they must be read at a limit, where they are not staged yet.
        """
        needed = {CAPABILITY_DRAFTS} if ref.draft is not None else set[str]()
        drafts = ref.draft.signature if ref.draft is not None else None
        needed |= {CAPABILITY_SIGNATURES} if (ref.signature or drafts) is not None else set()
        needed |= {CAPABILITY_GIVE_UP} if pause_mode is PauseMode.GIVE_UP else set()
        needed |= {CAPABILITY_LIMITS} if limited and not self.holds(ref) else set()
        return min(needed - self.capabilities, default="")

    def lacks_for(self, ref: Ref, spec: WeightRolloutSpec) -> str:
        """The same, as the spec asks for it."""
        if spec.driver is Driver.TRAINER and CAPABILITY_DRIVER not in self.capabilities:
            return CAPABILITY_DRIVER
        limited = spec.staging.max_bytes_per_second is not None
        return self.lacks(ref, spec.swap.pause_mode, limited=limited)

    def holds(self, ref: Ref) -> bool:
        """Everything that these weights need is staged; a draft that nobody named needs nothing."""
        if ref.digest not in self.staged or not ref.proofs <= self.signed:
            return False
        if ref.draft is None:
            return True
        if ref.draft.digest is not None:
            return ref.draft.digest in self.drafts_staged
        return not self.engine.draft or ref.digest in self.drafts_staged


class AgentFault(StrEnum):
    """Why there is no AgentView."""

    MISSING = "AgentMissing"  # the pod has no such container: add it to the template
    STARTING = "AgentStarting"  # the pod does not run yet, or was never reached and is young
    UNREACHABLE = "AgentUnreachable"
    REFUSED = "AgentRefused"  # it answers, but not to us (StaleEpoch, ForeignOwner, too old)


@dataclass(frozen=True, slots=True)
class PodView:
    name: str
    uid: str
    agent: AgentView | AgentFault
    ready: bool  # condition Ready, as the watch showed it last
    running: bool = True  # phase Running
    terminating: bool = False  # terminating pods count nowhere, but their swap is waited for
    gated: bool = False  # has the readiness gate weightrollout.dev/Serving
    gate_open: bool | None = None  # its condition; None: absent
    version_label: str = ""
    put_in_txn: str = ""  # txn of the annotation weightrollout.dev/swap
    agent_message: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    controlled: bool = True  # somebody makes another one when it is gone


class Doing(StrEnum):
    """Actions of this operator that are under way."""

    STAGE = "Stage"
    PACE = "Pace"
    RESERVE = "Reserve"
    TAKE_OUT = "TakeOut"
    SWAP = "Swap"
    PUT_IN = "PutIn"
    LABEL = "Label"
    RELEASE = "Release"
    RESTART_ENGINE = "RestartEngine"
    RECORD_REVISION = "RecordRevision"
    PUBLISH_STABLE = "PublishStable"
    PRUNE_REVISION = "PruneRevision"
    MEASURE = "Measure"
    EVICT = "Evict"
    ADOPT_REVISION = "AdoptRevision"


@dataclass(frozen=True, slots=True)
class Work:
    doing: Doing
    pod_uid: str = ""  # "" for actions on the fleet
    revision: str = ""


@dataclass(frozen=True, slots=True)
class ActionFailure:
    """An action of ours that failed outside the agent's own record (API or agent call)."""

    doing: Doing
    pod_uid: str
    failure_class: FailureClass
    reason: str
    message: str
    at: float
    revision: str = ""  # what it was asked for; "": about no weights


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one question of an analysis was answered."""

    analysis: str  # hash and index of the step it was asked for
    number: int  # which question of that analysis, from 1
    at: float  # Fleet.now of the answer
    value: float | None = None  # finite; None: no number was measured
    said: MeasurementOutcome | None = None  # a webhook's word; None: it said none, or is none
    reason: str = ""  # of no value and no word
    message: str = ""


@dataclass(frozen=True, slots=True)
class StageMemory:
    """What this leader asked a pod to stage, and how that went."""

    revision: str
    awaited: bool = True  # asked and not answered yet
    failures: int = 0  # in a row
    failed_at: float = 0.0
    failure_class: FailureClass | None = None  # of the newest failure; None: none, or it succeeded
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class PodMemory:
    """What is only known by having watched. Lost at takeover: its clocks then start again."""

    ready: bool
    ready_since: float  # when `ready` was first seen as it is now
    serving: str  # revision + instance it was first seen with
    serving_since: float
    served: str = ""  # newest revision that it was proven to serve; kept when its engine restarts
    silent_since: float | None = None  # the agent is unreachable since
    instance: str = ""  # newest engine instance that was seen; "": none yet
    reserved_txn: str = ""
    reserved_since: float = 0.0
    engaged_for: str = ""  # revision that it was reserved for or swapping to; "": none
    failed_txn: str = ""  # newest transaction that was seen to end without its weights
    failed_at: float = 0.0
    failures: int = 0  # failed transactions in a row, those before the pause as well
    gave_up: int = 0  # in a row, with the same weights; 0: the newest one did not give up
    restarted_at: float | None = None  # RestartEngine was sent
    restarted_instance: str = ""  # the instance that was asked to end
    restart_lost: bool = False  # the call failed: the agent may not have heard it
    restarts: int = 0  # how often that instance was asked
    evicted: bool = False  # we asked for it
    labelled_at: float = float("-inf")  # its version label was written, or seen first
    staging: StageMemory | None = None  # None: this leader asked for nothing yet


@dataclass(frozen=True, slots=True)
class Memory:
    """Returned by every plan and given to the next one. Empty after a takeover."""

    pods: Mapping[str, PodMemory] = field(default_factory=dict)  # by uid
    progress_key: str = ""
    progress_at: float = 0.0
    progress_stopped: bool = True  # nobody can be blamed for the time until the next pass
    hold_key: str = ""  # gate and reason of the hold that began at hold_since
    hold_since: str = ""  # RFC 3339
    announced: Mapping[str, float] = field(default_factory=dict)  # key of an event -> told when
    step_key: str = ""  # hash and index of the step that began at step_since
    step_since: float = 0.0
    step_idle: bool = False  # no pod served the target: its clock had not begun
    analysis: tuple[AnalysisStatus, ...] = ()  # as status.analysis, and ahead of it
    retried_at: float = float("-inf")  # a person asked for a rejected revision again
    labels_paid_at: float = float("-inf")  # by then the labels so far are within their rate


@dataclass(frozen=True)
class Fleet:
    """One observation."""

    namespace: str
    name: str
    uid: str
    generation: int
    spec: WeightRolloutSpec  # resolved, see profile.py
    status: WeightRolloutStatus  # as it was read; the empty one when it was lost
    revisions: tuple[Revision, ...]
    pods: tuple[PodView, ...]
    work: frozenset[Work]
    now: float
    wall: str  # RFC 3339, for people
    epoch: int
    failures: tuple[ActionFailure, ...] = ()  # at most the newest per (doing, pod)
    published: Ref | None = None  # what the fleet ConfigMap says; None: absent or baseline
    published_by: str = ""  # uid of the WeightRollout that wrote it; "": nobody says
    published_for_trainer: bool = False  # it says that a trainer drives
    memory: Memory = Memory()
    measurement: Measurement | None = None  # newest answer that this leader got; None: none
    action: str = ""  # annotation weightrollout.dev/action; "": absent
    disruption_budgets: tuple[DisruptionBudget, ...] = ()  # of the namespace, whatever they select
    disruption_budgets_denied: str = ""  # why they cannot be read; "": they can

    @property
    def trainer_drives(self) -> bool:
        """The operator only brings up pods that hold base weights."""
        return self.spec.driver is Driver.TRAINER

    @cached_property
    def failures_by_pod(self) -> Mapping[str, Mapping[Doing, ActionFailure]]:
        """`failures` by pod uid ("": of the fleet). Every pod asks for its own in every pass, and in an
        outage there are as many as pods."""
        found: dict[str, dict[Doing, ActionFailure]] = {}
        for failure in self.failures:
            found.setdefault(failure.pod_uid, {}).setdefault(failure.doing, failure)
        return found

    def failure_of(self, doing: Doing, pod_uid: str = "") -> ActionFailure | None:
        """The newest failure of this call; None: it never failed, or went well since."""
        return self.failures_by_pod.get(pod_uid, {}).get(doing)
