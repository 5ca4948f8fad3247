"""What an operator says about trainers, and what holds while nobody has said anything."""

from pathlib import Path

from weightrollout.agent import stable
from weightrollout.agent.alone import goal
from weightrollout.agent.orders import (
    Orders,
    guard_in_force,
    operator_drives,
    orders_of,
    trainer_drives,
)
from weightrollout.agent.reasons import NotReadyReason
from weightrollout.agent.stable import ABSENT, Stable
from weightrollout.api.guard import Guard
from weightrollout.api.reasons import HoldReason
from weightrollout.api.spec import Driver, TrainerGuard
from weightrollout.kube.configmaps import Stable as Published
from weightrollout.kube.configmaps import stable_text
from weightrollout.swap.book import Book
from weightrollout.swap.hold import from_trainer
from weightrollout.swap.records import BASELINE, Content

OWNED = Book(owner_uid="cr", epoch=3)
DURABLE = Content("rev-2", "v2", "file:///v2", "sha256:" + "2" * 64)


def test_guard_is_strict_after_a_restart_until_an_operator_has_spoken() -> None:
    assert guard_in_force(OWNED, None, Guard.OFF) is Guard.STRICT
    assert guard_in_force(OWNED, orders_of("Trainer", "Off"), Guard.STRICT) is Guard.OFF


def test_flag_holds_where_the_spec_says_nothing_and_where_there_is_no_fleet() -> None:
    for flag in Guard:
        assert guard_in_force(OWNED, orders_of("Trainer", ""), flag) is flag
        assert guard_in_force(Book(), None, flag) is flag


def test_word_of_tomorrow_is_the_strict_one() -> None:
    assert orders_of("Someone", "Looser") == Orders(None, Guard.STRICT)
    for word in TrainerGuard:
        assert orders_of("", word).guard is not None


def test_base_weights_stay_out_also_without_an_operator() -> None:
    """By its last word, or by what is published; and its newest word counts."""
    said = Book(owner_uid="cr", epoch=3, driver="Trainer")
    published = Stable(BASELINE, "cr", trainer=True)
    assert trainer_drives(said, None, ABSENT, flag=False)
    assert trainer_drives(Book(), None, published, flag=False)
    assert not trainer_drives(Book(), None, ABSENT, flag=False)
    assert not trainer_drives(said, orders_of("Operator", ""), published, flag=False)


def test_pod_of_a_trainers_fleet_is_held_out_before_anybody_has_said_a_word() -> None:
    """By its own flag, which says nothing any more once an operator has said who drives."""
    assert trainer_drives(Book(), None, ABSENT, flag=True)
    assert trainer_drives(Book(), None, Stable(None), flag=True)
    assert trainer_drives(OWNED, orders_of("", ""), ABSENT, flag=True), (
        "an operator without drivers"
    )
    assert not trainer_drives(OWNED, orders_of("Operator", ""), ABSENT, flag=True)
    taken_back = Book(owner_uid="cr", epoch=3, driver="Operator")
    assert not trainer_drives(taken_back, None, ABSENT, flag=True), "also after a restart"


def test_nobody_is_kept_from_an_engine_before_an_operator_drives_it() -> None:
    assert not operator_drives(None)
    assert not operator_drives(orders_of("", ""))
    assert not operator_drives(orders_of(Driver.TRAINER, ""))
    assert operator_drives(orders_of(Driver.OPERATOR, ""))


def test_agent_alone_loads_the_durable_version_and_never_goes_to_base_weights() -> None:
    """Also where it served a version that only the trainer has."""
    told = Book(owner_uid="cr", epoch=9, told=from_trainer("7"))
    durable = Stable(DURABLE, "cr", 3, trainer=True)
    assert goal(told, durable, trainer_drives=True) == DURABLE
    assert goal(Book(), Stable(BASELINE, "cr", trainer=True), trainer_drives=True) is None
    assert goal(told, ABSENT, trainer_drives=True) is None


def test_what_is_published_for_a_trainer_is_read_as_it_was_written(tmp_path: Path) -> None:
    nothing = Published("cr", 3, "", "", "", "", driver="Trainer")
    (tmp_path / "stable.json").write_text(stable_text(nothing))
    assert stable.read(tmp_path) == Stable(BASELINE, "cr", trainer=True)
    version = Published("cr", 3, "rev-2", "v2", "file:///v2", DURABLE.digest, driver="Trainer")
    (tmp_path / "stable.json").write_text(stable_text(version))
    assert stable.read(tmp_path) == Stable(DURABLE, "cr", 3, trainer=True)


def test_operator_and_agent_spell_a_trainers_hold_alike() -> None:
    assert str(NotReadyReason.HELD_BY_TRAINER) == str(HoldReason.HELD_BY_TRAINER)
