"""The one slot in which people ask: what is read from it, and that nothing is done twice."""

from dataclasses import replace

import pytest

from planning.worlds import world_of
from weightrollout.api.spec import Pause, Step, Strategy
from weightrollout.api.status import ActionOutcome, LastAction, Phase, WeightRolloutStatus
from weightrollout.rollout.actions import Announce, RecordRevision
from weightrollout.rollout.fleet import Fleet, Memory, Retry, Verdict
from weightrollout.rollout.plan import plan
from weightrollout.rollout.revisions import retry_of, said_retry
from weightrollout.rollout.simulate import ToyWorld
from weightrollout.rollout.verbs import LONGEST_ID, Verb, VerbName, parse

CANARY = Strategy(
    max_unavailable=1,
    steps=(Step(updated=1), Step(pause=Pause()), Step(pause=Pause())),
)


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("promote:chat-0@n", Verb("", VerbName.PROMOTE, "chat-0")),
        ("promote:chat-0:3@n", Verb("", VerbName.PROMOTE, "chat-0", 3)),
        ("promote:chat-0:3.9f@n", Verb("", VerbName.PROMOTE, "chat-0", 3, "9f")),
        ("promote:chat-0:full@n", Verb("", VerbName.PROMOTE, "chat-0", full=True)),
        ("abort:my.chat-0@2026_a.b-c", Verb("", VerbName.ABORT, "my.chat-0")),
        ("retry:chat-0@n", Verb("", VerbName.RETRY, "chat-0")),
    ],
)
def test_verb_is_read_as_it_is_meant(text: str, verb: Verb) -> None:
    assert parse(text) == replace(verb, id=text)


@pytest.mark.parametrize(
    "text",
    [
        "promote",
        "promote@n",
        "promote:chat-0",
        "promote:chat-0@",
        "promote:chat-0:@n",
        "promote:chat-0:-1@n",
        "promote:chat-0:1.@n",
        "promote:chat-0:1:full@n",
        "promote:Chat@n",
        "promote:chat-0@n ",
        "promote:chat-0@n\n",
        "promote:chat-0:\u0661@n",
        "undo:chat-0@n",
        "abort:chat-0:full@n",
        "retry:chat-0:1@n",
        f"abort:{'c' * 250}@n",
    ],
)
def test_what_has_another_form_is_not_guessed(text: str) -> None:
    assert parse(text) is None


def at_the_pause() -> ToyWorld:
    world = world_of("b", 3, on="a", strategy=CANARY)
    for _ in range(200):
        if world.one_pass().status.phase is Phase.PAUSED and not world.events:
            return world
        world.advance()
    raise AssertionError("it never paused")


def asked(world: ToyWorld, text: str) -> Fleet:
    assert world.status.target is not None
    return replace(world.observe(), action=text.format(it=world.status.target.revision))


def answer(fleet: Fleet) -> LastAction:
    found = plan(fleet).status.last_action
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("promote:{it}:0@n", "it is at step 2, and this leaves step 1"),
        ("promote:{it}:2@n", "it is at step 2, and this leaves step 3"),
        ("promote:{it}:1.0a@n", "the steps are others now"),
        ("promote:chat-other@n", "is worked on, not chat-other"),
        ("abort:chat-other@n", "is worked on, not chat-other"),
        ("retry:{it}@n", "neither rejected nor aborted"),
    ],
)
def test_verb_for_another_state_is_answered_and_changes_nothing(text: str, says: str) -> None:
    world = at_the_pause()
    fleet = asked(world, text)
    before, after = plan(replace(fleet, action="")), plan(fleet)
    told = [each for each in after.actions if isinstance(each, Announce)]
    assert [each.reason for each in told] == ["ActionStale"]
    assert [each for each in after.actions if each not in told] == list(before.actions)
    assert after.status.step == before.status.step
    assert answer(fleet).outcome is ActionOutcome.STALE
    assert says in answer(fleet).message


@pytest.mark.parametrize("verb", ["abort:{it}@n", "promote:{it}@n", "promote:{it}:full@n"])
def test_slot_that_is_older_than_the_status_is_not_obeyed(verb: str) -> None:
    """The object was replaced, restored, or made from a manifest that carries the annotation."""
    world = at_the_pause()
    fleet = replace(asked(world, verb), status=WeightRolloutStatus(), memory=Memory())
    planned = plan(fleet)
    assert not [each for each in planned.actions if isinstance(each, RecordRevision)]
    assert planned.status.step is not None
    assert planned.status.step.index == 1
    assert answer(fleet).outcome is ActionOutcome.STALE


def test_promote_names_the_steps_by_their_hash() -> None:
    world = at_the_pause()
    assert world.status.step is not None
    fleet = asked(world, f"promote:{{it}}:1.{world.status.step.hash}@n")
    assert answer(fleet).outcome is ActionOutcome.ACCEPTED
    step = plan(fleet).status.step
    assert step is not None
    assert step.index == 2


def test_nonsense_of_any_length_has_an_answer_of_bounded_length() -> None:
    world = at_the_pause()
    said = answer(asked(world, "x" * 200_000))
    assert said.outcome is ActionOutcome.INVALID
    assert len(said.id) <= LONGEST_ID
    again = replace(asked(world, "x" * 200_000), status=plan(asked(world, "x" * 200_000)).status)
    assert answer(again) == said


def test_answered_verb_is_not_done_again() -> None:
    world = at_the_pause()
    fleet = asked(world, "promote:{it}@n")
    first = plan(fleet)
    second = plan(replace(fleet, status=first.status, memory=first.memory))
    third = plan(replace(fleet, status=first.status))  # a new leader
    assert first.status.step is not None
    assert (second.status.step, third.status.step and third.status.step.index) == (
        first.status.step,
        first.status.step.index,
    )


def test_abort_is_answered_only_once_the_history_says_it() -> None:
    """A record that fails must not leave an Accepted behind."""
    world = at_the_pause()
    fleet = asked(world, "abort:{it}@n")
    planned = plan(fleet)
    records = [each for each in planned.actions if isinstance(each, RecordRevision)]
    assert [(each.verdict, each.reason) for each in records] == [(Verdict.REJECTED, "Aborted")]
    assert planned.status.last_action is None
    world.action = fleet.action
    for _ in range(3):
        world.one_pass()
        world.advance()
    assert world.status.last_action is not None
    assert world.status.last_action.outcome is ActionOutcome.ACCEPTED


def test_retry_that_was_done_is_known_by_the_history_without_a_status() -> None:
    world = at_the_pause()
    world.action = asked(world, "retry:{it}@n").action
    target = world.status.target
    assert target is not None
    world.revisions = tuple(
        replace(each, retry=Retry(world.action, 2, 5))
        if each.ref.revision == target.revision
        else each
        for each in world.revisions
    )
    planned = plan(world.observe())
    assert planned.status.last_action is not None
    assert planned.status.last_action.outcome is ActionOutcome.ACCEPTED
    assert not [each for each in planned.actions if isinstance(each, RecordRevision)]


def test_retry_is_kept_as_it_was_written() -> None:
    retry = Retry("retry:chat-0@n", 2, 17)
    assert retry_of(said_retry(retry)) == retry
    assert retry_of(said_retry(None)) is None


@pytest.mark.parametrize("said", ["", "null", "{", '{"id": "x"}', '{"id": 1, "tries": "x"}', "[]"])
def test_spoilt_note_of_a_retry_is_no_retry(said: str) -> None:
    assert retry_of(said) is None
