"""What a transaction is asked, what it knows, and what can happen to it. Plain data.

Everything here is journaled as JSON, so a field is added with a default and never changes its
meaning.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import FiniteFloat

from weightrollout.api.names import BASELINE_VERSION
from weightrollout.api.signature import Signature
from weightrollout.api.spec import Draft, Metadata, PauseMode, Prompt, proofs
from weightrollout.api.swap import FailureClass, Outcome


@dataclass(frozen=True, slots=True)
class Content:
    """One set of weights. Without a digest are the baseline, which is what an engine starts with, and what a
    trainer sent into it."""

    revision: str
    version: str
    uri: str = ""
    digest: str = ""  # "sha256:<64 hex>"
    metadata: Metadata = Metadata.REQUIRE
    draft: Draft | None = None  # as spec.weights.draft says it
    signature: Signature | None = None  # as spec.weights.signature says it

    @property
    def is_baseline(self) -> bool:
        return not self.digest and self.version == BASELINE_VERSION

    def same_weights(self, other: "Content") -> bool:
        """Revisions may be recorded twice; what is loaded is a digest under a version.

        The draft is left out: an old one costs speed, and takes no pod out of service.
        """
        return (self.digest, self.version) == (other.digest, other.version)

    @property
    def draft_digest(self) -> str:
        """Of the checkpoint that a draft would come from; "" for the baseline."""
        own = self.draft.digest if self.draft is not None else None
        return own or self.digest

    @property
    def proofs(self) -> frozenset[str]:
        """Of the signatures that must have been found on its weights."""
        return proofs(self.digest, self.signature, self.draft)

    @property
    def digests(self) -> frozenset[str]:
        """Of all checkpoints whose images it needs."""
        return frozenset({self.digest, self.draft_digest} - {""})


BASELINE: Final = Content(revision="baseline", version=BASELINE_VERSION)


@dataclass(frozen=True, slots=True)
class DraftLoad:
    """What becomes of the engine's speculative draft when a content is loaded."""

    method: str  # of speculation, as the engine reports it
    digest: str = ""  # of the checkpoint that it is loaded from; "": it is left as it is


@dataclass(frozen=True, slots=True)
class SwapRequest:
    txn: str
    attempt: int
    target: Content
    last_good: Content | None  # what to go back to in place; None: only the baseline was there
    pause_mode: PauseMode
    clear_cache: bool
    drain_s: FiniteFloat
    deadline_s: FiniteFloat
    prompts: tuple[Prompt, ...]
    target_draft: DraftLoad | None = None  # None: the engine has no draft
    last_good_draft: DraftLoad | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    failure_class: FailureClass
    reason: str  # CamelCase, stable
    message: str


class Step(StrEnum):
    """One call, named for what it asks. The order is that of a swap that goes well."""

    INIT = "Init"  # hand the image to the plugin
    PREPARED = "Prepared"  # wait until every rank can copy
    DRAIN = "Drain"
    PAUSE = "Pause"
    CLOSE = "Close"  # Finish without a version: ends a session that may be open; answer ignored
    START = "Start"
    UPDATE = "Update"
    RECEIPTS = "Receipts"
    FINISH = "Finish"
    LABEL = "Label"  # UpdateWeightVersion
    DRAFT_START = "DraftStart"
    DRAFT_UPDATE = "DraftUpdate"
    DRAFT_RECEIPTS = "DraftReceipts"
    DRAFT_FINISH = "DraftFinish"  # without a version: the label is the target's
    DRAFT_CLOSE = "DraftClose"  # gives a failed draft up: ends a session that may be open
    RESUME = "Resume"
    PROMPTS = "Prompts"


class Holds(StrEnum):
    """What the engine is known to hold."""

    OLD = "Old"  # what it held before
    GONE = "Gone"  # a Start may have been sent: half-loaded until proven otherwise
    WHOLE = "Whole"  # receipts proven and Finish confirmed for `source`


class Source(StrEnum):
    """What is being loaded."""

    TARGET = "Target"
    LAST_GOOD = "LastGood"
    NOTHING = "Nothing"  # nothing is left to try: make sure it is paused, then Poisoned


class Answer(StrEnum):
    """How a call ended, by what it means for the engine."""

    OK = "Ok"
    REFUSED = "Refused"  # it was not executed
    UNKNOWN = "Unknown"  # it may have been executed, or still be running
    WRONG = "Wrong"  # a check was made and says no
    BUSY = "Busy"  # Drain: requests still run, and pauseMode GiveUp leaves them alone
    UNLABELLED = (
        "Unlabelled"  # Finish: the weights are final, and the engine could not set the version
    )


@dataclass(frozen=True, slots=True)
class SwapState:
    """All that the machine knows. `step` with `looking` None is the call to send next."""

    request: SwapRequest
    instance: str  # the engine process that this transaction belongs to
    step: Step = Step.INIT
    holds: Holds = Holds.OLD
    source: Source = Source.TARGET
    cycle: int = 1  # every Init..Finish has its own number, hence its own receipts
    tries: int = 1  # cycles with this source
    sends: int = 1  # times that `step` was sent in a row
    pause_sent: bool = False
    version_before: str = ""  # read back before the newest Start
    looking: Answer | None = None  # the answer of `step`, while the engine is read back
    failure: Failure | None = None
    outcome: Outcome | None = None
    draft_failure: Failure | None = None  # the weights are whole; their draft was given up

    @property
    def txn(self) -> str:
        return self.request.txn

    @property
    def content(self) -> Content | None:
        """What is being loaded now."""
        if self.source is Source.TARGET:
            return self.request.target
        return self.request.last_good if self.source is Source.LAST_GOOD else None

    @property
    def draft(self) -> DraftLoad | None:
        """What becomes of the draft in this cycle; None: the engine has none."""
        if self.source is Source.TARGET:
            return self.request.target_draft
        return self.request.last_good_draft if self.source is Source.LAST_GOOD else None

    @property
    def transfer_id(self) -> str:
        """Names one cycle towards the plugin: an old receipt can never prove a later cycle."""
        return self.txn if self.cycle == 1 else f"{self.txn}~{self.cycle}"

    @property
    def maybe_touched(self) -> bool:
        """The engine may hold other weights than before: a Start may have reached it."""
        return self.holds is not Holds.OLD or self.step is Step.START
