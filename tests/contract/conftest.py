"""The engine under test. `engine` is shared and handed back settled; `own_engine` may be broken."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

import checkpoints
from contract.oracle import ComputedOracle
from contract.subjects import (
    Pair,
    RealStarts,
    StartEngine,
    Subject,
    params,
    real,
    real_launch,
    real_pair,
    record,
)
from contract.under_test import EngineUnderTest, simulated
from realvllm import tier


@pytest.fixture(scope="session", params=params(), ids=str)
def subject(request: pytest.FixtureRequest) -> Subject:
    """`make test-contract` runs the simulator, `make test-vllm` the others."""
    chosen: Subject = request.param
    if chosen.is_real:
        tier.require()
    return chosen


@pytest.fixture(scope="session")
def pair(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    if subject.is_real:
        return real_pair()
    folder = tmp_path_factory.mktemp("checkpoints")
    a = checkpoints.write_checkpoint(folder / "a", seed=1)
    b = checkpoints.write_checkpoint(folder / "b", seed=2)
    return Pair(a, b, ComputedOracle({"a": a, "b": b}))


@pytest.fixture(scope="session")
async def shared_engine(
    subject: Subject, tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    folder = tmp_path_factory.mktemp("engine")
    if not subject.is_real:
        async with simulated(folder, pair.a) as engine:
            yield engine
        return
    async with real(folder / "b", real_launch(pair.b, backend="")) as fresh:
        await record(pair, "b", fresh)
    async with real(folder / "a", real_launch(pair.a, subject.backend)) as engine:
        await record(pair, "a", engine)
        yield engine


@pytest.fixture
async def engine(shared_engine: EngineUnderTest, pair: Pair) -> EngineUnderTest:
    """Resumed and serving checkpoint a. A test may leave it paused or with b, but alive."""
    await shared_engine.settle(pair.a)
    return shared_engine


@pytest.fixture
async def own_engine(
    subject: Subject, shared_engine: EngineUnderTest, tmp_path: Path, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    """An engine for a test that breaks it. A real one is shared and started again, because a start takes half a minute."""
    if subject.is_real:
        await shared_engine.settle(pair.a)
        yield shared_engine
        return
    async with simulated(tmp_path, pair.a) as engine:
        yield engine


@pytest.fixture
def start_engine(
    subject: Subject, shared_engine: EngineUnderTest, tmp_path: Path, pair: Pair
) -> StartEngine:
    """`async with start_engine(backend="")`: an engine started in another way."""
    if subject.is_real:
        return RealStarts(shared_engine, tmp_path, pair, subject)
    return partial(simulated, tmp_path, checkpoint=pair.a)
