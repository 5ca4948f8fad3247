"""The decisions a reader would ask about first, one each."""

from dataclasses import replace

from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import FailureClass, Outcome, SwapPhase
from weightrollout.swap.book import degraded
from weightrollout.swap.events import Answered, Blind, Event, Failed, Saw, Time
from weightrollout.swap.machine import advance, begin, recover
from weightrollout.swap.phases import phase
from weightrollout.swap.records import (
    Answer,
    Content,
    DraftLoad,
    Failure,
    Holds,
    Step,
    SwapRequest,
    SwapState,
)

OLD = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
NEW = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
OK = Answered()


def request(last_good: Content | None = OLD) -> SwapRequest:
    return SwapRequest("txn", 1, NEW, last_good, PauseMode.KEEP, True, 1.0, 10.0, ())


def failed(answer: Answer = Answer.UNKNOWN, reason: str = "TransferFailed") -> Failed:
    return Failed(answer, Failure(FailureClass.POD, reason, "scripted"))


def wrong(reason: str) -> Failed:
    return Failed(Answer.WRONG, Failure(FailureClass.WEIGHTS, reason, "scripted"))


def saw(*, paused: bool, version: str = "v1", instance: str = "engine-1") -> Saw:
    return Saw(instance, paused, version)


def play(*events: Event, last_good: Content | None = OLD, time: Time = Time.IN_TIME) -> SwapState:
    return on(begin(request(last_good), "engine-1"), *events, time=time)


def on(state: SwapState, *events: Event, time: Time = Time.IN_TIME) -> SwapState:
    for event in events:
        state = advance(state, event, time)
    return state


def with_draft(*events: Event, digest: str = NEW.digest) -> SwapState:
    """From the confirmed Finish of the target on: the next call is DraftStart."""
    drafts = (DraftLoad("mtp", digest), DraftLoad("mtp", OLD.digest))
    asked = replace(request(), target_draft=drafts[0], last_good_draft=drafts[1])
    committed = saw(paused=True, version="v2")
    return on(begin(asked, "engine-1"), *TO_FINISH, OK, committed, *events)


PAUSED = saw(paused=True)
#: Init, Prepared, Drain, Pause and its confirmation: the next call is Start.
TO_START = (OK, OK, OK, OK, PAUSED)
#: The next call is Finish.
TO_FINISH = (*TO_START, OK, OK, OK)
#: The next call is Prompts.
TO_PROMPTS = (
    *TO_FINISH,
    OK,
    saw(paused=True, version="v2"),
    OK,
    saw(paused=False, version="v2"),
)


def test_swap_that_goes_well_asks_each_call_once() -> None:
    steps = [play(*TO_PROMPTS[:count]).step for count in range(len(TO_PROMPTS) + 1)]
    assert list(dict.fromkeys(steps)) == [
        *(Step.INIT, Step.PREPARED, Step.DRAIN, Step.PAUSE, Step.START, Step.UPDATE),
        *(Step.RECEIPTS, Step.FINISH, Step.RESUME, Step.PROMPTS),
    ]
    assert play(*TO_PROMPTS, OK).outcome is Outcome.COMMITTED


def test_pause_that_failed_and_paused_is_resumed_and_nothing_has_happened() -> None:
    state = play(OK, OK, OK, failed(reason="PauseFailed"), PAUSED)
    assert (state.step, state.holds) == (Step.RESUME, Holds.OLD)
    state = advance(advance(state, OK, Time.IN_TIME), saw(paused=False), Time.IN_TIME)
    assert state.outcome is Outcome.UNTOUCHED
    assert state.failure == failed(reason="PauseFailed").failure


def test_pause_that_did_nothing_is_noticed() -> None:
    state = play(OK, OK, OK, OK, saw(paused=False))
    assert state.outcome is Outcome.UNTOUCHED
    assert state.failure is not None
    assert state.failure.reason == "PauseNotConfirmed"


def test_refused_start_leaves_the_old_weights_whole() -> None:
    assert play(*TO_START, failed(Answer.REFUSED), PAUSED).step is Step.RESUME


def test_unknown_start_closes_the_session_before_it_is_sent_again() -> None:
    state = play(*TO_START, failed(), PAUSED)
    assert (state.step, state.holds, state.cycle) == (Step.CLOSE, Holds.GONE, 2)
    state = advance(state, failed(), Time.IN_TIME)  # there was none: not an error
    assert state.step is Step.INIT
    assert state.transfer_id == "txn~2"


def test_engine_that_someone_resumed_is_paused_before_anything_is_sent_again() -> None:
    state = play(*TO_START, OK, failed(), saw(paused=False))
    assert (state.step, state.holds) == (Step.PAUSE, Holds.GONE)


def test_target_is_not_sent_again_after_the_deadline() -> None:
    state = play(*TO_START, OK)
    state = advance(state, failed(reason="DeadlineExceeded"), Time.LATE)
    state = advance(state, PAUSED, Time.LATE)
    assert state.content == OLD
    assert phase(state) is SwapPhase.UNDOING


def test_swap_that_is_late_before_start_is_given_up() -> None:
    state = advance(play(OK, OK), OK, Time.LATE)
    assert state.outcome is Outcome.UNTOUCHED
    assert state.failure is not None
    assert state.failure.reason == "PodDeadlineExceeded"


def test_same_label_as_before_does_not_prove_a_failed_finish() -> None:
    before = saw(paused=True, version="v2")
    state = play(OK, OK, OK, OK, before, OK, OK, OK, failed(), before)
    assert state.step is Step.CLOSE
    answered = play(OK, OK, OK, OK, before, OK, OK, OK, OK, before)
    assert answered.step is Step.RESUME


def test_label_that_finish_could_not_set_is_set_once() -> None:
    unlabelled = failed(Answer.UNLABELLED)
    state = play(*TO_FINISH, unlabelled, saw(paused=True, version="v1"))
    assert state.step is Step.LABEL
    state = advance(advance(state, OK, Time.IN_TIME), PAUSED, Time.IN_TIME)
    assert (state.step, state.cycle) == (Step.CLOSE, 2)


def test_finish_that_was_answered_and_set_no_version_is_not_believed() -> None:
    """It may have done nothing at all: setting the version apart would hide that."""
    state = play(*TO_FINISH, OK, saw(paused=True, version="v1"))
    assert (state.step, state.cycle) == (Step.CLOSE, 2)
    assert state.failure is not None
    assert state.failure.reason == "VersionNotConfirmed"


def test_engine_that_was_resumed_in_mid_swap_is_paused_again_to_drop_its_caches() -> None:
    """Nor is it sent a second Resume, which can hang data-parallel engines."""
    state = play(*TO_FINISH, OK, saw(paused=False, version="v2"))
    assert (state.step, state.cycle) == (Step.PAUSE, 2)
    assert state.failure is not None
    assert state.failure.reason == "EngineResumed"


def test_wrong_answer_stops_the_engine_before_anything_else() -> None:
    state = play(*TO_PROMPTS, wrong("VerifyFailed"), saw(paused=False, version="v2"))
    assert (state.step, state.content) == (Step.PAUSE, OLD)


def test_reason_of_an_undo_is_why_the_target_was_left() -> None:
    events = (wrong("VerifyFailed"), saw(paused=False, version="v2"), OK, PAUSED, OK, OK, OK)
    state = play(*TO_PROMPTS, *events, OK, failed(reason="TransferFailed"), PAUSED)
    assert state.failure is not None
    assert (state.failure.failure_class, state.failure.reason) == (
        FailureClass.WEIGHTS,
        "VerifyFailed",
    )
    assert "then TransferFailed" in state.failure.message


def test_engine_without_last_good_is_paused_and_poisoned() -> None:
    seen = saw(paused=False, version="v2")
    state = play(*TO_PROMPTS, wrong("VerifyFailed"), seen, last_good=None)
    assert state.step is Step.PAUSE
    state = advance(advance(state, OK, Time.IN_TIME), PAUSED, Time.IN_TIME)
    assert state.outcome is Outcome.POISONED


def test_prompts_are_asked_again_after_a_crash_of_the_agent() -> None:
    state = recover(play(*TO_PROMPTS))
    assert advance(state, saw(paused=False, version="v2"), Time.IN_TIME).step is Step.PROMPTS


def test_engine_that_was_never_paused_needs_no_read_back_to_be_given_up() -> None:
    state = play(OK, failed(reason="PrepareFailed"), Blind("gone"))
    assert state.outcome is Outcome.UNTOUCHED


def test_paused_engine_that_stays_silent_is_poisoned_and_not_called_untouched() -> None:
    state = play(OK, OK, OK, failed(), Blind("gone"))
    assert state.outcome is None
    state = advance(state, Blind("gone"), Time.OVER)
    assert state.outcome is Outcome.POISONED
    assert state.failure is not None
    assert state.failure.reason == "EngineUnreachable"


def test_restart_is_noticed_at_any_read_back() -> None:
    other = saw(paused=False, version="default", instance="engine-2")
    for events in ((OK, OK, OK, OK), (*TO_START, failed()), (*TO_FINISH, OK), TO_PROMPTS[:-1]):
        state = play(*events, other)
        assert state.outcome is Outcome.RESTARTED


def test_attempt_counts_from_the_moment_pause_may_have_been_sent() -> None:
    assert not play(OK, OK).pause_sent
    assert play(OK, OK, OK).pause_sent


def test_ended_swap_is_not_recovered() -> None:
    state = replace(play(*TO_PROMPTS), outcome=Outcome.COMMITTED)
    assert recover(state) is state


WHOLE_PAUSED = saw(paused=True, version="v2")
WHOLE_RUNNING = saw(paused=False, version="v2")


def test_draft_follows_the_committed_target_and_its_finish_is_not_read_back() -> None:
    steps = [with_draft(*[OK] * count).step for count in range(5)]
    assert steps == [
        *(Step.DRAFT_START, Step.DRAFT_UPDATE, Step.DRAFT_RECEIPTS, Step.DRAFT_FINISH),
        Step.RESUME,
    ]
    assert phase(with_draft()) is SwapPhase.DRAFTING
    state = with_draft(OK, OK, OK, OK, OK, WHOLE_RUNNING, OK)
    assert (state.outcome, degraded(state)) == (Outcome.COMMITTED, None)


def test_failed_draft_is_closed_and_the_whole_target_resumed() -> None:
    for before in range(4):
        state = with_draft(*[OK] * before, failed())
        assert state.holds is Holds.WHOLE
        state = on(state, WHOLE_PAUSED)
        assert state.step is Step.DRAFT_CLOSE
        state = on(state, failed(), WHOLE_PAUSED)
        assert state.step is Step.RESUME
        state = on(state, OK, WHOLE_RUNNING, OK)
        assert (state.outcome, state.failure) == (Outcome.COMMITTED, None)
        note = degraded(state)
        assert note is not None
        assert (note.reason, note.message[:24]) == ("DraftFailed", "TransferFailed: scripted")


def test_draft_that_was_loaded_wrongly_is_never_called_well() -> None:
    state = with_draft(OK, OK, wrong("ReceiptsDiffer"), WHOLE_PAUSED)
    assert (state.step, state.holds) == (Step.DRAFT_CLOSE, Holds.WHOLE)
    assert state.draft_failure is not None
    assert state.draft_failure.reason == "ReceiptsDiffer"


def test_engine_that_someone_resumed_under_a_failed_draft_gets_no_second_resume() -> None:
    state = with_draft(OK, failed(), WHOLE_RUNNING)
    assert state.step is Step.DRAFT_CLOSE
    assert on(state, OK, WHOLE_RUNNING).step is Step.PROMPTS


def test_agent_that_died_in_the_drafts_session_gives_up_the_draft_alone() -> None:
    state = on(recover(with_draft(OK)), WHOLE_PAUSED)
    assert (state.step, state.holds, state.cycle) == (Step.DRAFT_CLOSE, Holds.WHOLE, 1)
    assert state.draft_failure is not None
    assert state.draft_failure.reason == "AgentRestarted"


def test_draft_is_left_when_the_target_took_all_the_time() -> None:
    drafts = replace(request(), target_draft=DraftLoad("mtp", NEW.digest))
    state = on(begin(drafts, "engine-1"), *TO_FINISH)
    state = on(state, OK, WHOLE_PAUSED, time=Time.LATE)
    assert state.step is Step.RESUME
    note = degraded(state)
    assert note is not None
    assert "PodDeadlineExceeded" in note.message


def test_draft_that_is_not_to_be_loaded_costs_no_call_and_is_told() -> None:
    state = with_draft(digest="")
    assert state.step is Step.RESUME
    note = degraded(state)
    assert note is not None
    assert note.reason == "DraftStale"


def test_undone_swap_brings_the_old_draft_back_too() -> None:
    asked = with_draft(OK, failed(), WHOLE_PAUSED, OK, WHOLE_PAUSED, OK, WHOLE_RUNNING)
    undone = on(asked, wrong("VerifyFailed"), WHOLE_RUNNING, OK, PAUSED, OK, OK, OK, OK, OK, OK)
    assert undone.step is Step.FINISH
    assert undone.draft_failure is None, "what failed was the other draft"
    state = on(undone, OK, saw(paused=True, version="v1"))
    assert (state.step, state.draft) == (Step.DRAFT_START, DraftLoad("mtp", OLD.digest))
    state = on(state, OK, OK, OK, OK, OK, saw(paused=False, version="v1"))
    assert (state.outcome, degraded(state)) == (Outcome.UNDONE, None)


def test_engine_that_died_in_the_drafts_session_ends_as_restarted() -> None:
    other = saw(paused=False, version="default", instance="engine-2")
    assert with_draft(OK, failed(), other).outcome is Outcome.RESTARTED
