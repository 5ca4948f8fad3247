"""The engine under test. `engine` is shared and handed back settled; `own_engine` may be broken."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import checkpoints
from contract.subjects import FRONTEND, SUBJECTS, Subject, Unavailable
from contract.under_test import TOKEN_S, EngineUnderTest, started
from frontend.process import FrontendProcess, frontend_process
from weightrollout.wire.vllm import control_pb2 as pb

StartEngine = Callable[..., AbstractAsyncContextManager[EngineUnderTest]]

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
    if "frontend" in getattr(item, "fixturenames", ()):
        return FRONTEND
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get("subject")


@pytest.fixture(scope="session", params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request: pytest.FixtureRequest) -> Subject:
    """Each test runs once for each of them."""
    return _had(request, request.param)


@pytest.fixture(scope="session")
def frontend(request: pytest.FixtureRequest) -> StartFrontend:
    """For what only the real frontend over several or scripted cores shows."""
    _had(request, FRONTEND)
    return partial(frontend_process, token_seconds=TOKEN_S)


def _had(request: pytest.FixtureRequest, chosen: Subject) -> Subject:
    why = request.config.stash[_unavailable].get(chosen.name)
    if why is None:
        return chosen
    if os.environ.get("WEIGHTROLLOUT_REQUIRE_ALL_TIERS") == "1":
        pytest.fail(f"WEIGHTROLLOUT_REQUIRE_ALL_TIERS=1, and {chosen.name} can't be had: {why}")
    pytest.skip(f"{chosen.name} can't be had: {why}")


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
    subject: Subject, tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    async with started(subject, tmp_path_factory.mktemp("engine"), pair.a) as engine:
        yield engine


@pytest.fixture
async def engine(shared_engine: EngineUnderTest, pair: Pair) -> EngineUnderTest:
    """Resumed and serving checkpoint a. A test may leave it paused or with b, but alive."""
    await shared_engine.settle(pair.a)
    return shared_engine


@pytest.fixture(scope="session")
async def shared_sleeper(
    subject: Subject, tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    folder = tmp_path_factory.mktemp("sleeper")
    async with started(subject, folder, pair.a, enable_sleep_mode=True) as engine:
        yield engine


@pytest.fixture
async def sleeper(shared_sleeper: EngineUnderTest) -> EngineUnderTest:
    """Started with sleep mode; awake and resumed. Its weights may be gone: ask it for no words."""
    await shared_sleeper.call("WakeUp", pb.WakeUpRequest(), pb.WakeUpResponse)
    return shared_sleeper


@pytest.fixture(scope="session")
async def shared_slow_engine(
    subject: Subject, tmp_path_factory: pytest.TempPathFactory, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    async with started(
        subject, tmp_path_factory.mktemp("slow"), pair.a, update_seconds=SLOW_S
    ) as engine:
        yield engine


@pytest.fixture
async def slow_engine(shared_slow_engine: EngineUnderTest) -> EngineUnderTest:
    """Every update takes a second; without an open one, and resumed."""
    await shared_slow_engine.close_session()
    await shared_slow_engine.resume()
    return shared_slow_engine


@pytest.fixture
async def own_engine(
    subject: Subject, tmp_path: Path, pair: Pair
) -> AsyncIterator[EngineUnderTest]:
    """A fresh engine for a test that breaks it."""
    async with started(subject, tmp_path, pair.a) as engine:
        yield engine


@pytest.fixture
def start_engine(subject: Subject, tmp_path: Path, pair: Pair) -> StartEngine:
    """`async with start_engine(backend="")`: a fresh engine started in another way."""
    return partial(started, subject, tmp_path, checkpoint=pair.a)
