"""What is true of each step, whatever the engine: which change it, which only wait, how each failure is named."""

from typing import Final

from weightrollout.swap.records import Step

#: Calls that change the engine: journaled before they are sent.
EFFECTS: Final = frozenset(
    {
        *(Step.PAUSE, Step.CLOSE, Step.START, Step.UPDATE, Step.FINISH, Step.LABEL),
        *(Step.DRAFT_START, Step.DRAFT_UPDATE, Step.DRAFT_FINISH, Step.DRAFT_CLOSE),
        Step.RESUME,
    }
)

REASONS: Final = {
    Step.INIT: "PrepareFailed",
    Step.PREPARED: "PrepareFailed",
    Step.DRAIN: "DrainFailed",
    Step.PAUSE: "PauseFailed",
    Step.CLOSE: "TransferFailed",
    Step.START: "TransferFailed",
    Step.UPDATE: "TransferFailed",
    Step.RECEIPTS: "TransferFailed",
    Step.FINISH: "TransferFailed",
    Step.LABEL: "TransferFailed",
    Step.DRAFT_START: "TransferFailed",
    Step.DRAFT_UPDATE: "TransferFailed",
    Step.DRAFT_RECEIPTS: "TransferFailed",
    Step.DRAFT_FINISH: "TransferFailed",
    Step.DRAFT_CLOSE: "TransferFailed",
    Step.RESUME: "ResumeLost",
    Step.PROMPTS: "VerifyFailed",
}

#: These change nothing while they wait, perhaps for as long as the attempt may take.
WAITS: Final = frozenset({Step.PREPARED, Step.DRAIN})
