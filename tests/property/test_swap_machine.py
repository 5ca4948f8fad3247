"""Whatever the engine answers, and wherever the agent dies, a swap ends well (invariant 4)."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.swap.events import Answered, Blind, Event, Failed, Saw, Time
from weightrollout.swap.machine import Todo, advance, begin, recover, todo
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
from weightrollout.swap.table import DRAFT_STEPS

OLD = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
NEW = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
#: Far above the longest path; a swap that is still going then would go on for ever.
MANY = 400

answers = st.sampled_from([Answer.REFUSED, Answer.UNKNOWN, Answer.WRONG])
instances = st.sampled_from(["engine-1"] * 12 + ["engine-2"])
versions = st.sampled_from(["v1", "v2", "default"])
crashes = st.booleans().flatmap(lambda often: st.integers(0, 3 if often else 30))


def failure(step: Step) -> Failure:
    return Failure(FailureClass.POD, f"{step}Failed", "scripted")


@dataclass
class Witness:
    """Sees only commands and events, and knows what must never happen."""

    confirmed_paused: bool = False
    started: bool = False  # a Start may be in the engine, with no proven Finish since
    receipts: bool = False
    finish: bool = False
    touched: bool = False
    paused_sent: bool = False
    last: Saw | None = None
    draft_failed: bool = False  # in the newest cycle
    calls: list[Step] = field(default_factory=list)

    def before(self, state: SwapState) -> None:
        if todo(state) is not Todo.CALL:
            return
        step = state.step
        self.calls.append(step)
        if step is Step.PAUSE:
            self.paused_sent = True
        if step in (Step.START, Step.UPDATE):
            assert self.confirmed_paused, "weights may change only in a confirmed pause"
        if step is Step.START:
            self.started = self.touched = True
            self.receipts = self.finish = False
        if step is Step.FINISH:
            assert self.receipts, "Finish is the commit: it needs proven receipts"
            self.finish = True
        if step is Step.RESUME:
            assert self.last is not None
            assert self.last.paused, "Resume is sent only to an engine that was seen paused"
            assert not self.started, "a half-loaded engine is never resumed"
        if step in DRAFT_STEPS:
            self._before_draft(state)

    def _before_draft(self, state: SwapState) -> None:
        assert state.holds is Holds.WHOLE, "the target is committed first"
        assert state.draft is not None, "an engine without a draft is asked for none"
        assert state.draft.digest, "a draft without an image is left alone"
        if state.step in (Step.DRAFT_START, Step.DRAFT_UPDATE):
            assert self.confirmed_paused, "weights may change only in a confirmed pause"
        if state.step is Step.DRAFT_START:
            self.draft_failed = False
        self.draft_failed |= state.step is Step.DRAFT_CLOSE

    def after(self, state: SwapState, event: Event) -> None:
        match event:
            case Answered() if state.step is Step.RECEIPTS:
                self.receipts = True
            case Failed(answer=Answer.REFUSED) if state.step is Step.START and state.cycle == 1:
                self.started = self.touched = False
            case Saw():
                self.last = event
                self.confirmed_paused = event.paused
                proven = self.receipts and self.finish and state.content is not None
                if proven and state.content and event.version == state.content.version:
                    self.started = False
            case _:
                pass

    def at_end(self, state: SwapState) -> None:
        seen = self.last
        match state.outcome:
            case Outcome.COMMITTED:
                assert seen is not None
                assert not seen.paused
                assert not self.started
                assert state.failure is None
                asked = state.draft is not None and state.draft.digest != ""
                tried = Step.DRAFT_START in self.calls
                failed = asked and (self.draft_failed or not tried)
                assert failed == (state.draft_failure is not None), "a failed draft is told"
            case Outcome.UNDONE:
                assert seen is not None
                assert not seen.paused
                assert not self.started
                assert state.failure is not None
            case Outcome.GAVE_UP:
                assert not self.touched
                assert not self.paused_sent, "what runs on is not paused"
                assert self.calls[-1] is Step.DRAIN
                assert state.request.pause_mode is PauseMode.GIVE_UP
            case Outcome.UNTOUCHED:
                assert not self.touched
                assert not self.paused_sent or (seen is not None and not seen.paused)
                assert state.failure is not None
            case Outcome.RESTARTED:
                assert seen is not None
                assert seen.instance != "engine-1"
            case Outcome.POISONED:
                assert state.failure is not None
            case None:
                raise AssertionError("no end")


def request(mode: PauseMode, *, baseline: bool, drafts: bool) -> SwapRequest:
    return SwapRequest(
        txn="cr/rev-2/pod/1",
        attempt=1,
        target=NEW,
        last_good=None if baseline else OLD,
        pause_mode=mode,
        clear_cache=True,
        drain_s=1,
        deadline_s=10,
        prompts=(),
        target_draft=DraftLoad("mtp", NEW.digest) if drafts else None,
        last_good_draft=DraftLoad("mtp", "") if drafts else None,
    )


def draw_event(data: st.DataObject, state: SwapState) -> Event:
    if todo(state) is Todo.LOOK:
        if data.draw(st.integers(0, 9)) == 0:
            return Blind("scripted")
        return Saw(data.draw(instances), data.draw(st.booleans()), data.draw(versions))
    if state.step is Step.DRAIN and state.request.pause_mode is PauseMode.GIVE_UP:
        kinds = st.sampled_from([Answer.REFUSED, Answer.UNKNOWN, Answer.BUSY, Answer.BUSY])
    elif state.step in (Step.RECEIPTS, Step.DRAFT_RECEIPTS, Step.PROMPTS, Step.PREPARED):
        kinds = answers
    else:
        kinds = st.sampled_from([Answer.REFUSED, Answer.UNKNOWN])
    if data.draw(st.booleans()):
        return Answered()
    return Failed(data.draw(kinds), failure(state.step))


def play(data: st.DataObject, asked: SwapRequest, crash_at: int) -> tuple[SwapState, Witness]:
    """One swap; the agent dies after `crash_at` events and continues from what it journaled."""
    state = begin(asked, "engine-1")
    witness, journaled = Witness(), state
    late_from = data.draw(st.integers(0, 40), label="late from")
    for turn in range(MANY):
        if todo(state) is Todo.END:
            return state, witness
        if todo(state) is Todo.CALL:
            journaled = state
        witness.before(state)
        if turn == crash_at:  # after the call was sent, before its answer
            witness.draft_failed |= journaled.step in DRAFT_STEPS
            state = recover(journaled)
            continue
        event = draw_event(data, state)
        witness.after(state, event)
        time = Time.IN_TIME if turn < late_from else Time.LATE
        if isinstance(event, Blind) and turn > late_from + 30:
            time = Time.OVER
        state = advance(state, event, time)
    raise AssertionError(f"still {state.step} after {MANY} events: {witness.calls}")


@settings(max_examples=600, deadline=None)
@given(st.data(), st.sampled_from(PauseMode), st.booleans(), st.booleans(), crashes)
def test_every_path_ends_and_never_answers_with_half_loaded_weights(
    data: st.DataObject, mode: PauseMode, baseline: bool, drafts: bool, crash_at: int
) -> None:
    asked = request(mode, baseline=baseline, drafts=drafts)
    state, witness = play(data, asked, crash_at)
    witness.at_end(state)
