"""`spec` of a WeightRollout. A field is here only when it works."""

from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, model_validator

from weightrollout.api.analysis import Analysis
from weightrollout.api.model import ApiModel
from weightrollout.api.pattern import compilable
from weightrollout.api.quantity import ByteRate, IntOrPercent
from weightrollout.api.signature import Signature

DIGEST_PATTERN: Final = r"^sha256:[0-9a-f]{64}$"
VERSION_PATTERN: Final = r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"
#: No user, query or fragment of a remote one: each may be a credential.
URI_PATTERN: Final = r"^(file:///.+|(s3|gs|az|https|hf)://[^/?#@]+(/[^?#]*)?)$"
#: Longest regular expression; what is longer is a program.
MAX_PATTERN: Final = 512
#: Tokenizers number their tokens in 32 bits.
MAX_TOKEN_ID: Final = (1 << 31) - 1
ONE_EXPECTATION: Final = "set exactly one of contains, regex and tokenIds"
ONE_KIND: Final = "a step is exactly one of updated, pause and analysis"
MAX_STEPS: Final = 32
#: Every pass looks at the whole history.
MAX_HISTORY: Final = 1000


class Profile(StrEnum):
    SERVING = "Serving"
    TRAINING = "Training"


class Driver(StrEnum):
    OPERATOR = "Operator"
    TRAINER = "Trainer"


class TrainerGuard(StrEnum):
    STRICT = "Strict"
    AUTO_PAUSE = "AutoPause"
    OFF = "Off"


class TakeOut(StrEnum):
    ENDPOINT = "Endpoint"
    NONE = "None"


class PauseMode(StrEnum):
    KEEP = "Keep"
    ABORT = "Abort"
    GIVE_UP = "GiveUp"


class OnFailure(StrEnum):
    ROLLBACK = "Rollback"
    HOLD = "Hold"


class Mode(StrEnum):
    RUN = "Run"
    PAUSED = "Paused"
    SUSPENDED = "Suspended"


class Supersede(StrEnum):
    IMMEDIATE = "Immediate"
    AFTER_COMPLETE = "AfterComplete"


class Metadata(StrEnum):
    REQUIRE = "Require"
    IGNORE = "Ignore"


class DraftFrom(StrEnum):
    TARGET = "Target"


class Draft(ApiModel):
    """Weights of the engine's speculative draft: `from: Target`, or `uri` and `digest`."""

    from_: DraftFrom | None = Field(
        default=None,
        alias="from",
        description="Target: the draft lies in the same checkpoint, as MTP heads do.",
    )
    uri: Annotated[str, Field(max_length=2048, pattern=URI_PATTERN)] | None = Field(
        default=None,
        description="Folder with the draft's own checkpoint, as the agents see it.",
    )
    digest: Annotated[str, Field(pattern=DIGEST_PATTERN, max_length=71)] | None = Field(
        default=None,
        description="Of that folder; printed by 'kubectl weightrollout digest PATH'.",
    )
    signature: Signature | None = Field(
        default=None,
        description="Who must have signed the files of that folder; as spec.weights.signature.",
    )

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        """As rules.DRAFT has it, for whoever comes by no API server."""
        own = (self.uri is not None, self.digest is not None)
        if own != ((False, False) if self.from_ is not None else (True, True)):
            raise ValueError("give either from: Target, or uri and digest")
        if self.signature is not None and self.uri is None:
            raise ValueError("from: Target has no signature of its own")
        return self


def proofs(digest: str | None, signature: Signature | None, draft: Draft | None) -> frozenset[str]:
    """`Signature.proof` of each signature that is asked for, where it is known of which weights."""
    pairs = [(digest, signature)]
    if draft is not None:
        pairs.append((draft.digest, draft.signature))
    return frozenset(by.proof(of) for of, by in pairs if of and by is not None)


FROM_TARGET: Final = Draft.model_validate({"from": DraftFrom.TARGET})


class Weights(ApiModel):
    """One content: a revision is exactly this and nothing else."""

    version: Annotated[str, Field(max_length=63, pattern=VERSION_PATTERN)] = Field(
        description="What the engine will report. Label-safe; 'default' is the engine's own label "
        "at birth and is refused. Bound to one digest for ever."
    )
    uri: Annotated[str, Field(max_length=2048, pattern=URI_PATTERN)] = Field(
        description="Folder with the safetensors checkpoint, as the agents see it, such as "
        "file:///models/chat/step-1200/ or s3://models/chat/step-1200/; also gs://, az://, https:// "
        "and hf://. Credentials are the agents' own and never part of it."
    )
    digest: Annotated[str, Field(pattern=DIGEST_PATTERN, max_length=71)] | None = Field(
        default=None,
        description="Printed by 'kubectl weightrollout digest PATH'. Absent: one pod stages first "
        "and what it finds is pinned for all.",
    )
    metadata: Metadata = Field(
        default=Metadata.REQUIRE,
        description="What follows where generation_config.json or a chat template is not the one "
        "that the engine was started with, which reads them only then. Require: the weights are "
        "refused. Ignore: they are swapped in and the engine keeps its own.",
    )
    draft: Draft | None = Field(
        default=None,
        description="Weights of the engine's speculative draft. Absent: those in the same "
        "checkpoint where it holds them, else the draft stays as it is (DraftStale), which costs "
        "speed and never correctness.",
    )
    signature: Signature | None = Field(
        default=None,
        description="Who must have signed the files. Checked on the bytes that each agent stages, "
        "before any pause. Absent: nobody.",
    )


class Staging(ApiModel):
    """Reading weights onto the pods while they serve."""

    max_concurrent: IntOrPercent = Field(
        default="10%",
        description="Pods that stage at the same time; rounds down, at least 1.",
    )
    keep_last_good: bool = Field(
        default=True, description="Keep the image of the loaded weights, for an instant undo."
    )
    max_bytes_per_second: ByteRate | None = Field(
        default=None,
        description="Read at most so many bytes per second from the source, each agent for itself: "
        "100Mi, or a whole number. Absent: as fast as they come. A change holds for stagings that run.",
    )


class Swap(ApiModel):
    """How one pod exchanges its weights."""

    take_out: TakeOut = Field(
        default=TakeOut.ENDPOINT,
        description="Endpoint: the pod leaves its endpoints before the swap. None: it stays and "
        "requests wait through the pause.",
    )
    settle_seconds: Annotated[int, Field(ge=0, le=600)] = Field(
        default=2, description="Seconds to wait after Ready=False was observed."
    )
    drain_seconds: Annotated[int, Field(ge=0, le=3600)] = Field(
        default=60,
        description="Longest time to let running requests finish before the pause.",
    )
    pause_mode: PauseMode = Field(
        default=PauseMode.KEEP,
        description="What happens to requests that are still running: Keep freezes them and they "
        "go on with the new weights; Abort ends them; GiveUp pauses nothing, puts the pod back, and "
        "tries again later.",
    )
    clear_cache: bool = Field(
        default=True,
        description="Drop the KV cache in the pause. False lets old keys and values meet new weights.",
    )


class Pause(ApiModel):
    """A step that waits: for a person, or for a time."""

    duration_seconds: Annotated[int, Field(ge=1, le=604800)] | None = Field(
        default=None,
        description="Absent: until 'kubectl weightrollout promote NAME'. The time counts while at "
        "least one pod serves the new version, and starts again with a new leader.",
    )


class Step(ApiModel):
    """One level of a canary: exactly one kind."""

    updated: IntOrPercent | None = Field(
        default=None,
        description="Pods that serve the new version before the next step begins, and the most "
        "that may; a percentage rounds up. One that is lower than an earlier one changes nothing: no "
        "pod goes back for a step.",
    )
    pause: Pause | None = Field(
        default=None, description="Wait: {} for a person, {durationSeconds: 300} for a time."
    )

    analysis: Analysis | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        """As rules.STEP has it, for whoever comes by no API server."""
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"{ONE_KIND}, got {len(given)} of them")
        return self


class Strategy(ApiModel):
    """How the fleet moves."""

    max_unavailable: IntOrPercent = Field(
        default="25%",
        description="Most pods out of service because of us; rounds down, at least 1. Soaking "
        "pods count.",
    )
    max_failed: IntOrPercent = Field(
        default="10%",
        description="Most pods that may fail for good before the revision is rejected; rounds "
        "down, may be 0.",
    )
    prove_first: bool = Field(
        default=True,
        description="The first pod of a new digest swaps alone and must verify before others start.",
    )
    soak_seconds: Annotated[int, Field(ge=0, le=86400)] = Field(
        default=0, description="How long a swapped pod counts as unavailable after it is Ready."
    )
    supersede: Supersede = Field(
        default=Supersede.IMMEDIATE,
        description="What a newer spec.weights does to a rollout under way. Immediate: the pods that "
        "are left go to the newest at once. AfterComplete: the running one ends first, then the "
        "newest begins; what came in between is skipped.",
    )
    ignore_pdb: bool = Field(
        default=False,
        alias="ignorePDB",
        description="True: PodDisruptionBudgets are not asked. False: a serving pod is taken out of its "
        "endpoints only while each one that selects it allows a disruption.",
    )
    steps: Annotated[tuple[Step, ...], Field(max_length=MAX_STEPS)] = Field(
        default=(),
        description="Canary: levels that a new version goes through one after the other. Empty: "
        "straight through. A version that the whole fleet verified before goes straight back.",
    )


class Expect(ApiModel):
    """What a good answer looks like."""

    contains: Annotated[str, Field(min_length=1, max_length=1024)] | None = Field(
        default=None, description="Text that must be in the answer, letter for letter."
    )
    regex: (
        Annotated[str, Field(min_length=1, max_length=MAX_PATTERN), AfterValidator(compilable)]
        | None
    ) = Field(
        default=None,
        description="Regular expression of the RE2 family (no look-around, no back-references) that "
        "must match somewhere in the answer's first 32768 characters; anchor it with ^ and $.",
    )
    token_ids: (
        Annotated[
            tuple[Annotated[int, Field(ge=0, le=MAX_TOKEN_ID)], ...],
            Field(min_length=1, max_length=256),
        ]
        | None
    ) = Field(
        default=None,
        description="Ids of the tokens that the answer must begin with, as the engine's tokenizer "
        "numbers them; at most maxTokens.",
    )

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [each for each in (self.contains, self.regex, self.token_ids) if each is not None]
        if len(given) != 1:
            raise ValueError(f"{ONE_EXPECTATION}, got {len(given)} of them")
        return self


class Prompt(ApiModel):
    """One question the engine must answer before the swap counts."""

    prompt: Annotated[str, Field(min_length=1, max_length=8192)] = Field(
        description="Sent to the engine's completion route, greedy, after it resumed."
    )
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=16, description="Length of the answer that is asked for."
    )
    expect: Expect

    @model_validator(mode="after")
    def _answer_is_long_enough(self) -> Self:
        if self.expect.token_ids is not None and len(self.expect.token_ids) > self.max_tokens:
            raise ValueError("expect.tokenIds are more than maxTokens: raise maxTokens")
        return self


class Verify(ApiModel):
    """Checks of the engine's answers, after the checks of its weights."""

    prompts: Annotated[tuple[Prompt, ...], Field(max_length=16)] = Field(
        default=(), description="Asked one after the other; each must pass."
    )


class Repair(ApiModel):
    """What is tried on a pod that failed."""

    retries: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2,
        description="How often a pod is tried again after an attempt that reached the pause.",
    )
    allow_delete: bool = Field(
        default=False,
        description="True: a pod that is out of service and beyond repair is evicted, one at a time, for "
        "its controller to make another one: its retries are used up, or its engine does not restart. Needs the "
        "chart's rbac.evictPods.",
    )


class WeightRolloutSpec(ApiModel):
    """Desired weights of a fleet and the policy for getting there."""

    profile: Profile = Field(
        default=Profile.SERVING,
        description="Chooses the defaults of fields that name it. Serving: few pods at a time, "
        "out of their endpoints. Training: all pods at once, in place, for a fleet that a trainer "
        "feeds. 'kubectl weightrollout explain NAME' shows what holds.",
    )
    driver: Driver = Field(
        default=Driver.OPERATOR,
        description="Who starts swaps. Operator: pods go to spec.weights. Trainer: a trainer updates them "
        "through the agents' RL routes, and spec.weights is the last version that it has written to a "
        "durable place: only pods out of service that hold nothing but base weights load it.",
    )
    guard: TrainerGuard | None = Field(
        default=None,
        description="What the agents' RL routes ask of a trainer. Strict: an update needs a pause. AutoPause: "
        "one that finds none brings its own. Off: as vLLM, updates while requests run. Absent: what each "
        "agent's flag says.",
    )
    weights: Weights | None = Field(
        default=None,
        description="Absent: nothing is desired and the fleet keeps what is stable; with driver Trainer "
        "new pods wait for the trainer.",
    )
    staging: Staging = Staging()
    swap: Swap = Swap()
    strategy: Strategy = Strategy()
    verify: Verify = Verify()
    on_failure: OnFailure = Field(
        default=OnFailure.ROLLBACK,
        description="What a rejected revision leads to: back to stable, or stop where it is.",
    )
    repair: Repair = Repair()
    pod_deadline_seconds: Annotated[int, Field(ge=10, le=86400)] = Field(
        default=300,
        description="Longest time of one attempt on one pod, from its reservation until it serves "
        "again; staging and engine restarts are not counted.",
    )
    progress_deadline_seconds: Annotated[int, Field(ge=10, le=604800)] = Field(
        default=1800,
        description="Longest time without progress; the clock stops while a person or the "
        "environment holds the rollout.",
    )
    mode: Mode = Field(
        default=Mode.RUN,
        description="Paused: no serving pod is touched. Suspended: the operator starts nothing; running swaps end; an engine that is out of service goes to stable by itself.",
    )
    revision_history_limit: Annotated[int, Field(ge=0, le=MAX_HISTORY)] = Field(
        default=10,
        description="Revisions kept beside those in use: what is desired, what the fleet goes to, can go "
        "back to or serves. What is forgotten is forgotten whole, also that it was rejected.",
    )
