"""Decide the next call of a swap.

In: a state, an event, and whether time is up. Out: the next state, whose `todo` is the command.
Never awaits, reads a clock or talks to anyone, so a journaled state can be continued by another
process: a crash is a call with an unknown outcome (`recover`).

    Init Prepared Drain | Pause Start Update Receipts Finish Resume | Prompts      goes well
                        '-- Close Init Prepared Start ...                        sent again
                                                    Prompts -> Pause Close Init ...   undone

An engine with a speculative draft has a second session between Finish and Resume. The weights are
whole by then, so whatever goes wrong in it gives up the draft and nothing else:

    Finish DraftStart DraftUpdate DraftReceipts DraftFinish Resume                 goes well
                                        '-- DraftClose Resume                     given up
"""

from dataclasses import replace
from enum import StrEnum
from typing import Final, assert_never

from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.swap.events import Answered, Blind, Event, Failed, Saw, Time
from weightrollout.swap.records import (
    Answer,
    Failure,
    Holds,
    Source,
    Step,
    SwapRequest,
    SwapState,
)
from weightrollout.swap.table import CONFIRMED, DRAFT_STEPS, Case, Move, Sight, row_for

#: Cycles per source: a transient failure deserves a second try, a third only lengthens the pause.
MAX_TRIES: Final = 2
#: Times that one call is sent in a row.
MAX_SENDS: Final = 3


#: What is said when a good answer is not believed.
UNCONFIRMED: Final = {
    Step.PAUSE: Failure(
        FailureClass.POD, "PauseNotConfirmed", "Pause was answered, but the engine is not paused"
    ),
    Step.RESUME: Failure(
        FailureClass.POD, "ResumeLost", "Resume was answered, but the engine is still paused"
    ),
    Step.FINISH: Failure(
        FailureClass.POD, "VersionNotConfirmed", "Finish was answered, but the version is another"
    ),
    Step.LABEL: Failure(
        FailureClass.POD, "VersionNotConfirmed", "the version was set, but another is reported"
    ),
}
#: Reason of a swap that was given up because its engine is about to be ended.
LEAVING: Final = "PodLeaving"
RESUMED: Final = Failure(
    FailureClass.POD, "EngineResumed", "the engine was resumed in mid-swap, by itself or by others"
)


class Todo(StrEnum):
    CALL = "Call"  # send `state.step`
    LOOK = "Look"  # read back: GetServerInfo, IsPaused, GetWeightVersion
    END = "End"


def begin(request: SwapRequest, instance: str) -> SwapState:
    return SwapState(request=request, instance=instance)


def todo(state: SwapState) -> Todo:
    if state.outcome is not None:
        return Todo.END
    return Todo.CALL if state.looking is None else Todo.LOOK


def recover(state: SwapState) -> SwapState:
    """Continue after a crash: the journaled call may have been sent, in part or whole."""
    if todo(state) is not Todo.CALL:
        return state
    restarted = Failure(
        FailureClass.POD, "AgentRestarted", f"the agent restarted around {state.step}"
    )
    return replace(_blame(state, restarted), looking=Answer.UNKNOWN)


def advance(state: SwapState, event: Event, time: Time) -> SwapState:
    match event:
        case Answered():
            if state.step in CONFIRMED:
                return replace(state, looking=Answer.OK)
            return _go_on(state, time)
        case Failed(failure=failure, answer=answer):
            if state.step is Step.CLOSE:  # there was no session to close
                return _go_on(state, time)
            if state.step is Step.DRAFT_CLOSE:  # nor here; but does the engine still wait?
                return replace(state, looking=answer)
            return replace(_blame(state, failure), looking=answer)
        case Saw():
            return _saw(state, event, time)
        case Blind(message=message):
            return _blind(state, message, time)
        case _:
            assert_never(event)


def _saw(state: SwapState, saw: Saw, time: Time) -> SwapState:
    assert state.looking is not None, "read back without a question"
    case = Case(state.holds, state.step, state.looking, _sight(state, state.looking, saw))
    move = row_for(case).move
    state = replace(state, looking=None)
    if case.answer is Answer.OK and _is_doubted(state.step, move):
        resumed = case.sight is Sight.RUNNING_LABELLED
        state = _blame(state, RESUMED if resumed else UNCONFIRMED[state.step])
    if state.step not in (Step.FINISH, Step.LABEL):
        state = replace(state, version_before=saw.version)
    return _apply(state, move, case, time)


def _is_doubted(step: Step, move: Move) -> bool:
    """What was seen contradicts a good answer."""
    if step is Step.PAUSE and move is Move.END_UNTOUCHED:
        return True
    return move in (Move.SEND_AGAIN, Move.RESEND)


def _sight(state: SwapState, answer: Answer, saw: Saw) -> Sight:
    if saw.instance != state.instance:
        return Sight.RESTARTED
    if _labelled(state, answer, saw.version):
        return Sight.PAUSED_LABELLED if saw.paused else Sight.RUNNING_LABELLED
    return Sight.PAUSED if saw.paused else Sight.RUNNING


def _labelled(state: SwapState, answer: Answer, version: str) -> bool:
    """Whether the version read back proves a Finish.

    After a failed Finish it proves nothing if the engine said the same version before.
    """
    if state.content is None or version != state.content.version:
        return False
    match state.step:
        case Step.FINISH:
            return answer is Answer.OK or state.version_before != version
        case Step.LABEL:
            return True
        case _:
            return False


def _apply(state: SwapState, move: Move, case: Case, time: Time) -> SwapState:
    paused = case.sight in (Sight.PAUSED, Sight.PAUSED_LABELLED)
    match move:
        case Move.GO_ON:
            return _go_on(state, time)
        case Move.SEND_AGAIN:
            return _send_again(state)
        case Move.RESUME:
            return _send(state, Step.RESUME)
        case Move.RUNS_ALREADY:
            return _go_on(replace(state, step=Step.RESUME), time)
        case Move.GIVE_UP_DRAFT:
            return _send(state, Step.DRAFT_CLOSE)
        case Move.LABEL:
            return _send(state, Step.LABEL)
        case Move.RESEND:
            return _resend(state, time, paused=paused)
        case Move.UNDO:
            return _undo(state)
        case Move.END_UNTOUCHED:
            return _end(state, Outcome.UNTOUCHED)
        case Move.END_GAVE_UP:
            return _end(state, Outcome.GAVE_UP)
        case Move.END_RESTARTED:
            return _end_restarted(state)
        case _:
            assert_never(move)


def _go_on(state: SwapState, time: Time) -> SwapState:
    """`state.step` has done its work."""
    late = time is not Time.IN_TIME
    if late and state.holds is Holds.OLD and state.step is not Step.START:
        return _give_up(state, time)
    match state.step:
        case Step.INIT:
            return _send(state, Step.PREPARED)
        case Step.PREPARED:
            return _send(state, Step.DRAIN if state.holds is Holds.OLD else Step.START)
        case Step.DRAIN:
            return replace(_send(state, Step.PAUSE), pause_sent=True)
        case Step.PAUSE:
            return _paused(state)
        case Step.CLOSE:
            return _send(state, Step.INIT)
        case Step.START:
            return replace(_send(state, Step.UPDATE), holds=Holds.GONE)
        case Step.UPDATE:
            return _send(state, Step.RECEIPTS)
        case Step.RECEIPTS:
            return _send(state, Step.FINISH)
        case Step.FINISH | Step.LABEL:
            return _whole(replace(state, holds=Holds.WHOLE), late=late)
        case Step.DRAFT_START:
            return _send(state, Step.DRAFT_UPDATE)
        case Step.DRAFT_UPDATE:
            return _send(state, Step.DRAFT_RECEIPTS)
        case Step.DRAFT_RECEIPTS:
            return _send(state, Step.DRAFT_FINISH)
        case Step.DRAFT_FINISH | Step.DRAFT_CLOSE:
            return _send(state, Step.RESUME)
        case Step.RESUME if state.source is Source.TARGET:
            return _send(state, Step.PROMPTS)
        case Step.RESUME:  # last good was verified when it was new
            return _end(state, Outcome.UNDONE)
        case Step.PROMPTS:
            return _end(state, Outcome.COMMITTED)
        case _:
            assert_never(state.step)


def _whole(state: SwapState, *, late: bool) -> SwapState:
    """The weights are committed; their draft follows where there is one and time is left."""
    draft = state.draft
    if draft is None or not draft.digest:
        return _send(state, Step.RESUME)
    if late and state.source is Source.TARGET:
        message = f"no time was left of {state.request.deadline_s:g} s"
        failure = Failure(FailureClass.POD, "PodDeadlineExceeded", message)
        return _send(replace(state, draft_failure=failure), Step.RESUME)
    return _send(state, Step.DRAFT_START)


def _paused(state: SwapState) -> SwapState:
    if state.holds is Holds.OLD:
        return _send(state, Step.START)
    if state.source is Source.NOTHING:
        return _end(state, Outcome.POISONED)
    return _send(state, Step.CLOSE)


def may_be_left(state: SwapState) -> bool:
    """No Start was sent: it can end with what the engine held before."""
    return state.holds is Holds.OLD and state.step is not Step.START


def _give_up(state: SwapState, time: Time) -> SwapState:
    late = f"not started within {state.request.deadline_s:g} s, given up after {state.step}"
    failure = Failure(FailureClass.POD, "PodDeadlineExceeded", late)
    if time is Time.LEAVING:
        left = f"the engine is about to be ended, given up after {state.step}"
        failure = Failure(FailureClass.ENVIRONMENT, LEAVING, left)
    state = _blame(state, failure)
    if state.step is Step.PAUSE:
        return _send(state, Step.RESUME)
    return _end(state, Outcome.UNTOUCHED)


def _send_again(state: SwapState) -> SwapState:
    if state.sends < MAX_SENDS:
        return replace(state, sends=state.sends + 1)
    if state.step is Step.PROMPTS:
        return _undo(state)
    return _end(state, Outcome.POISONED)


def _resend(state: SwapState, time: Time, *, paused: bool) -> SwapState:
    """Start a new cycle with what deserves it, or end as Poisoned when nothing is left."""
    late_target = state.source is Source.TARGET and time is not Time.IN_TIME
    if state.tries < MAX_TRIES and not late_target:
        state = replace(state, tries=state.tries + 1)
    else:
        state = replace(state, source=_fallback(state), tries=1)
    state = replace(state, cycle=state.cycle + 1, holds=Holds.GONE, draft_failure=None)
    return _paused(state) if paused else _send(state, Step.PAUSE)


def _undo(state: SwapState) -> SwapState:
    """The target is whole but must not answer: pause at once, also to drop its caches."""
    state = replace(
        state,
        source=_fallback(state),
        tries=1,
        cycle=state.cycle + 1,
        holds=Holds.GONE,
        draft_failure=None,
    )
    return _send(state, Step.PAUSE)


def _fallback(state: SwapState) -> Source:
    if state.source is Source.TARGET and state.request.last_good is not None:
        return Source.LAST_GOOD
    return Source.NOTHING


def _blind(state: SwapState, message: str, time: Time) -> SwapState:
    lost = Failure(FailureClass.POD, "EngineUnreachable", message)
    if not state.pause_sent:
        busy = state.looking is Answer.BUSY  # its requests are gone with it
        return _end(_blame(state, lost) if busy else state, Outcome.UNTOUCHED)
    if time is not Time.OVER:
        return state
    # It may be paused and nobody can say what it holds: out, until a restart.
    return _end(_blame(state, lost), Outcome.POISONED)


def _send(state: SwapState, step: Step) -> SwapState:
    return replace(state, step=step, sends=1)


def _end(state: SwapState, outcome: Outcome) -> SwapState:
    failure = None if outcome is Outcome.COMMITTED else state.failure
    return replace(state, outcome=outcome, looking=None, failure=failure)


def _end_restarted(state: SwapState) -> SwapState:
    restarted = Failure(
        FailureClass.POD, "EngineRestarted", f"the engine restarted around {state.step}"
    )
    return _end(_blame(state, restarted), Outcome.RESTARTED)


def _blame(state: SwapState, failure: Failure) -> SwapState:
    """Keep why the target was given up; what fails on the way back is added to its message."""
    if state.step in DRAFT_STEPS:
        return replace(state, draft_failure=state.draft_failure or failure)
    first = state.failure
    giving_up = state.holds is Holds.OLD and state.step is Step.RESUME
    if first is None or (state.source is Source.TARGET and not giving_up):
        return replace(state, failure=failure)
    added = f"; then {failure.reason}: {failure.message}"
    if added in first.message:
        return state
    return replace(state, failure=replace(first, message=first.message + added))
