"""Every reason this agent gives, in one place; stable, because operators match on them."""

from enum import StrEnum


class RefusalReason(StrEnum):
    """Why a call was refused. Nothing was changed."""

    NO_OWNER = "NoOwner"  # a mutating call before the first Hello
    STALE_EPOCH = "StaleEpoch"  # a newer leader has spoken
    FOREIGN_OWNER = "ForeignOwner"  # another WeightRollout owns this agent
    BUSY = "Busy"  # another transaction runs or is reserved
    TRANSACTION_ENDED = "TransactionEnded"
    NOT_RESERVED = "NotReserved"  # the reservation ended by its ttl, or never was
    NOT_STAGED = "NotStaged"
    POISONED = "Poisoned"
    ENGINE_UNREACHABLE = "EngineUnreachable"
    JOURNAL_UNWRITABLE = "JournalUnwritable"
    BAD_REQUEST = "BadRequest"
    STOPPING = "AgentStopping"
    LEAVING = "PodLeaving"  # the kubelet has announced the end of the engine
    CONTROL_PORT_EXPOSED = "ControlPortExposed"
    HELD_BY_TRAINER = "HeldByTrainer"  # by the RL routes


class NotReadyReason(StrEnum):
    """Why the readiness port answers 503."""

    ENGINE_UNREACHABLE = "EngineUnreachable"
    POISONED = "Poisoned"
    SWAPPING = "Swapping"
    RESERVED = "Reserved"
    ENGINE_PAUSED = "EnginePaused"
    SERVING_UNKNOWN = "ServingUnknown"  # nobody can name what is loaded
    STABLE_UNREADABLE = "StableUnreadable"  # nobody can say what should be
    LEAVING = "PodLeaving"  # the kubelet has announced the end of the engine
    HELD_BY_TRAINER = "HeldByTrainer"  # by the RL routes
    AWAITS_TRAINER = "AwaitsTrainer"  # base weights, where a trainer drives (spec.driver)
    NOT_SERVING_TOLD = "NotServingTold"  # something else is loaded than should be


class NotLiveReason(StrEnum):
    """Why /livez answers 503: the kubelet should start the engine's container anew."""

    DEAD = "EngineDead"  # by its own word
    SILENT = "EngineSilent"
    DOES_NOT_END = "EngineDoesNotEnd"  # it was asked to, and is still there


class AloneReason(StrEnum):
    """Why the agent does something, or nothing, about its engine while no operator is there."""

    OPERATOR_THERE = "OperatorThere"
    IN_SERVICE = "InService"  # an engine that serves is never touched
    GOAL_UNKNOWN = "GoalUnknown"  # nobody was told what to serve, and stable.json is unreadable
    NOTHING_PROVEN = "NothingProven"  # by any pod, of what the trainer calls durable
    GAVE_UP = "GaveUp"  # attempts that reached the pause: the next one is the operator's
    LEAVING = "Leaving"  # requests may still reach it
    NOT_READ_BACK = "NotReadBack"  # what the engine holds was not asked yet
    BACK_OFF = "BackOff"
    ASKED_TO_END = "AskedToEnd"  # this engine process; it is asked once
    INCOMPATIBLE = "Incompatible"  # cannot be swapped at all
    POISONED = "Poisoned"
    TRAINERS = "TrainersWeights"  # no checkpoint has them: the trainer must send them again
    BACK_TO_BASELINE = "BackToBaseline"
    NOT_STAGED = "NotStaged"
    STAGED = "Staged"


class IncompatibleReason(StrEnum):
    """Why this engine cannot be swapped; more come from weights.preflight."""

    ENGINE_TOO_OLD = "EngineTooOld"
    NO_TRANSFER_BACKEND = "NoTransferBackend"
    ENGINE_REPORT_UNREADABLE = "EngineReportUnreadable"  # of a plugin of another release, or spoilt


class Refused(Exception):
    """Ends a call with a Refusal."""

    def __init__(
        self, reason: str, message: str, *, epoch: int = 0, failure_class: str = ""
    ) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.epoch = epoch
        self.failure_class = failure_class
