"""`status` of a WeightRollout: everything the operator says, computed whole in every pass."""

from enum import StrEnum

from pydantic import Field

from weightrollout.api.spec import ApiModel


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
    """A revision by its three names. Revision "baseline" is what engines load at start."""

    version: str
    digest: str | None = None
    revision: str


class PodCounts(ApiModel):
    """Each selected pod is in exactly one of the first seven; the last three overlap them."""

    selected: int = 0
    updated: int = 0
    outdated: int = 0
    joining: int = 0
    failed: int = 0
    poisoned: int = 0
    unreachable: int = 0
    incompatible: int = 0
    available: int = 0
    out: int = 0
    swapping: int = 0


class StagingStatus(ApiModel):
    bytes: int = Field(description="Read and hashed so far, over all staging pods.")
    total: int = Field(description="To be read by them.")
    pods: int


class LoadedVersion(ApiModel):
    version: str
    digest: str | None = None
    pods: int


class Hold(ApiModel):
    """The one thing the rollout waits for now."""

    gate: str
    reason: str
    message: str
    since: str
    pods: tuple[str, ...] = ()


class PauseMillis(ApiModel):
    """Measured pauses of the target revision, in milliseconds."""

    last: int
    p50: int
    p99: int
    max: int


class Failure(ApiModel):
    pod: str
    failure_class: str = Field(alias="class")
    reason: str
    message: str
    attempts: int
    time: str


class Condition(ApiModel):
    type: str
    status: str
    reason: str
    message: str = ""
    last_transition_time: str
    observed_generation: int


class WeightRolloutStatus(ApiModel):
    observed_generation: int = 0
    epoch: int = Field(default=0, description="Leadership fence: grows with every new leader.")
    phase: Phase = Phase.PENDING
    message: str = ""
    desired: WeightsRef | None = None
    target: WeightsRef | None = Field(
        default=None, description="What is converged on; differs from desired after a rollback."
    )
    stable: WeightsRef | None = Field(
        default=None, description="Newest revision that the whole fleet verified."
    )
    updated: str = Field(default="0/0", description="Pods that serve the target, of all.")
    pods: PodCounts = PodCounts()
    staging: StagingStatus | None = None
    versions: tuple[LoadedVersion, ...] = Field(
        default=(), description="What is really loaded; at most 10, then one named 'other'."
    )
    hold: Hold | None = None
    pause_millis: PauseMillis | None = None
    failures: tuple[Failure, ...] = Field(default=(), description="At most 10, newest first.")
    conditions: tuple[Condition, ...] = ()
