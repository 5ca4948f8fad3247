"""The step of a swap, as status and metrics spell it. Pure."""

from typing import assert_never

from weightrollout.api.swap import SwapPhase
from weightrollout.swap.records import Holds, Source, Step, SwapState


def phase(state: SwapState) -> SwapPhase:
    if state.outcome is not None:
        return SwapPhase.DONE
    if state.source is not Source.TARGET:
        return SwapPhase.UNDOING
    match state.step:
        case Step.INIT | Step.PREPARED | Step.DRAIN if state.holds is Holds.OLD:
            return SwapPhase.DRAINING
        case Step.PAUSE:
            return SwapPhase.PAUSING
        case Step.INIT | Step.PREPARED | Step.DRAIN | Step.CLOSE | Step.START | Step.UPDATE:
            return SwapPhase.TRANSFERRING
        case Step.RECEIPTS:
            return SwapPhase.CHECKING
        case Step.FINISH | Step.LABEL:
            return SwapPhase.FINISHING
        case (
            Step.DRAFT_START
            | Step.DRAFT_UPDATE
            | Step.DRAFT_RECEIPTS
            | Step.DRAFT_FINISH
            | Step.DRAFT_CLOSE
        ):
            return SwapPhase.DRAFTING
        case Step.RESUME:
            return SwapPhase.RESUMING
        case Step.PROMPTS:
            return SwapPhase.VERIFYING
        case _:
            assert_never(state.step)
