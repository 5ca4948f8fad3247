"""`status` of a WeightRollout: everything the operator says, computed whole in every pass."""

from enum import StrEnum

from pydantic import Field

from weightrollout.api.model import ApiModel


class Phase(StrEnum):
    PENDING = "Pending"
    PROGRESSING = "Progressing"
    PAUSED = "Paused"
    COMPLETE = "Complete"
    ROLLING_BACK = "RollingBack"
    ROLLED_BACK = "RolledBack"
    FAILED = "Failed"
    SUSPENDED = "Suspended"


class WeightsRef(ApiModel):
    """A revision by its three names."""

    version: str = Field(description="As spec.weights.version says it.")
    digest: str | None = Field(
        default=None, description="Absent until it is pinned, and for the baseline."
    )
    revision: str = Field(
        description="Name of the ControllerRevision, or 'baseline': what engines load at start."
    )


class PodCounts(ApiModel):
    """Each selected pod is in exactly one of the seven after it; the last three overlap them."""

    selected: int = Field(default=0, description="Pods with our name label that are not ending.")
    updated: int = Field(default=0, description="Serve the target, proven by digest and version.")
    outdated: int = Field(default=0, description="Serve something else that is known.")
    joining: int = Field(default=0, description="Start, restarted, or have not loaded yet.")
    failed: int = Field(default=0, description="Used up their retries for the target.")
    poisoned: int = Field(default=0, description="Hold neither target nor last good; paused, out.")
    unreachable: int = Field(default=0, description="Their agent does not answer.")
    incompatible: int = Field(default=0, description="Refused by name: engine, agent or model.")
    available: int = Field(default=0, description="Ready and in service.")
    out: int = Field(default=0, description="Not in service, reserved for a swap, or unreachable.")
    swapping: int = Field(default=0, description="In a swap, from its reservation until put in.")


class StagingStatus(ApiModel):
    """Progress of reading weights; absent when no pod stages."""

    bytes: int = Field(description="Read and hashed so far, over all staging pods.")
    total: int = Field(description="To be read by them.")
    pods: int = Field(description="Pods that stage now.")
    bytes_per_second: int = Field(
        default=0,
        description="Read from the source by them, over the last seconds. What a killed agent had"
        " read before counts in bytes and not here.",
    )


class StepStatus(ApiModel):
    """Where a canary is; absent when the target has no steps to go through."""

    index: int = Field(
        description="Steps that are passed: the rollout is at the one after them, or is through."
    )
    of: int = Field(description="Steps in all.")
    hash: str = Field(
        description="Of revision and steps: other steps begin again at the first, and a promote"
        " that was meant for these is Stale."
    )
    since: str = Field(description="When this step began; RFC 3339.")


class ActionOutcome(StrEnum):
    ACCEPTED = "Accepted"
    STALE = "Stale"
    INVALID = "Invalid"


class LastAction(ApiModel):
    """The answer to the newest annotation weightrollout.dev/action."""

    id: str = Field(
        description="The annotation as it was read; of one with more than 253 characters its"
        " sha256:... instead."
    )
    verb: str = Field(description="promote, abort or retry; '' where it could not be read.")
    outcome: ActionOutcome = Field(
        description="Accepted: done. Stale: meant for a state that is over; nothing was done."
        " Invalid: it could not be read."
    )
    message: str = Field(description="What was done, or why not.")
    time: str = Field(description="RFC 3339.")


class LoadedVersion(ApiModel):
    """One content that is really loaded."""

    version: str = Field(description="As the engines report it, or 'other'.")
    digest: str | None = Field(default=None, description="Proven by receipts; absent: unknown.")
    pods: int = Field(description="Pods that hold it.")


class Hold(ApiModel):
    """The one thing the rollout waits for now; absent when nothing holds it."""

    gate: str = Field(description="Which rule holds it, in CamelCase.")
    reason: str = Field(description="Stable word for scripts, in CamelCase.")
    message: str = Field(description="For people: numbers, names, and how to go on.")
    since: str = Field(description="RFC 3339.")
    pods: tuple[str, ...] = Field(default=(), description="Pods it is about, if any; at most 100.")


class TrainerStatus(ApiModel):
    """What trainers do to the fleet; absent where no pod offers them routes and spec.driver is Operator."""

    drives: bool = Field(description="spec.driver is Trainer: the operator only brings up joiners.")
    serving: int = Field(default=0, description="Pods that hold weights which a trainer sent.")
    held: int = Field(
        default=0, description="Pods that a trainer holds now: paused, asleep or in an update."
    )
    guard: str = Field(
        default="",
        description="What the agents apply; several where they differ or are not told yet.",
    )


class PauseMillis(ApiModel):
    """Measured pauses of the target revision, in milliseconds."""

    last: int = Field(description="The newest swap's.")
    p50: int = Field(description="Median.")
    p99: int = Field(description="99th percentile.")
    max: int = Field(description="The longest.")


class Failure(ApiModel):
    """One pod's newest failure."""

    pod: str = Field(description="Its name.")
    failure_class: str = Field(
        alias="class",
        description="Weights: the weights are bad. Pod: this pod or its engine. Environment: "
        "store, credentials or network; nothing was touched.",
    )
    reason: str = Field(description="Stable word for scripts, in CamelCase.")
    message: str = Field(description="What is wrong, where, and what to do.")
    attempts: int = Field(description="Attempts that reached the pause, for this digest.")
    time: str = Field(description="RFC 3339.")


class MeasurementOutcome(StrEnum):
    SUCCESSFUL = "Successful"
    FAILED = "Failed"
    INCONCLUSIVE = "Inconclusive"


class AnalysisOutcome(StrEnum):
    RUNNING = "Running"
    SUCCESSFUL = "Successful"
    FAILED = "Failed"
    INCONCLUSIVE = "Inconclusive"
    SKIPPED = "Skipped"


class MeasurementStatus(ApiModel):
    """What one question was answered."""

    outcome: MeasurementOutcome = Field(
        description="Successful, Failed, or Inconclusive: nobody can say."
    )
    value: float | None = Field(default=None, description="Absent: no number was measured.")
    reason: str = Field(description="Stable word for scripts, in CamelCase.")
    message: str = Field(default="", description="For people.")
    time: str = Field(description="RFC 3339.")


class AnalysisStatus(ApiModel):
    """One analysis of the newest canary. What ended keeps its outcome."""

    index: int = Field(description="status.step.index while it runs.")
    hash: str = Field(description="status.step.hash: with other steps it begins again.")
    outcome: AnalysisOutcome = Field(
        description="Running; Successful; Failed: the version is rejected; Inconclusive: a person "
        "promotes or aborts; Skipped: a person promoted before it ended."
    )
    dry_run: bool = Field(default=False, description="The step is passed whatever comes out.")
    successful: int = Field(default=0, description="Good measurements.")
    failed: int = Field(default=0, description="Bad ones.")
    inconclusive: int = Field(default=0, description="Those without an answer.")
    message: str = Field(default="", description="One line for people.")
    measurements: tuple[MeasurementStatus, ...] = Field(
        default=(), description="At most 5, newest first."
    )
    since: str = Field(description="When it began; RFC 3339.")

    @property
    def taken(self) -> int:
        """Measurements so far."""
        return self.successful + self.failed + self.inconclusive


class Condition(ApiModel):
    """As Kubernetes conditions are: Ready, Reconciling, Stalled, Available, RollbackReady."""

    type: str = Field(description="Name of the condition.")
    status: str = Field(description="True, False or Unknown.")
    reason: str = Field(description="Stable word for scripts, in CamelCase.")
    message: str = Field(default="", description="For people.")
    last_transition_time: str = Field(description="When `status` changed; RFC 3339.")
    observed_generation: int = Field(description="metadata.generation this is about.")


class WeightRolloutStatus(ApiModel):
    """What the operator observed and decided, written whole in every pass."""

    observed_generation: int = Field(
        default=0, description="metadata.generation the operator acted on."
    )
    epoch: int = Field(default=0, description="Leadership fence: grows with every new leader.")
    phase: Phase = Field(
        default=Phase.PENDING, description="Where the rollout is; conditions say it for machines."
    )
    message: str = Field(default="", description="One line for people, with how to go on.")
    desired: WeightsRef | None = Field(default=None, description="What spec.weights says.")
    target: WeightsRef | None = Field(
        default=None, description="What is converged on; differs from desired after a rollback."
    )
    stable: WeightsRef | None = Field(
        default=None, description="Newest revision that the whole fleet verified."
    )
    step: StepStatus | None = None
    updated: str = Field(default="0/0", description="Pods that serve the target, of all.")
    pods: PodCounts = PodCounts()
    staging: StagingStatus | None = None
    versions: tuple[LoadedVersion, ...] = Field(
        default=(), description="What is really loaded; at most 10, then one named 'other'."
    )
    hold: Hold | None = None
    trainer: TrainerStatus | None = None
    pause_millis: PauseMillis | None = None
    failures: tuple[Failure, ...] = Field(default=(), description="At most 10, newest first.")
    last_action: LastAction | None = None
    analysis: tuple[AnalysisStatus, ...] = Field(
        default=(), description="Of the newest canary; at most 10, newest first."
    )
    conditions: tuple[Condition, ...] = Field(
        default=(), description="Ready, Reconciling, Stalled, Available, RollbackReady."
    )
