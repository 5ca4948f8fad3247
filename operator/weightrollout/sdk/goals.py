"""When a fleet has got where a trainer waits for it, and when it never will. Pure.

Driver     what a wait for a step means
Operator   so many pods are proven to serve it; all of them: the rollout is complete
Trainer    so many pods report it: their agents have read it back from the engines that the trainer updated
"""

import math
from collections.abc import Callable
from typing import Final

from weightrollout.api.spec import Driver
from weightrollout.api.status import Phase
from weightrollout.sdk.errors import Rejected, Superseded
from weightrollout.sdk.state import FleetState
from weightrollout.sdk.versions import at_least, step_of

#: The fleet went back, or stopped.
ENDED: Final = (Phase.ROLLED_BACK, Phase.ROLLING_BACK, Phase.FAILED)


def needed(pods: int | str, of: int) -> int:
    """A goal: percent round up. Raises ValueError."""
    if isinstance(pods, bool) or not isinstance(pods, int):
        text = str(pods)
        if not text.endswith("%") or not text[:-1].isdecimal() or not 0 < int(text[:-1]) <= 100:
            raise ValueError(f"pods must be a number or 1% to 100%; got {pods!r}")
        return math.ceil(int(text[:-1]) * of / 100)
    if pods < 1:
        raise ValueError(f"pods must be at least 1; got {pods}")
    return pods


def is_reported(state: FleetState, pods: int | str, fits: Callable[[str], bool]) -> bool:
    """So many pods say that they hold a version that `fits`. Raises ValueError."""
    return state.reporting(fits) >= needed(pods, state.pods) > 0


def is_there(state: FleetState, run: str, step: int, pods: int | str) -> bool:
    """At this step of the run or a newer one. Raises ValueError."""
    if state.driver is Driver.TRAINER:
        return is_reported(state, pods, lambda version: at_least(run, version, step))
    enough = needed(pods, state.pods)
    if not at_least(run, state.target, step):
        return False
    if enough >= state.pods:
        return state.pods > 0 and state.complete and at_least(run, state.stable, step)
    return state.updated >= enough > 0


def refuse_hopeless(state: FleetState, run: str, step: int) -> None:
    """An older step of this run is no reason: this one may be published yet. Nor is anything in spec.weights
    where a trainer drives, which updates pods whatever it says. Raises Superseded, Rejected."""
    if state.driver is Driver.TRAINER:
        return
    if step_of(run, state.asked) is None:
        raise Superseded(
            "Superseded",
            f"{state.name} is asked for {state.asked or 'nothing'} now: step {step} is not awaited"
            " any more",
            state,
        )
    ended = state.current and state.phase in ENDED and state.asked == state.desired
    if ended and at_least(run, state.desired, step):
        raise Rejected(state.reason or str(state.phase), state.hold or state.message, state)


def how_far(state: FleetState | None, fits: Callable[[str], bool], timeout_s: float) -> str:
    """For a person, when the time was over. `state` None: the fleet was never seen."""
    if state is None:
        return f"the API server did not answer within {timeout_s:g} s"
    if not state.current:
        return f"no operator has looked at it within {timeout_s:g} s: does one run?"
    count = f"{state.reporting(fits)} of {state.pods} pods report it after {timeout_s:g} s"
    return f"{count}: {state.hold or state.message}"
