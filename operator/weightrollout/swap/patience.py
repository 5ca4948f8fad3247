"""How long the driver waits for an engine, in seconds. One place, so that a whole set can be given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from weightrollout.swap.records import Step

#: Longest wait for one call. Updates and Prepared take what the attempt has left.
CALL_S: Final[Mapping[Step, float]] = MappingProxyType(
    {
        Step.INIT: 10.0,
        Step.PAUSE: 30.0,  # waits for the engine step that runs
        Step.CLOSE: 30.0,
        Step.START: 30.0,
        Step.FINISH: 60.0,  # post-processing of what is not copied in place
        Step.LABEL: 10.0,
        Step.DRAFT_START: 30.0,
        Step.DRAFT_FINISH: 60.0,
        Step.DRAFT_CLOSE: 30.0,
        Step.RESUME: 30.0,
        Step.PROMPTS: 60.0,  # each
    }
)


@dataclass(frozen=True, slots=True)
class Patience:
    """The defaults are for engines of any size; shorter ones give up on a hung engine sooner."""

    call_s: Mapping[Step, float] = field(default_factory=lambda: CALL_S)
    #: GetServerInfo is answered at once also in mid-update; IsPaused waits behind an update.
    info_s: float = 2.0
    read_back_s: float = 10.0
    #: How often an engine that prepares is asked whether it is still there.
    alive_every_s: float = 1.0
    #: How long after the deadline an engine that cannot be read back is waited for.
    grace_s: float = 30.0
    #: A call is given this much even when the attempt has less left.
    least_s: float = 1.0
