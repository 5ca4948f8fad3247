"""The swap table has exactly one row for every case that can be reached, and no idle row."""

from collections.abc import Iterator

import pytest

from weightrollout.swap.records import Answer, Holds, Step
from weightrollout.swap.table import CONFIRMED, DRAFT_STEPS, ROWS, Case, Move, Sight, row_for

UNLABELLED = (Sight.RESTARTED, Sight.RUNNING, Sight.PAUSED)
CALLS = {
    Holds.OLD: (Step.INIT, Step.PREPARED, Step.DRAIN, Step.PAUSE, Step.START, Step.RESUME),
    Holds.GONE: (
        *(Step.PAUSE, Step.CLOSE, Step.INIT, Step.PREPARED, Step.START),
        *(Step.UPDATE, Step.RECEIPTS, Step.FINISH, Step.LABEL),
    ),
    Holds.WHOLE: (
        *(Step.DRAFT_START, Step.DRAFT_UPDATE, Step.DRAFT_RECEIPTS),
        *(Step.DRAFT_FINISH, Step.DRAFT_CLOSE, Step.RESUME, Step.PROMPTS),
    ),
}
CHECKS = (Step.PREPARED, Step.RECEIPTS, Step.DRAFT_RECEIPTS, Step.PROMPTS)


def answers(step: Step) -> Iterator[Answer]:
    """Which answers of this call lead to a read back."""
    if step in CONFIRMED:
        yield Answer.OK
    yield from (Answer.REFUSED, Answer.UNKNOWN)
    if step in CHECKS:
        yield Answer.WRONG
    if step is Step.DRAIN:
        yield Answer.BUSY
    if step is Step.FINISH:
        yield Answer.UNLABELLED


def reachable() -> Iterator[Case]:
    for holds, steps in CALLS.items():
        for step in steps:
            labels = step in (Step.FINISH, Step.LABEL)
            for answer in answers(step):
                for sight in tuple(Sight) if labels else UNLABELLED:
                    yield Case(holds, step, answer, sight)


@pytest.mark.parametrize("case", list(reachable()), ids=str)
def test_case_has_exactly_one_row(case: Case) -> None:
    assert len([row for row in ROWS if row.matches(case)]) == 1


def test_no_row_is_idle() -> None:
    used = {ROWS.index(row_for(case)) for case in reachable()}
    assert used == set(range(len(ROWS)))


def test_nothing_half_loaded_is_ever_resumed() -> None:
    moves = {row_for(case).move for case in reachable() if case.holds is Holds.GONE}
    assert Move.RESUME not in moves
    proven = {
        case.sight
        for case in reachable()
        if case.holds is Holds.GONE
        and case.step is not Step.PAUSE
        and row_for(case).move is Move.GO_ON
    }
    assert proven == {Sight.PAUSED_LABELLED}


def test_no_trouble_with_a_draft_touches_the_weights() -> None:
    moves = {row_for(case).move for case in reachable() if case.step in DRAFT_STEPS}
    harmless = {Move.GIVE_UP_DRAFT, Move.GO_ON, Move.RUNS_ALREADY, Move.END_RESTARTED}
    assert moves == harmless


def test_unreachable_case_is_a_hole_and_not_a_guess() -> None:
    with pytest.raises(LookupError, match="no row"):
        row_for(Case(Holds.WHOLE, Step.START, Answer.UNKNOWN, Sight.PAUSED))
