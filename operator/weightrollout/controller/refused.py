"""The status of a WeightRollout whose spec this operator cannot read.

The planner never sees it, so this is the one status that is made elsewhere: what was known stays as it
was said last, and the conditions say what to correct. No serving pod is touched meanwhile.
"""

from typing import Final

from weightrollout.api.conditions import ConditionType
from weightrollout.api.status import Condition, Phase, WeightRolloutStatus

INVALID_SPEC: Final = "InvalidSpec"


def refused_status(
    last: WeightRolloutStatus, generation: int, epoch: int, message: str, wall: str
) -> WeightRolloutStatus:
    """`message` names the field. `wall` becomes the transition time of what really changed."""
    known = {each.type: each for each in last.conditions}

    def condition(kind: ConditionType, status: str, text: str) -> Condition:
        before = known.get(kind)
        since = before.last_transition_time if before and before.status == status else wall
        return Condition(
            type=kind.value,
            status=status,
            reason=INVALID_SPEC,
            message=text,
            last_transition_time=since,
            observed_generation=generation,
        )

    unknown = "not judged while the spec cannot be read"
    return last.model_copy(
        update={
            "observed_generation": generation,
            "epoch": epoch,
            "phase": Phase.FAILED,
            "message": message[:1024],
            "hold": None,
            "conditions": (
                condition(ConditionType.READY, "False", message),
                condition(ConditionType.RECONCILING, "False", message),
                condition(ConditionType.STALLED, "True", message),
                condition(ConditionType.AVAILABLE, "Unknown", unknown),
                condition(ConditionType.ROLLBACK_READY, "Unknown", unknown),
            ),
        }
    )
