"""The rules: call x outcome -> read back -> next, one row per case.

A failed call has an unknown outcome, and some good answers are not believed either. So the
engine is read back (which process, paused, version) and what was seen is looked up here:

    what it holds  x  the call  x  its answer  x  what was seen   ->   the next move

Every reachable case matches exactly one row; a test enumerates them. The last column is the
reason; behind it stands how the released engine behaves (vLLM 0.32 and 0.33, tests/contract).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weightrollout.swap.records import Answer, Holds, Step


class Sight(StrEnum):
    """What the read back showed. Labelled: the wanted version, and only a Finish explains it."""

    RESTARTED = "Restarted"
    RUNNING = "Running"
    PAUSED = "Paused"
    RUNNING_LABELLED = "RunningLabelled"
    PAUSED_LABELLED = "PausedLabelled"


class Move(StrEnum):
    GO_ON = "GoOn"  # the call did its work
    SEND_AGAIN = "SendAgain"  # bounded; then Poisoned, for prompts UNDO
    RESUME = "Resume"  # give up, with the old weights
    RUNS_ALREADY = "RunsAlready"  # as after a confirmed Resume
    GIVE_UP_DRAFT = "GiveUpDraft"  # close its session; the weights are whole without it
    LABEL = "Label"  # set the version apart from Finish
    RESEND = "Resend"  # a whole cycle: target once more, then last good, then Poisoned
    UNDO = "Undo"  # pause, last good; Poisoned where there is none
    END_UNTOUCHED = "EndUntouched"
    END_GAVE_UP = "EndGaveUp"
    END_RESTARTED = "EndRestarted"


@dataclass(frozen=True, slots=True)
class Case:
    holds: Holds
    step: Step
    answer: Answer
    sight: Sight


@dataclass(frozen=True, slots=True)
class Row:
    holds: frozenset[Holds]
    steps: frozenset[Step]
    answers: frozenset[Answer]
    sights: frozenset[Sight]
    move: Move
    why: str

    def matches(self, case: Case) -> bool:
        return (
            case.holds in self.holds
            and case.step in self.steps
            and case.answer in self.answers
            and case.sight in self.sights
        )


#: Calls whose good answer is read back as well.
CONFIRMED: Final = frozenset({Step.PAUSE, Step.FINISH, Step.LABEL, Step.DRAFT_CLOSE, Step.RESUME})
#: What goes wrong in these says nothing about the weights.
DRAFT_STEPS: Final = frozenset(
    {
        *(Step.DRAFT_START, Step.DRAFT_UPDATE, Step.DRAFT_RECEIPTS),
        *(Step.DRAFT_FINISH, Step.DRAFT_CLOSE),
    }
)

_OLD, _GONE, _WHOLE = ({each} for each in Holds)
_ANY: Final = set(Answer)
_OK: Final = {Answer.OK}
_FAILED: Final = _ANY - _OK
_WRONG: Final = {Answer.WRONG}
_BUSY: Final = {Answer.BUSY}
_RUNNING: Final = {Sight.RUNNING}
_PAUSED: Final = {Sight.PAUSED}
_UNLABELLED: Final = _RUNNING | _PAUSED
_PREPARE: Final = {Step.INIT, Step.PREPARED}


def _row(when: tuple[set[Holds], set[Step], set[Answer], set[Sight]], move: Move, why: str) -> Row:
    holds, steps, answers, sights = when
    return Row(frozenset(holds), frozenset(steps), frozenset(answers), frozenset(sights), move, why)


ROWS: Final = (
    _row(
        (set(Holds), set(Step), _ANY, {Sight.RESTARTED}),
        Move.END_RESTARTED,
        "another process answers: it holds its base weights, whatever we did to the old one",
    ),
    # -- nothing has changed yet ----------------------------------------------------------
    _row(
        (_OLD, _PREPARE | {Step.DRAIN}, _FAILED - _BUSY, _UNLABELLED),
        Move.END_UNTOUCHED,
        "we have not paused; if it is paused, someone else did it and it is not ours to resume",
    ),
    _row(
        (_OLD, {Step.DRAIN}, _BUSY, _UNLABELLED),
        Move.END_GAVE_UP,
        "we have not paused, and what runs was promised to go on: later, perhaps another pod first",
    ),
    _row((_OLD, {Step.PAUSE}, _OK, _PAUSED), Move.GO_ON, "paused, and confirmed"),
    _row(
        (_OLD, {Step.PAUSE}, _FAILED, _PAUSED),
        Move.RESUME,
        "Pause may fail after it paused (a cache reset): swapping on could serve stale caches",
    ),
    _row(
        (_OLD, {Step.PAUSE}, _ANY, _RUNNING),
        Move.END_UNTOUCHED,
        "it is not paused, whatever it answered",
    ),
    _row(
        (_OLD, {Step.START}, {Answer.REFUSED}, _PAUSED),
        Move.RESUME,
        "Start was not executed: the old weights are whole",
    ),
    _row(
        (_OLD, {Step.START}, {Answer.REFUSED}, _RUNNING),
        Move.END_UNTOUCHED,
        "Start was not executed and someone resumed: the old weights answer",
    ),
    _row(
        (_OLD, {Step.START}, {Answer.UNKNOWN}, _UNLABELLED),
        Move.RESEND,
        "Start may have been executed: the old weights count as gone",
    ),
    _row((_OLD, {Step.RESUME}, _ANY, _RUNNING), Move.END_UNTOUCHED, "it runs as before"),
    _row(
        (_OLD, {Step.RESUME}, _ANY, _PAUSED),
        Move.SEND_AGAIN,
        "still paused, so Resume is safe to repeat",
    ),
    # -- the old weights are gone ---------------------------------------------------------
    _row((_GONE, {Step.PAUSE}, _OK, _PAUSED), Move.GO_ON, "paused, and confirmed"),
    _row(
        (_GONE, {Step.PAUSE}, _FAILED, _PAUSED),
        Move.SEND_AGAIN,
        "its caches may hold keys and values of weights that are leaving",
    ),
    _row(
        (_GONE, {Step.PAUSE}, _ANY, _RUNNING),
        Move.SEND_AGAIN,
        "weights must not change, and half-loaded ones must not answer, while it runs",
    ),
    _row(
        (
            _GONE,
            _PREPARE | {Step.CLOSE, Step.START, Step.UPDATE, Step.RECEIPTS},
            _FAILED,
            _UNLABELLED,
        ),
        Move.RESEND,
        "half-loaded: only a whole cycle makes it whole",
    ),
    _row(
        (_GONE, {Step.FINISH, Step.LABEL}, _ANY, {Sight.PAUSED_LABELLED}),
        Move.GO_ON,
        "the label is set only after a finished update",
    ),
    _row(
        (_GONE, {Step.FINISH, Step.LABEL}, _ANY, {Sight.RUNNING_LABELLED}),
        Move.RESEND,
        "whole, but it was resumed since the pause: its caches may be of weights that left since,"
        " and only another pause drops them",
    ),
    _row(
        (_GONE, {Step.FINISH}, {Answer.UNLABELLED}, _PAUSED),
        Move.LABEL,
        "Finish was executed, its label was not: setting it needs no new transfer",
    ),
    _row(
        (_GONE, {Step.FINISH}, {Answer.UNLABELLED}, _RUNNING),
        Move.RESEND,
        "it was resumed since the pause: its caches may be of weights that left since",
    ),
    _row(
        (_GONE, {Step.FINISH}, _ANY - {Answer.UNLABELLED}, _UNLABELLED),
        Move.RESEND,
        "nothing proves that Finish was executed, also where it was answered well",
    ),
    _row(
        (_GONE, {Step.LABEL}, _ANY, _UNLABELLED),
        Move.RESEND,
        "an engine that will not say the version cannot be counted",
    ),
    # -- whole again ----------------------------------------------------------------------
    _row(
        (_WHOLE, set(DRAFT_STEPS) - {Step.DRAFT_CLOSE}, _FAILED, _UNLABELLED),
        Move.GIVE_UP_DRAFT,
        "an old or torn draft costs speed only; a session left open would spoil the next swap",
    ),
    _row(
        (_WHOLE, {Step.DRAFT_CLOSE}, _ANY, _PAUSED),
        Move.GO_ON,
        "its session is closed, whatever it answered; one whose Close was lost is closed by the next"
        " swap",
    ),
    _row(
        (_WHOLE, {Step.DRAFT_CLOSE}, _ANY, _RUNNING),
        Move.RUNS_ALREADY,
        "someone resumed it, with whole weights: nothing is left to resume",
    ),
    _row((_WHOLE, {Step.RESUME}, _ANY, _RUNNING), Move.GO_ON, "it runs"),
    _row(
        (_WHOLE, {Step.RESUME}, _ANY, _PAUSED),
        Move.SEND_AGAIN,
        "still paused, so Resume is safe to repeat",
    ),
    _row(
        (_WHOLE, {Step.PROMPTS}, _WRONG, _UNLABELLED),
        Move.UNDO,
        "loaded as staged, and wrong: the weights themselves are at fault",
    ),
    _row(
        (_WHOLE, {Step.PROMPTS}, _FAILED - _WRONG, _RUNNING),
        Move.SEND_AGAIN,
        "no answer is not a wrong answer",
    ),
    _row(
        (_WHOLE, {Step.PROMPTS}, _FAILED - _WRONG, _PAUSED),
        Move.UNDO,
        "someone paused it: it cannot be verified",
    ),
)


def row_for(case: Case) -> Row:
    """The one row of a reachable case. LookupError means that the machine has a hole."""
    for row in ROWS:
        if row.matches(case):
            return row
    raise LookupError(f"swap table: no row for {case}")
