"""A replica of a dense model says how many there are, although vLLM told it that it is alone."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import SimpleNamespace

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
        assert self.data_parallel_size >= 1


replicas.note(Config)


@pytest.fixture(autouse=True)
def unnoted() -> Iterator[None]:
    """Each test is a process of its own, and leaves nothing in the environment."""
    os.environ.pop(replicas.NOTE, None)
    yield
    os.environ.pop(replicas.NOTE, None)


def independent(config: Config) -> Config:
    """What a replica's worker has, in a process that inherits the environment."""
    config.data_parallel_size = 1
    return config


def test_number_of_replicas_survives_their_independence() -> None:
    assert replicas.count(independent(Config(data_parallel_size=2))) == 2


def test_configuration_of_a_draft_does_not_wipe_the_number() -> None:
    there = independent(Config(data_parallel_size=2))
    Config(rank=there.rank)
    assert replicas.count(there) == 2


def test_engine_without_replicas_is_one() -> None:
    assert replicas.count(Config()) == 1


def test_replicas_that_know_of_each_other_are_counted_as_they_say() -> None:
    grown = Config(data_parallel_size=2)
    grown.data_parallel_size = 4
    assert replicas.count(grown) == 4


def test_configuration_holds_its_own_fields_alone() -> None:
    """vLLM copies it by what it holds, and fails for what it does not know."""
    config = Config(data_parallel_size=2)
    assert set(vars(config)) == {field.name for field in fields(config)}


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
