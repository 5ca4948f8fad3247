"""A version every two seconds: what counts as a lag, and that each property that does not hold is shown."""

from typing import Any

import pytest

from bench.training.looks import Looks
from bench.training.rendering import rendered, verdicts

Json = dict[str, Any]


def test_lag_is_that_of_the_oldest_pod_in_service() -> None:
    looks = Looks("run")
    looks.look(1.0, 12, 1, {"a": "run.12", "b": "run.10"})
    looks.look(2.0, 12, 1, {"a": "run.12"})  # b is away
    assert looks.told()["lags"] == {"0": 1, "2": 1}


def test_outage_lasts_until_the_next_leader_has_brought_all_pods_near() -> None:
    looks = Looks("run")
    looks.killed(10.0, epoch=1)
    looks.look(11.0, 12, 1, {"a": "run.12"})  # near still, and nobody leads
    looks.look(20.0, 17, 1, {"a": "run.12"})
    looks.look(25.0, 18, 2, {"a": "run.12"})
    looks.look(28.0, 18, 2, {"a": "run.17"})
    found = looks.told()
    assert found["recoveries_s"] == [18.0]
    assert (found["lags"], found["outage_lags"]) == ({"1": 1}, {"0": 1, "5": 1, "6": 1})


def test_pod_that_goes_back_and_one_with_its_first_weights_are_named() -> None:
    looks = Looks("run")
    looks.look(1.0, 5, 1, {"a": "run.5", "b": "default"})
    looks.look(2.0, 5, 1, {"a": "run.4", "b": "run.5"})
    found = looks.told()
    assert (found["went_back"], found["at_first_weights"]) == (["a"], ["b"])


SPOILT: list[Json] = [
    {"stable": "run.299"},
    {"at_the_end": ["run.299", "run.300"]},
    {"newest_everywhere_s": 16.0},
    {"lags": {"3": 1}},
    {"lags": {}},
    {"recoveries_s": [10.0]},
    {"recoveries_s": [10.0, 46.0]},
    {"unrecovered": True},
    {"writes": {"pods": 3001, "status": 0, "tokens": 0}},
    {"at_first_weights": ["a"]},
    {"went_back": ["a"]},
]


def test_what_holds_is_shown_as_reached_and_tokens_are_no_writes() -> None:
    assert all(each.reached for each in verdicts(figures()))
    assert "**no**" not in rendered(figures())


@pytest.mark.parametrize("spoilt", SPOILT, ids=str)
def test_each_property_that_does_not_hold_is_shown(spoilt: Json) -> None:
    wrong = figures() | spoilt
    assert [each.reached for each in verdicts(wrong)].count(False) == 1
    assert "**no**" in rendered(wrong)


def test_looks_at_too_great_a_lag_are_counted() -> None:
    """One look and half of them are not the same news."""
    told = rendered(figures() | {"lags": {"0": 10, "3": 20, "10": 5}})
    assert "10 (25 of 35 looks above 2)" in told


def figures() -> Json:
    writes = {"pods": 1000, "status": 1000, "tokens": 9000}
    return {
        "date": "2026-11-30",
        "load": 0.1,
        "machine": {
            **{"cores": 2, "cpu": "a CPU", "memory_gib": 8.0},
            **{"python": "3.11", "libc": "glibc 2.36"},
        },
        "settings": {
            **{"pods": 50, "seconds": 600.0, "every_s": 2.0, "staging_s": 0.2, "swap_s": 0.2},
            **{"engine_away_s": 5.0, "engine_restarts": 10, "kills": 2, "lease": []},
        },
        "run": "run",
        "seconds": 600.0,
        "published": 300,
        "newest_everywhere_s": 2.0,
        "stable": "run.300",
        "at_the_end": ["run.300"],
        "publish_late_s": 0.1,
        "writes": writes,
        "windows": [{"seconds": 10.0, **dict.fromkeys(writes, 10)}],
        "cpu_s": 100.0,
        "lags": {"0": 10, "1": 20, "2": 5},
        "outage_lags": {"9": 3},
        "recoveries_s": [20.0, 21.0],
        "unrecovered": False,
        "went_back": [],
        "at_first_weights": [],
        "served": 250,
    }
