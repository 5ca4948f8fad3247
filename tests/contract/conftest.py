"""The engine under test. `engine` is shared and handed back settled; `own_engine` may be broken."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import checkpoints
from contract.oracle import ComputedOracle
from contract.subjects import (
    DYNAMO,
    FRONTEND,
    Pair,
    RealStarts,
    StartEngine,
    Subject,
    Unavailable,
    params,
    real,
    real_launch,
    real_pair,
    record,
)
from contract.under_test import TOKEN_S, EngineUnderTest
from dynamos.sidecar import sidecar
from frontend.process import FrontendProcess, frontend_process
from realvllm import tier
from tiers import unavailable

StartSidecar = Callable[..., AbstractAsyncContextManager[Path]]
StartFrontend = Callable[..., AbstractAsyncContextManager[FrontendProcess]]

SLOW_S: Final = 1.0
_unavailable = pytest.StashKey[dict[str, str]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Obtain the subjects here, where no test's time limit counts what takes minutes once."""
    missing = session.config.stash.setdefault(_unavailable, {})
    if session.config.option.collectonly:
        return
    for subject in {_subject_of(item) for item in session.items} - {None}:
        try:
            subject.obtain()
        except Unavailable as why:
            missing[subject.name] = str(why)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this subject can't show before anything is started for it."""
    subject: Subject | None = _subject_of(item)
    if subject is None:
        return
    for mark in item.iter_markers("needs"):
        if why := subject.cannot(frozenset(mark.args)):
            pytest.skip(why)
    for mark in item.iter_markers("seen"):
        if subject.versions.isdisjoint(mark.args):
            pytest.skip(f"seen in vLLM {', '.join(mark.args)}; this is {max(subject.versions)}")


def _subject_of(item: pytest.Item) -> Any:
    fixtures = getattr(item, "fixturenames", ())
    if "frontend" in fixtures:
        return FRONTEND
    if "dynamo" in fixtures:
        return DYNAMO
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get("subject")


@pytest.fixture(scope="session", params=params(), ids=lambda subject: subject.name)
def subject(request: pytest.FixtureRequest) -> Subject:
    """Each test runs once for each: `make test-contract`, and `make test-vllm` for real engines."""
    chosen: Subject = request.param
    if chosen.is_real:
        tier.require()
    return _had(request, chosen)


@pytest.fixture(scope="session")
def frontend(request: pytest.FixtureRequest) -> StartFrontend:
    """For what only the real frontend over several or scripted cores shows."""
    _had(request, FRONTEND)
    return partial(frontend_process, token_seconds=TOKEN_S)


@pytest.fixture(scope="session")
def dynamo(request: pytest.FixtureRequest) -> StartSidecar:
    """Dynamo's own sidecar in front of a simulated engine, beside the double of it."""
    _had(request, DYNAMO)
    return sidecar


def _had(request: pytest.FixtureRequest, chosen: Subject) -> Subject:
    why = request.config.stash[_unavailable].get(chosen.name)
    if why is not None:
        unavailable(f"{chosen.name} can't be had: {why}")
    return chosen


@pytest.fixture(scope="session")
def simulated_pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Checkpoints that the simulator's core serves."""
    folder = tmp_path_factory.mktemp("checkpoints")
    a = checkpoints.write_checkpoint(folder / "a", seed=1)
    b = checkpoints.write_checkpoint(folder / "b", seed=2)
    return Pair(a, b, ComputedOracle({"a": a, "b": b}))


@pytest.fixture(scope="session")
def pair(subject: Subject, simulated_pair: Pair) -> Pair:
    return real_pair() if subject.is_real else simulated_pair


@pytest.fixture(scope="session")
async def shared_engine(
    subject: Subject, tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    folder = tmp_path_factory.mktemp("engine")
    if subject.start is not None:
        async with subject.start(folder, pair.a) as engine:
            yield engine
        return
    launch = real_launch(pair.a, subject)
    async with real(folder / "b", replace(launch, model=pair.b, backend="")) as fresh:
        await record(pair, "b", fresh)
    async with real(folder / "a", launch) as engine:
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
    if subject.start is None:
        await shared_engine.settle(pair.a)
        yield shared_engine
        return
    async with subject.start(tmp_path, pair.a) as engine:
        yield engine


@pytest.fixture
def start_engine(
    subject: Subject, shared_engine: EngineUnderTest, tmp_path: Path, pair: Pair
) -> StartEngine:
    """`async with start_engine(backend="")`: an engine started in another way."""
    if subject.start is None:
        return RealStarts(shared_engine, tmp_path, pair, subject)
    return partial(subject.start, tmp_path, checkpoint=pair.a)


@pytest.fixture(scope="session")
async def shared_sleeper(
    subject: Subject, tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    assert subject.start is not None, "only subjects that are cheap to start can sleep"
    folder = tmp_path_factory.mktemp("sleeper")
    async with subject.start(folder, pair.a, enable_sleep_mode=True) as engine:
        yield engine


@pytest.fixture
async def sleeper(shared_sleeper: EngineUnderTest) -> EngineUnderTest:
    """Started with sleep mode; awake and resumed. Its weights may be gone: ask it for no words."""
    await shared_sleeper.wake_up()
    return shared_sleeper


@pytest.fixture(scope="session")
async def shared_slow_engine(
    subject: Subject,
    tmp_path_factory: pytest.TempPathFactory,
    shared_engine: EngineUnderTest,
    pair: Pair,
) -> AsyncIterator[EngineUnderTest]:
    if subject.start is None:
        yield shared_engine
        return
    folder = tmp_path_factory.mktemp("slow")
    async with subject.start(folder, pair.a, update_seconds=SLOW_S) as engine:
        yield engine


@pytest.fixture
async def slow_engine(
    shared_slow_engine: EngineUnderTest, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    """Every update takes a second; without an open one, and resumed."""
    await shared_slow_engine.close_session()
    await shared_slow_engine.resume()
    shared_slow_engine.weights.update_seconds = SLOW_S
    yield shared_slow_engine
    shared_slow_engine.weights.update_seconds = 0.0
