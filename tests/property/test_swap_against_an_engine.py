"""A swap against an engine that may fail at any call: the outcome tells the truth about the engine."""

from dataclasses import dataclass, field, replace
from enum import StrEnum

from hypothesis import event, given, settings
from hypothesis import strategies as st

from weightrollout.api.spec import PauseMode
from weightrollout.api.swap import FailureClass, Outcome
from weightrollout.swap.book import degraded
from weightrollout.swap.events import Answered, Blind, Event, Failed, Saw, Time
from weightrollout.swap.machine import Todo, advance, begin, recover, todo
from weightrollout.swap.records import (
    Answer,
    Content,
    DraftLoad,
    Failure,
    Step,
    SwapRequest,
    SwapState,
)

OLD = Content("rev-1", "v1", "file:///v1", "sha256:" + "1" * 64)
NEW = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)
MANY = 400


class Trouble(StrEnum):
    """What happens to one call or read back."""

    NONE = "none"
    REFUSED = "refused"  # answered so, and not executed
    LOST = "lost"  # not executed, and nobody knows
    CUT = "cut"  # executed, and the answer was lost
    LIED = "lied"  # answered OK and did nothing
    DIED = "died"  # the process ended and another came
    CRASHED = "crashed"  # the agent was killed after the call was sent
    BUSY = "busy"  # requests run longer than the drain


TROUBLES = st.sampled_from([Trouble.NONE] * 36 + list(Trouble))


@dataclass
class Engine:
    """As the released one: no guard, a failed Update leaves it half-loaded. A draft answers nobody."""

    instance: int = 1
    loaded: str = OLD.digest  # "" when half-loaded
    version: str = OLD.version
    paused: bool = False
    pauses: int = 0
    session: bool = False
    drafting: bool = False  # the open session is the draft's
    draft: str = OLD.digest  # "" when torn
    draft_receipt: tuple[str, str] = ("", "")
    prepared: tuple[str, str] = ("", "")  # transfer id, digest
    receipt: tuple[str, str] = ("", "")
    answered_half_loaded: bool = False
    changed_while_running: bool = False
    bad: frozenset[str] = field(default_factory=frozenset)  # digests whose prompts fail

    def die(self) -> None:
        self.__init__(  # type: ignore[misc]
            self.instance + 1, "base", "default", draft="base", bad=self.bad
        )

    @property
    def half_loaded(self) -> bool:
        return self.loaded == "" or (self.session and not self.drafting)

    def execute(self, state: SwapState) -> Answer:
        content = state.content
        match state.step:
            case Step.PAUSE:
                self.paused = True
                self.pauses += 1
            case Step.RESUME:
                self.paused = False
                self.answered_half_loaded |= self.half_loaded
            case Step.INIT if content:
                self.prepared = (state.transfer_id, content.digest)
            case Step.PREPARED if content:
                # The answer names its process; one of another process is not taken.
                mine = f"engine-{self.instance}" == state.instance
                return self._check(mine and self.prepared == (state.transfer_id, content.digest))
            case Step.START | Step.DRAFT_START:
                if self.session:
                    return Answer.UNKNOWN
                self.session, self.drafting = True, state.step is Step.DRAFT_START
            case Step.UPDATE if content:
                return self._update(state.transfer_id, content.digest)
            case Step.DRAFT_UPDATE if state.draft:
                return self._update_draft(state.transfer_id, state.draft.digest)
            case Step.DRAFT_RECEIPTS if state.draft:
                return self._check(self.draft_receipt == (state.transfer_id, state.draft.digest))
            case Step.RECEIPTS if content:
                return self._check(self.receipt == (state.transfer_id, content.digest))
            case Step.FINISH | Step.CLOSE | Step.DRAFT_FINISH | Step.DRAFT_CLOSE if content:
                if not self.session:
                    return Answer.UNKNOWN
                self.session = False
                self.version = content.version if state.step is Step.FINISH else self.version
            case Step.LABEL if content:
                self.version = content.version
            case Step.PROMPTS:
                self.answered_half_loaded |= self.half_loaded
                return self._check(self.loaded not in self.bad)
            case _:
                pass
        return Answer.OK

    def _update(self, transfer_id: str, digest: str) -> Answer:
        if not self.session or self.drafting or self.prepared != (transfer_id, digest):
            self.session = False  # a new process refuses what it has not prepared
            return Answer.UNKNOWN
        self.changed_while_running |= not self.paused
        self.loaded, self.receipt = digest, (transfer_id, digest)
        return Answer.OK

    def _update_draft(self, transfer_id: str, digest: str) -> Answer:
        if not self.session or not self.drafting:
            self.session = False
            return Answer.UNKNOWN
        self.draft, self.draft_receipt = digest, (transfer_id, digest)
        return Answer.OK

    @staticmethod
    def _check(right: bool) -> Answer:
        return Answer.OK if right else Answer.WRONG


def call(engine: Engine, state: SwapState, trouble: Trouble) -> Event:
    failure = Failure(FailureClass.POD, "Scripted", trouble)
    checks = (Step.PREPARED, Step.RECEIPTS, Step.DRAFT_RECEIPTS)
    local = state.step in (*checks, Step.DRAIN)  # no call to the engine
    if trouble is Trouble.DIED:
        engine.die()
        return Failed(Answer.UNKNOWN, failure)
    gives_up = state.request.pause_mode is PauseMode.GIVE_UP
    if trouble is Trouble.BUSY and state.step is Step.DRAIN and gives_up:
        return Failed(Answer.BUSY, failure)
    if trouble is Trouble.REFUSED and not local:
        return Failed(Answer.REFUSED, failure)
    if trouble is Trouble.LOST:
        if state.step is Step.UPDATE:  # torn: some of it was written
            engine.session, engine.loaded = False, ""
        if state.step is Step.DRAFT_UPDATE:
            engine.session, engine.draft = False, ""
        return Failed(Answer.UNKNOWN, failure)
    if trouble is Trouble.LIED and not local and _is_seen(state, engine):
        return Answered()
    answer = engine.execute(state)
    if trouble is Trouble.CUT:
        return Failed(Answer.UNKNOWN, failure)
    return Answered() if answer is Answer.OK else Failed(answer, failure)


def _is_seen(state: SwapState, engine: Engine) -> bool:
    """Whether anybody can tell that the call did nothing. A Finish without effect is told by the version
    alone, which on the way back to the last good weights is what it was before (docs/limits.md)."""
    if state.step is Step.FINISH and state.content is not None:
        return engine.version != state.content.version
    return state.step is not Step.PROMPTS


def look(engine: Engine, trouble: Trouble) -> Event:
    if trouble is Trouble.DIED:
        engine.die()
    if trouble in (Trouble.REFUSED, Trouble.LOST, Trouble.CUT):
        return Blind("scripted")
    return Saw(f"engine-{engine.instance}", engine.paused, engine.version)


def run(data: st.DataObject, engine: Engine, state: SwapState) -> SwapState:
    journaled = state
    late_from = data.draw(st.integers(0, 60), label="late from")
    for turn in range(MANY):
        if todo(state) is Todo.END:
            return state
        if todo(state) is Todo.CALL:
            journaled = state
        trouble = data.draw(TROUBLES) if turn < 60 else Trouble.NONE
        calling = todo(state) is Todo.CALL
        happened = call(engine, state, trouble) if calling else look(engine, trouble)
        if trouble is Trouble.CRASHED:
            state = recover(journaled)
            continue
        state = advance(state, happened, Time.IN_TIME if turn < late_from else Time.LATE)
    raise AssertionError(f"no end; {state.step}")


@settings(max_examples=800, deadline=None)
@given(
    st.data(),
    st.sampled_from(PauseMode),
    st.booleans(),
    st.sets(st.sampled_from([NEW.digest]), max_size=1),
    st.booleans(),
)
def test_outcome_tells_the_truth_about_the_engine(
    data: st.DataObject, mode: PauseMode, has_last_good: bool, bad: set[str], drafts: bool
) -> None:
    engine = Engine(bad=frozenset(bad))
    last_good = OLD if has_last_good else None
    request = SwapRequest("txn", 1, NEW, last_good, mode, True, 1, 10, ())
    if drafts:
        loads = (DraftLoad("mtp", NEW.digest), DraftLoad("mtp", OLD.digest))
        request = replace(request, target_draft=loads[0], last_good_draft=loads[1])
    state = run(data, engine, begin(request, "engine-1"))
    event(f"{state.outcome}")
    assert not engine.answered_half_loaded, "half-loaded weights answered"
    assert not engine.changed_while_running, "weights changed while the engine ran"
    if engine.instance > 1:  # it died after the last read back: the watch will see it
        return
    runs = replace(engine, prepared=("", ""), receipt=("", ""))
    if drafts and state.outcome in (Outcome.COMMITTED, Outcome.UNDONE) and not degraded(state):
        assert state.draft is not None
        assert runs.draft == state.draft.digest, "a draft that is not there is called well"
    match state.outcome:
        case Outcome.COMMITTED:
            assert (runs.loaded, runs.version, runs.paused) == (NEW.digest, "v2", False)
            assert not runs.session or runs.drafting
            assert NEW.digest not in bad
        case Outcome.UNDONE:
            assert (runs.loaded, runs.version, runs.paused) == (OLD.digest, "v1", False)
            assert not runs.session or runs.drafting
        case Outcome.UNTOUCHED:
            assert (runs.loaded, runs.paused, runs.session) == (OLD.digest, False, False)
        case Outcome.GAVE_UP:
            assert mode is PauseMode.GIVE_UP
            assert (runs.loaded, runs.pauses, runs.session) == (OLD.digest, 0, False)
        case Outcome.RESTARTED:
            raise AssertionError("the engine did not restart")
        case Outcome.POISONED:
            assert state.failure is not None
        case None:
            raise AssertionError("no end")


@settings(max_examples=50, deadline=None)
@given(st.booleans())
def test_swap_without_trouble_commits_or_is_undone_by_its_prompts(bad: bool) -> None:
    engine = Engine(bad=frozenset({NEW.digest} if bad else ()))
    state = begin(SwapRequest("txn", 1, NEW, OLD, PauseMode.KEEP, True, 1, 10, ()), "engine-1")
    while todo(state) is not Todo.END:
        calling = todo(state) is Todo.CALL
        happened = call(engine, state, Trouble.NONE) if calling else look(engine, Trouble.NONE)
        state = advance(state, happened, Time.IN_TIME)
    assert state.outcome is (Outcome.UNDONE if bad else Outcome.COMMITTED)
