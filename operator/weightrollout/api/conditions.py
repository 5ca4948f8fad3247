"""The five conditions of a WeightRollout and every reason they carry.

kstatus reads them: Ready True = done; Reconciling True = under way; Stalled True = needs a person.
All five are set in every status; "Unknown" means that nobody can say yet.
"""

from enum import StrEnum


class ConditionType(StrEnum):
    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    AVAILABLE = "Available"
    ROLLBACK_READY = "RollbackReady"


class ReadyReason(StrEnum):
    """Ready is True when every running pod serves the desired weights, proven."""

    COMPLETE = "Complete"  # True: surfaces when all pods serve the target and it is recorded
    DEGRADED = "Degraded"  # True: surfaces when so, and the draft of some pod could not be loaded
    DRAFT_STALE = "DraftStale"  # True: surfaces when so, and drafts were left as they were
    SCALED_TO_ZERO = "ScaledToZero"  # True: surfaces when a verified fleet has no pods now
    TRAINER_DRIVES = "TrainerDrives"  # True: surfaces when a trainer has all pods in hand
    WAITING_FOR_TRAINER = "WaitingForTrainer"  # False: surfaces when only a trainer can go on
    NO_PODS = "NoPods"  # False: surfaces when there never was a pod
    PROGRESSING = "Progressing"  # False: surfaces while pods move to the desired revision
    ROLLING_BACK = "RollingBack"  # False: surfaces while pods move back
    ROLLED_BACK = "RolledBack"  # False: surfaces when the desired revision was undone everywhere
    FAILED = "Failed"  # False: surfaces when the rollout stopped for good
    PAUSED = "Paused"  # Unknown: surfaces when mode Paused or a step for a person holds work back
    SUSPENDED = "Suspended"  # Unknown: surfaces when mode Suspended holds work back
    PENDING = "Pending"  # Unknown: surfaces before there is anything to judge


class ReconcilingReason(StrEnum):
    """Reconciling is True while the operator moves pods."""

    PROGRESSING = "Progressing"  # True
    ROLLING_BACK = "RollingBack"  # True
    IDLE = "Idle"  # False: surfaces when nothing is left to move, or a person stopped it


class StalledReason(StrEnum):
    """Stalled is True when only a person can help. Reasons of a rejected revision are passed on."""

    MOVING = "NotStalled"  # False
    NAME_TOO_LONG = "NameTooLong"  # True: surfaces when the name has more than 52 characters
    VERSION_REUSED = "VersionReused"  # True: surfaces when a version is bound to another digest
    ROLLED_BACK = "RolledBack"  # True: surfaces when the automatic rollback is over
    ROLLBACK_FAILED = "RollbackFailed"  # True: surfaces when pods could not be brought back


class AvailableReason(StrEnum):
    """Available is True when enough pods are in service, whatever version they serve."""

    ENOUGH_PODS = "EnoughPods"  # True: at most maxUnavailable pods are out
    TOO_FEW_PODS = "TooFewPods"  # False: more than maxUnavailable pods are out
    BASE_WEIGHTS = (
        "BaseWeightsOut"  # False: so are more, some as they never ran a trainer's weights
    )
    NO_PODS = "NoPods"  # False


class RollbackReadyReason(StrEnum):
    """RollbackReady is True when every pod could go back at once: what an abort or a rejection of the
    target leads to is stable, or once the target is stable itself the newest older one that was."""

    ON_PODS = "OnPods"  # True: surfaces when each pod serves those weights or holds them staged
    NOT_STAGED = "NotStaged"  # Unknown: surfaces when some pod would read them from their uri again
    AGENTS_SILENT = "AgentsSilent"  # Unknown: surfaces when some pod cannot say what it holds
    BASELINE_ONLY = "BaselineOnly"  # False: surfaces when going back would restart engines
    NO_PODS = "NoPods"  # Unknown: surfaces when there is no pod to ask
