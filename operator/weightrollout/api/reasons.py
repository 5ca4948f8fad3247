"""Why a rollout waits: the gates, in the order in which they are reported, and their reasons.

`status.hold` names one gate and one reason. Reasons of the environment (SourceNotFound,
StagingSpaceTooSmall, ApiServerUnavailable...) are passed on as the failing part spelt them.
"""

from enum import StrEnum


class HoldGate(StrEnum):
    """What stands in the way. The order is the priority: the first one that holds is reported."""

    SPEC = "Spec"  # the spec itself is refused
    VERDICT = "Verdict"  # the desired revision was rejected, or its rollback failed
    MODE = "Mode"  # a person said so in spec.mode
    STEP = "Step"  # a canary step waits: for a person, a time or a measurement
    PODS = "Pods"  # there is no pod to work on
    ENVIRONMENT = "Environment"  # store, credentials, network, API server
    BACK_OFF = "BackOff"  # a failed attempt is repeated after a pause
    LEAVING = "Leaving"  # a pod that was promised to a swap is still Ready
    TRAINER = "Trainer"  # a trainer holds a pod, or has to update it
    REPAIR = "Repair"  # a pod out of service is beyond repair
    BUDGET = "Budget"  # strategy.maxUnavailable is used up
    DISRUPTION = "Disruption"  # a PodDisruptionBudget allows no pod less
    SOAK = "Soak"  # strategy.soakSeconds is not over
    TRAFFIC = "Traffic"  # swap.pauseMode GiveUp: requests run longer than swap.drainSeconds
    PROOF = "Proof"  # strategy.proveFirst: the first pod is not through
    STAGING = "Staging"  # weights are not on the pod yet
    READY = "Ready"  # Kubernetes does not show what the agent says
    FAILED = "Failed"  # retries are used up
    AGENT = "Agent"  # the pod has no agent, or none that can be used


class HoldReason(StrEnum):
    # Spec
    NAME_TOO_LONG = "NameTooLong"  # surfaces when the name does not fit into labels
    VERSION_REUSED = "VersionReused"  # surfaces when the version is bound to another digest
    # Verdict
    REVISION_REJECTED = "RevisionRejected"  # surfaces when onFailure is Hold
    ROLLBACK_FAILED = "RollbackFailed"  # surfaces when pods cannot return; never rolled back again
    # Mode
    MODE_SUSPENDED = "ModeSuspended"
    MODE_PAUSED = "ModePaused"
    NOTHING_DESIRED = "NothingDesired"  # surfaces when spec.weights is absent and pods differ
    # Step
    STEP_PAUSED = "StepPaused"  # surfaces until a person promotes
    STEP_TIMED = "StepTimed"  # surfaces while the durationSeconds of a step's pause run
    ANALYSIS_RUNNING = "AnalysisRunning"  # surfaces while an analysis measures
    ANALYSIS_INCONCLUSIVE = "AnalysisInconclusive"  # surfaces until a person promotes or aborts
    # Pods
    NO_PODS = "NoPods"  # surfaces when no pod carries the label weightrollout.dev/name
    PODS_STARTING = "PodsStarting"  # surfaces when the pods left have never run
    # Environment
    EVICTION_REFUSED = "EvictionRefused"  # surfaces when a PodDisruptionBudget is in the way
    EVICTION_FORBIDDEN = "EvictionForbidden"  # surfaces without the chart's rbac.evictPods
    # BackOff
    RETRY_BACK_OFF = "RetryBackOff"
    # Leaving
    WAITING_FOR_UNREADY = "WaitingForUnready"  # surfaces when a reserved pod is still Ready
    # Trainer
    HELD_BY_TRAINER = "HeldByTrainer"  # surfaces while the operator waits for a trainer to end
    WAITING_FOR_TRAINER = "WaitingForTrainer"  # surfaces when only a trainer can bring a pod up
    # Repair
    BEYOND_REPAIR = "BeyondRepair"  # surfaces when no try is left and nobody may evict the pod
    NO_CONTROLLER = "NoController"  # surfaces when nobody would replace a pod that is evicted
    REPLACING_PODS = "ReplacingPods"  # surfaces while another pod is being evicted
    # Budget
    BUDGET_USED_BY_UNREADY_PODS = "BudgetUsedByUnreadyPods"  # surfaces when no swap of ours is out
    BUDGET_IN_USE = "BudgetInUse"  # surfaces when our own swaps use it up
    # Disruption
    NO_DISRUPTION_LEFT = "NoDisruptionLeft"  # surfaces when a PodDisruptionBudget is used up
    DISRUPTION_BUDGET_UNKNOWN = "DisruptionBudgetUnknown"  # surfaces until its controller counted
    DISRUPTION_BUDGETS_UNREADABLE = "DisruptionBudgetsUnreadable"  # surfaces without the right
    # Soak
    SOAKING = "Soaking"
    # Traffic
    REQUESTS_RUNNING = "RequestsRunning"  # surfaces while a pod that was put back is left alone
    # Proof
    PROVE_FIRST = "ProveFirst"
    NO_PROVER = "NoProver"  # surfaces when no pod is fit to go first
    # Staging
    STAGING = "Staging"
    DIGEST_PENDING = "DigestPending"  # surfaces until the scout's digest is recorded
    # Ready
    WAITING_FOR_READY = "WaitingForReady"  # surfaces when a pod serves its version and is not Ready
    # Failed
    PODS_FAILED = "PodsFailed"
    # Agent
    AGENT_MISSING = "AgentMissing"
    AGENT_UNREACHABLE = "AgentUnreachable"
    AGENT_TOO_OLD = "AgentTooOld"  # surfaces when the weights need what its release cannot do
    INCOMPATIBLE = "Incompatible"
    ENGINE_UNREACHABLE = "EngineUnreachable"


class RejectReason(StrEnum):
    """Why a revision was rejected, where the agent's own reason (PromptFailed...) is not passed on."""

    TOO_MANY_FAILED = "TooManyFailed"
    PROVER_FAILED = "ProverFailed"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    VERSION_REUSED = "VersionReused"
    ANALYSIS_FAILED = (
        "AnalysisFailed"  # surfaces when more answers are bad than failureLimit forgives
    )
    ABORTED = "Aborted"  # surfaces when a person aborted it; it goes back whatever onFailure says


class MeasurementReason(StrEnum):
    """What came of one question of an analysis. From NO_DATA on nobody can say: Inconclusive."""

    WITHIN_BOUNDS = "WithinBounds"
    OUT_OF_BOUNDS = "OutOfBounds"
    SAID = "Said"  # a webhook's own word
    BETWEEN_BOUNDS = "BetweenBounds"  # surfaces between max and failAbove, or failBelow and min
    NO_DATA = "NoData"  # surfaces when the query selects nothing
    NOT_A_NUMBER = "NotANumber"  # surfaces for NaN and infinities: something was divided by nothing
    SEVERAL_SERIES = "SeveralSeries"  # surfaces when the query gives more than one number
    QUERY_REFUSED = "QueryRefused"  # surfaces when Prometheus cannot read or finish the query
    NO_ADDRESS = "NoAddress"  # surfaces when neither step nor operator names a Prometheus
    NO_KEY = "NoKey"  # surfaces when the operator has no key to sign a webhook with
    HOST_DENIED = "HostDenied"  # surfaces when the host is not on the operator's list
    UNREACHABLE = "Unreachable"  # surfaces when there is no connection, or it breaks
    TIMED_OUT = "TimedOut"
    REDIRECTED = "Redirected"  # surfaces when it points elsewhere; that is not followed
    HTTP_ERROR = "HttpError"  # surfaces when the status is not 200
    TOO_LARGE = "TooLarge"  # surfaces when question or answer is larger than anybody needs
    NOT_UNDERSTOOD = "NotUnderstood"  # surfaces when the answer has another form


class DegradedReason(StrEnum):
    """What is wrong with a pod that serves the right weights: answers are right, and slower."""

    DRAFT_FAILED = (
        "DraftFailed"  # surfaces when its draft could not be loaded; until the next revision
    )
    DRAFT_STALE = "DraftStale"  # surfaces when nobody said where its draft comes from


#: The agent's word for content that is not what the digest says. With a digest that a scout
#: pinned it means that the source changed afterwards, which is the environment's fault.
DIGEST_MISMATCH = "DigestMismatch"
SOURCE_CHANGED = "SourceChanged"
STAGED_NOTHING = "StagedNothing"  # the agent said done, and does not hold it
