"""What may not happen, in every state that a trainer can leave an engine in."""

from dataclasses import replace
from itertools import product

import pytest

from weightrollout.agent.rl.guard import BEGINS, UPDATING, Scene, conflict
from weightrollout.agent.rl.routes import ROUTES, Call
from weightrollout.agent.rl.wishes import Wish
from weightrollout.api.guard import Guard
from weightrollout.swap.hold import DRAFT, TARGET, Hold

CHANGES = [each.call for each in ROUTES if not each.reads]
FREE = Scene(hold=Hold("i"), paused=False, running=None, swap="", poisoned=False, leaving=False)
SCENES = [
    Scene(
        hold=Hold("i", paused=paused, asleep=asleep, session=session, incomplete=incomplete),
        paused=paused or bool(asleep),
        running=running,
        swap=swap,
        poisoned=poisoned,
        leaving=False,
    )
    for paused, asleep, session, incomplete, running, swap, poisoned in product(
        (False, True),
        ((), ("kv_cache",), ("kv_cache", "weights")),
        ("", TARGET, DRAFT),
        ((), (TARGET,), (DRAFT, TARGET)),
        (None, Call.UPDATE, Call.INIT),
        ("", "txn-1"),
        (False, True),
    )
]


def let_through(scene: Scene, call: Call, guard: Guard, tags: tuple[str, ...] = ()) -> bool:
    return conflict(Wish(call, tags=tags, version="1"), scene, guard) is None


def test_nothing_resumes_weights_that_are_not_whole() -> None:
    for scene, guard in product(SCENES, Guard):
        if not (scene.hold.incomplete or scene.hold.session):
            continue
        assert not let_through(scene, Call.RESUME, guard)
        assert not let_through(scene, Call.WAKE_UP, guard)
        assert not let_through(scene, Call.WAKE_UP, guard, ("weights", "kv_cache"))


def test_no_weights_are_written_while_they_sleep() -> None:
    for scene, guard in product(SCENES, Guard):
        if "weights" in scene.hold.asleep:
            assert not let_through(scene, Call.START, guard)
            assert not let_through(scene, Call.START_DRAFT, guard)


def test_strict_writes_weights_in_a_pause_alone() -> None:
    for scene in SCENES:
        for call in UPDATING:
            if let_through(scene, call, Guard.STRICT):
                assert scene.paused, (scene, call)


def test_update_belongs_to_a_session() -> None:
    for scene, guard in product(SCENES, Guard):
        for call in (Call.UPDATE, Call.FINISH):
            if let_through(scene, call, guard):
                assert scene.hold.session
        if let_through(scene, Call.START, guard):
            assert not scene.hold.session


#: What the calls of the reference have in their way, one cause at a time, with the guard strict.
OPEN = replace(FREE, paused=True, hold=Hold("i", paused=True, session=TARGET))
PAUSED = replace(FREE, paused=True, hold=Hold("i", paused=True))
ASLEEP = replace(FREE, paused=True, hold=Hold("i", paused=True, asleep=("kv_cache", "weights")))
TORN = replace(FREE, paused=True, hold=Hold("i", paused=True, incomplete=(TARGET,)))
DRAINING = replace(FREE, paused=True, hold=Hold("i", paused=True, draining=True))
ROWS = [
    (Call.PAUSE, replace(OPEN, running=Call.UPDATE), "update_running"),
    (Call.PAUSE, replace(FREE, running=Call.INIT), "update_running"),
    (Call.PAUSE, OPEN, ""),
    (Call.RESUME, OPEN, "session_open"),
    (Call.RESUME, replace(OPEN, running=Call.UPDATE), "update_running"),
    (Call.RESUME, TORN, "weights_incomplete"),
    (Call.RESUME, ASLEEP, "asleep"),
    (Call.RESUME, FREE, ""),
    (Call.SLEEP, OPEN, "session_open"),
    (Call.SLEEP, PAUSED, ""),
    (Call.WAKE_UP, replace(ASLEEP, hold=replace(ASLEEP.hold, session=TARGET)), "session_open"),
    (Call.WAKE_UP, ASLEEP, ""),
    (Call.INIT, OPEN, "session_open"),
    (Call.INIT, FREE, ""),
    *[
        (start, scene, code)
        for start in (Call.START, Call.START_DRAFT)
        for scene, code in (
            (FREE, "not_paused"),
            (ASLEEP, "asleep"),
            (OPEN, "session_open"),
            (DRAINING, "draining"),
            (TORN, ""),
            (PAUSED, ""),
        )
    ],
    *[
        (step, scene, code)
        for step in (Call.UPDATE, Call.FINISH)
        for scene, code in (
            (PAUSED, "no_session"),
            (replace(OPEN, paused=False), "not_paused"),
            (OPEN, ""),
        )
    ],
    (Call.SET_VERSION, replace(OPEN, running=Call.UPDATE), "update_running"),
    (Call.SET_VERSION, FREE, ""),
    (Call.SET_VERSION, OPEN, ""),
]


@pytest.mark.parametrize(("call", "scene", "code"), ROWS)
def test_each_call_is_refused_for_its_own_reason_and_goes_ahead_otherwise(
    call: Call, scene: Scene, code: str
) -> None:
    against = conflict(Wish(call, version="1"), scene, Guard.STRICT)
    assert (against.code if against is not None else "") == code


def test_nothing_disturbs_a_swap_or_an_engine_that_must_be_restarted() -> None:
    for scene, call, guard in product(SCENES, CHANGES, Guard):
        if scene.swap or scene.poisoned:
            assert not let_through(scene, call, guard)
    assert not let_through(replace(FREE, leaving=True), Call.PAUSE, Guard.OFF)


def test_there_is_a_way_out_of_every_state_that_a_trainer_can_reach() -> None:
    """By wake_up of the weights, a whole update, and resume; nobody else need come."""
    for scene in SCENES:
        if scene.swap or scene.poisoned or scene.running:
            continue
        hold = replace(scene.hold, paused=True)
        scene = replace(scene, hold=hold, paused=True)
        if "weights" in hold.asleep:
            tags = ("weights",)
            assert let_through(scene, Call.WAKE_UP, Guard.STRICT, tags) or hold.session
            hold = replace(hold, asleep=("kv_cache",))
            scene = replace(scene, hold=hold)
        if hold.incomplete and not hold.session:
            assert let_through(scene, Call.START, Guard.STRICT)
            hold = replace(hold, session=TARGET)
            scene = replace(scene, hold=hold)
        if hold.session:
            assert let_through(scene, Call.UPDATE, Guard.STRICT)
            assert let_through(scene, Call.FINISH, Guard.STRICT)
            scene = replace(scene, hold=replace(hold, session="", incomplete=()))
        end = Call.WAKE_UP if scene.hold.asleep else Call.RESUME
        assert let_through(scene, end, Guard.STRICT), scene


def test_every_refusal_says_what_to_do() -> None:
    said = {
        against.code: against.message
        for scene, call, guard in product(SCENES, CHANGES, Guard)
        if (against := conflict(Wish(call), scene, guard)) is not None
    }
    assert all(len(message) > 15 for message in said.values())
    assert set(said) >= {"not_paused", "session_open", "no_session", "asleep", "update_running"}


def test_trainer_only_ends_what_it_has_begun_where_the_operator_drives() -> None:
    theirs = replace(FREE, operator_drives=True)
    for call, guard in product(CHANGES, Guard):
        begins = conflict(Wish(call, version="1"), theirs, guard)
        if call in BEGINS:
            assert begins is not None, call
            assert begins.code == "operator_drives"
    for scene, call, guard in product(SCENES, CHANGES, Guard):
        if not scene.hold.is_over:
            held = replace(scene, operator_drives=True)
            assert let_through(held, call, guard) is let_through(scene, call, guard)
