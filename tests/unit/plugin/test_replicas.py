"""A replica of a dense model says how many there are, although vLLM told it that it is alone."""

import copy
import pickle
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from weightrollout.plugin import replicas


@dataclass
class Config:
    """What the plugin reads of vLLM's."""

    data_parallel_size: int = 1
    data_parallel_index: int = 0
    world_size: int = 1
    rank: int = 0

    def __post_init__(self) -> None:
        self.checked = True


replicas.note(Config)


def independent(config: Config) -> Any:
    """As it arrives in a replica's worker: sent to another process, made independent, sent on."""
    there = pickle.loads(pickle.dumps(config))
    there.data_parallel_size = 1
    return pickle.loads(pickle.dumps(copy.deepcopy(there)))


def test_number_of_replicas_survives_their_independence() -> None:
    config = Config(data_parallel_size=2)
    assert config.checked
    assert replicas.count(independent(config)) == 2


def test_engine_without_replicas_is_one() -> None:
    assert replicas.count(independent(Config())) == 1


def test_replicas_that_know_of_each_other_are_counted_as_they_say() -> None:
    grown = Config(data_parallel_size=2)
    grown.data_parallel_size = 4
    assert replicas.count(grown) == 4


def test_configuration_that_was_made_before_the_plugin_came_is_counted_as_it_says() -> None:
    assert replicas.count(SimpleNamespace(data_parallel_size=3)) == 3


def test_noting_twice_is_noting_once() -> None:
    noted = Config.__post_init__
    replicas.note(Config)
    assert Config.__post_init__ is noted


@pytest.mark.parametrize("index", [0, 1])
def test_ranks_of_all_replicas_are_of_one_world(index: int) -> None:
    pytest.importorskip("torch", reason="only an engine's environment has torch")
    from weightrollout.plugin import report

    config = independent(Config(data_parallel_size=2, world_size=2, rank=1))
    config.data_parallel_index = index
    assert report.place(SimpleNamespace(parallel_config=config)) == (2 * index + 1, 4)
