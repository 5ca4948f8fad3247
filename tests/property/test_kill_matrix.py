"""Kill anything at any boundary, lose any call: the pod ends in the right weights, proven.

Invariants 2 to 6 and 12, with the fleet's 1 and 11, on a model world around the real swap, book, fence,
readiness rules and planner (`tests/modelled`). Over 10,000 stories; each one is a list of strikes, so a
failure is shrunk to the fewest that break it and printed as a log.
"""

from collections.abc import Iterable, Iterator
from random import Random

import pytest

from modelled.fleet_story import FleetSetting, FleetStory, play_fleet, shrunk_fleet
from modelled.story import Played, Setting, Story, pairs, play, shrunk, singles
from modelled.strikes import PROCESSES, Strike, Victim
from weightrollout.api.spec import TakeOut

#: A busy machine may take minutes for what needs seconds.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

IN_SERVICE = Setting(take_out=TakeOut.NONE, quick_agent=True)
SETTINGS = {
    "endpoint": Setting(),
    "in service": IN_SERVICE,
    "first version": Setting(from_baseline=True),
    "first version in service": Setting(take_out=TakeOut.NONE, from_baseline=True),
    "wrong weights": Setting(bad=True, quick_agent=True),
    "wrong first version": Setting(bad=True, from_baseline=True),
    "with a draft": Setting(drafts=True),
    "wrong weights with a draft": Setting(bad=True, drafts=True, quick_agent=True),
}
RANDOM_STORIES = 1500
FLEETS = 100


def all_well(stories: Iterable[Played]) -> int:
    count = 0
    for played in stories:
        count += 1
        if played.wrong:
            pytest.fail(shrunk(played).told(), pytrace=False)
    return count


@pytest.mark.parametrize("name", SETTINGS)
def test_invariant_6_one_kill_or_lost_call_at_any_boundary_ends_in_the_right_weights(
    name: str,
) -> None:
    assert all_well(singles(SETTINGS[name], list(Victim))) > 250


def test_invariant_6_operator_then_agent_killed_anywhere_ends_in_the_right_weights() -> None:
    assert all_well(pairs(Setting(), Victim.OPERATOR, Victim.AGENT)) > 1500


def test_invariant_6_agent_then_engine_killed_anywhere_ends_in_the_right_weights() -> None:
    assert all_well(pairs(Setting(), Victim.AGENT, Victim.ENGINE)) > 1500


def test_invariant_6_agent_and_engine_killed_anywhere_in_service_end_in_the_right_weights() -> None:
    assert all_well(pairs(IN_SERVICE, Victim.AGENT, Victim.ENGINE, every=8)) > 300
    assert all_well(pairs(IN_SERVICE, Victim.ENGINE, Victim.AGENT, every=12)) > 150


def test_invariant_4_lost_call_and_a_killed_agent_end_in_whole_weights_or_out() -> None:
    assert all_well(pairs(Setting(), Victim.WIRE, Victim.AGENT, every=8)) > 250
    assert all_well(pairs(SETTINGS["wrong weights"], Victim.AGENT, Victim.WIRE, every=32)) > 200


@pytest.mark.parametrize("take_out", list(TakeOut))
def test_invariant_12_operator_that_never_comes_back_takes_no_serving_pod_out(
    take_out: TakeOut,
) -> None:
    alone = Setting(take_out=take_out, silent=True)
    assert all_well(singles(alone, [Victim.OPERATOR])) > 60
    assert all_well(pairs(alone, Victim.OPERATOR, Victim.AGENT, every=8)) > 100


def test_invariants_2_to_6_hold_in_any_sequence_of_kills_losses_and_lies() -> None:
    assert all_well(map(play, random_stories(RANDOM_STORIES))) == RANDOM_STORIES


def random_stories(count: int) -> Iterator[Story]:
    for seed in range(count):
        dice = Random(seed)
        setting = Setting(
            take_out=dice.choice(list(TakeOut)),
            from_baseline=dice.random() < 0.3,
            bad=dice.random() < 0.3,
            quick_agent=dice.random() < 0.5,
            drafts=seed % 3 == 0,
        )
        yield Story(setting, strikes(dice, dice.randrange(2, 6), 110, list(Victim)))


def strikes(dice: Random, count: int, before: int, who: list[Victim]) -> tuple[Strike, ...]:
    return tuple(sorted(Strike(dice.randrange(1, before), dice.choice(who)) for _ in range(count)))


@pytest.mark.parametrize("take_out", TakeOut)
def test_invariant_1_one_kill_of_an_agent_at_any_boundary_takes_no_second_pod_out(
    take_out: TakeOut,
) -> None:
    """Nothing but the budget holds the second pod back here."""
    setting = FleetSetting(take_out=take_out, prove_first=False)
    crossed = play_fleet(FleetStory(setting)).crossed
    assert crossed > 100
    for at in range(1, crossed + 1):
        played = play_fleet(FleetStory(setting, (Strike(at, Victim.AGENT),)))
        if played.wrong:
            pytest.fail(played.told(), pytrace=False)


def test_invariants_1_to_6_and_11_hold_in_fleets_whose_processes_are_killed() -> None:
    for seed in range(FLEETS):
        dice = Random(seed)
        size = dice.choice([1, 2, 3])
        setting = FleetSetting(
            pods=size, take_out=dice.choice(list(TakeOut)), bad=dice.random() < 0.3
        )
        who = [*sorted(PROCESSES), Victim.WIRE]
        story = FleetStory(setting, strikes(dice, dice.randrange(5), 70 * size, who))
        played = play_fleet(story)
        if played.wrong:
            pytest.fail(shrunk_fleet(played).told(), pytrace=False)


def test_same_strikes_are_the_same_story() -> None:
    story = next(random_stories(1))
    assert play(story).told() == play(story).told()


def test_agent_then_engine_killed_around_the_drafts_session_end_in_the_right_weights() -> None:
    assert all_well(pairs(Setting(drafts=True), Victim.AGENT, Victim.WIRE, every=8)) > 250


def test_every_boundary_of_a_drafts_session_is_in_the_matrix() -> None:
    told = play(Story(Setting(drafts=True))).told()
    for call in ("StartDraft", "Update of the draft", "Finish"):
        assert f"{call} on its way" in told
    for step in ("DraftStart", "DraftUpdate", "DraftFinish"):
        assert f"has journaled {step} (Target)" in told
    without = play(Story(Setting())).told()
    assert "raft" not in without.replace("drafts=False", ""), "an engine without one is not asked"


def test_every_boundary_of_a_good_swap_is_in_the_matrix() -> None:
    """What is not a boundary is never killed at: a new call or journal write must show up here."""
    told = play(Story(Setting())).told()
    for call in ("Init", "Pause", "Start", "Update", "Finish", "Resume", "IsPaused", "Prompt"):
        assert f"{call} on its way" in told
        assert f"{call} executed, not yet answered" in told
    for step in ("Pause", "Start", "Update", "Finish", "Resume"):
        assert f"about to journal {step} (Target)" in told
        assert f"has journaled {step} (Target)" in told
    for call in ("Hello", "Stage", "Reserve", "Swap"):
        assert f"operator's {call} on its way" in told
        assert f"operator's {call} executed, not yet answered" in told
