"""Why an engine is given no other weights now, whatever they are."""

from weightrollout.agent.engine_watch import EngineSight
from weightrollout.agent.reasons import RefusalReason, Refused
from weightrollout.agent.state import Board, leaving, refusal
from weightrollout.api.swap import FailureClass


def refuse_unfit(board: Board, sight: EngineSight) -> None:
    """Raises Refused."""
    if leaving(board, sight):
        raise _passing(RefusalReason.LEAVING, "the engine is about to be ended")
    unfit = refusal(board, sight)
    if unfit is not None and unfit.reason == RefusalReason.CONTROL_PORT_EXPOSED:
        raise _passing(RefusalReason.CONTROL_PORT_EXPOSED, unfit.message)
    if unfit is not None:
        raise Refused(unfit.reason, unfit.message)
    if board.exposed is not None and board.exposed.instance != sight.instance:
        raise _passing(
            RefusalReason.CONTROL_PORT_EXPOSED,
            "whether strangers reach the control port of this engine is not known yet",
        )


def _passing(reason: RefusalReason, message: str) -> Refused:
    """It says nothing about the weights or the pod."""
    return Refused(reason, message, failure_class=FailureClass.ENVIRONMENT)
