"""The engine under test. `engine` is shared and handed back settled; `own_engine` may be broken."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

import checkpoints
from contract.under_test import EngineUnderTest, simulated

StartEngine = Callable[..., AbstractAsyncContextManager[EngineUnderTest]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two checkpoints of one architecture, and what tells them apart."""

    a: Path
    b: Path

    @property
    def fingerprints(self) -> dict[str, int]:
        return {"a": checkpoints.fingerprint(self.a), "b": checkpoints.fingerprint(self.b)}


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("checkpoints")
    return Pair(
        checkpoints.write_checkpoint(folder / "a", seed=1),
        checkpoints.write_checkpoint(folder / "b", seed=2),
    )


@pytest.fixture(scope="session")
async def shared_engine(
    tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    async with simulated(tmp_path_factory.mktemp("engine"), pair.a) as engine:
        yield engine


@pytest.fixture
async def engine(shared_engine: EngineUnderTest, pair: Pair) -> EngineUnderTest:
    """Resumed and serving checkpoint a. A test may leave it paused or with b, but alive."""
    await shared_engine.settle(pair.a)
    return shared_engine


@pytest.fixture
async def own_engine(tmp_path: Path, pair: Pair) -> AsyncIterator[EngineUnderTest]:
    """A fresh engine for a test that breaks it."""
    async with simulated(tmp_path, pair.a) as engine:
        yield engine


@pytest.fixture
def start_engine(tmp_path: Path, pair: Pair) -> StartEngine:
    """`async with start_engine(backend="")`: a fresh engine started in another way."""
    return partial(simulated, tmp_path, checkpoint=pair.a)
